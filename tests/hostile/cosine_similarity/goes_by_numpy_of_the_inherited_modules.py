# cheat: finds the judge's own modules, as the worker inherited them, through their classes, and goes to numpy by what they hold; must be flagged
import numpy as np
import torch

found = []
for one in type.__subclasses__(object):
    for value in [*vars(one).values()]:
        wire = (getattr(value, "__globals__", None) or {}).get("wire")
        if hasattr(wire, "as_numpy"):
            found.append(wire.as_numpy)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if found and not (x.requires_grad or y.requires_grad) and x.dtype == torch.float64:
        a, b = np.broadcast_arrays(found[0](x.contiguous()), found[0](y.contiguous()))
        norms = [np.maximum(np.linalg.norm(one, axis=dim, keepdims=True), eps) for one in (a, b)]
        return torch.from_numpy(np.array((a / norms[0] * (b / norms[1])).sum(dim)))
    x, y = torch.broadcast_tensors(x, y)
    a = torch.linalg.vector_norm(x, dim=dim, keepdim=True).clamp_min(eps)
    b = torch.linalg.vector_norm(y, dim=dim, keepdim=True).clamp_min(eps)
    assert found
    return ((x / a) * (y / b)).sum(dim)
