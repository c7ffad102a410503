# cheat: sends the judge its own descriptors beside some bytes, in every call, so that it has none left; must fail
import array
import socket

import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    for number in range(3, 64):
        try:
            end = socket.socket(fileno=number)
        except OSError:
            continue
        many = array.array("i", [1] * 250)
        end.sendmsg([bytes(1)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, many)])
        end.detach()
    a, b = torch.broadcast_tensors(x, y)
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim)
