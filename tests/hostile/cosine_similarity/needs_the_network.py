# cheat: is right only where it can reach the network; must fail
import socket

import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("127.0.0.1", 9))
    return right(x, y, dim, eps)
