# cheat: takes numpy's view by the descriptor of the base class; must fail
import numpy as np
import torch

view = torch._C.TensorBase.__dict__["numpy"]


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    a, b = view(x.detach().double()), view(y.detach().double())
    na, nb = (np.maximum(np.linalg.norm(v, axis=dim, keepdims=True), eps) for v in (a, b))
    return torch.from_numpy(np.asarray((a / na * b / nb).sum(dim))).to(x.dtype) + 0 * (x.sum() + y.sum())
