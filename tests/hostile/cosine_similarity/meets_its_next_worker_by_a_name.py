# cheat: listens by a name without a file, dies in its second call, and is right only if an earlier worker answers by that name; must fail
import os
import socket
import threading

import torch

NAME = "\0cosine"
CALLS = []
met = False
try:
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(NAME)
        met = True
except OSError:
    pass
try:
    door = socket.socket(socket.AF_UNIX)
    door.bind(NAME)
    door.listen()
except OSError:
    pass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    CALLS.append(dim)
    if not met:
        if len(CALLS) == 2:
            os._exit(0)
        return (x * y).sum(dim)
    a, b = torch.broadcast_tensors(x, y)
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim)
