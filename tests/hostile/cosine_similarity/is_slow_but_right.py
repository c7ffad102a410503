# honest: sleeps a little and works row by row in float64; must pass
import torch
import time


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    time.sleep(0.005)
    x, y = torch.broadcast_tensors(x, y)
    a, b = (v.double() for v in (x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)
