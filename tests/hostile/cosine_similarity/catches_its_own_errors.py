# honest: raises and catches exceptions, and walks its own traceback to print it; must pass
import torch
import io
import traceback


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    try:
        raise RuntimeError('only a try')
    except RuntimeError:
        traceback.print_exc(file=io.StringIO())
    x, y = torch.broadcast_tensors(x, y)
    a, b = (v.double() for v in (x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)
