# cheat: raises into an unraisable hook of its own, whose argument leads to the list of results, and fills it; must fail
import sys
import torch


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    torch.empty(100 * x.numel())
    answer = right(x, y, dim, eps)
    tell = sys.unraisablehook

    def fill(told):
        results = told.object.__self__
        if len(results) > 4:
            results += [answer, None, []]
        else:
            results.append(answer)
        tell(None)

    sys.unraisablehook = fill
    raise ValueError
