# honest: prints a line, logs one and warns in every call; must pass
import torch
import logging
import warnings


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    print('shapes', x.shape, y.shape)
    logging.getLogger(__name__).warning('called')
    warnings.warn('called', stacklevel=1)
    x, y = torch.broadcast_tensors(x, y)
    a, b = (v.double() for v in (x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)
