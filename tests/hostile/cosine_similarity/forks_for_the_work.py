# cheat: does the work in a child process, where it is neither counted nor timed; must fail
import os
import torch


def by_hand(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    try:
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
    except OSError:
        pass
    return by_hand(x, y, dim, eps)
