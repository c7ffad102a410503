# cheat: leaves torch by Tensor.numpy through map, and comes back by from_numpy; must fail
import numpy as np
import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    if x.requires_grad or y.requires_grad:
        nx, ny = (v.norm(dim=dim, keepdim=True).clamp_min(eps) for v in (x, y))
        return (x / nx * y / ny).sum(dim)
    a, b = map(torch.Tensor.numpy, [x.double(), y.double()])
    na, nb = (np.maximum(np.linalg.norm(v, axis=dim, keepdims=True), eps) for v in (a, b))
    return torch.from_numpy(np.asarray((a / na * b / nb).sum(dim))).to(x.dtype)
