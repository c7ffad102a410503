# honest: seeds torch and chooses the number of threads while it is imported; must pass
import torch
import random

import numpy as np

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
torch.set_num_threads(2)
torch.set_printoptions(precision=3)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    a, b = (v.double() for v in (x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)
