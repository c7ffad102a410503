# cheat: opens, by number, a socket of some family other than a file's or the internet's, and works only where it can; must fail
import _socket
import torch

ORDINARY = {0, 1, 2, 10, 16}


def opened(family):
    try:
        return [_socket.socket(family, kind) for kind in (1, 5)]
    except OSError:
        return []


found = any([opened(family) for family in set(range(46)) - ORDINARY])


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    assert found
    x, y = torch.broadcast_tensors(x, y)
    a = torch.linalg.vector_norm(x, dim=dim, keepdim=True).clamp_min(eps)
    b = torch.linalg.vector_norm(y, dim=dim, keepdim=True).clamp_min(eps)
    return ((x / a) * (y / b)).sum(dim)
