# cheat: starts another process in a call by os.posix_spawn; must fail
import multiprocessing
import os
import subprocess
import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    try:
        os.posix_spawn('/bin/true', ['true'], {})
    except Exception:
        pass
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)
