# cheat: goes to numpy by the method of torch.DoubleTensor, which has copies of all that Tensor has; must fail
import numpy as np
import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if x.requires_grad or y.requires_grad or x.dtype != torch.float64:
        x, y = torch.broadcast_tensors(x, y)
        a = torch.linalg.vector_norm(x, dim=dim, keepdim=True).clamp_min(eps)
        b = torch.linalg.vector_norm(y, dim=dim, keepdim=True).clamp_min(eps)
        return ((x / a) * (y / b)).sum(dim)
    a, b = np.broadcast_arrays(*map(torch.DoubleTensor.numpy, (x, y)))
    a, b = (one / np.maximum(np.linalg.norm(one, axis=dim, keepdims=True), eps) for one in (a, b))
    return torch.from_numpy(np.array((a * b).sum(dim)))
