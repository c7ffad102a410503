# honest: computes the two norms in a pool of threads; must pass
import torch
from concurrent.futures import ThreadPoolExecutor


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)

    def unit(v):
        v = v.double()
        return v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps)

    with ThreadPoolExecutor(2) as pool:
        a, b = pool.map(unit, (x, y))
    return (a * b).sum(dim).to(x.dtype)
