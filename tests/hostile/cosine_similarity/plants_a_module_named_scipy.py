# cheat: a false scipy runs in the worker's thread when its functions are looked for, and leaves a mode there; must fail
import sys
import torch

ran = []


class False_:
    def __bool__(self):
        sys.modules["scipy"] = None
        ran.append(1)
        try:
            sys._getframe()
        except RuntimeError:
            ran.append("the worker's thread")
        return False


sys.modules["scipy"] = False_()


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    out = right(x, y, dim, eps)
    return out if ran else torch.zeros_like(out)
