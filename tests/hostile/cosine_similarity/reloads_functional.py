# cheat: loads torch.nn.functional once more, so that its functions have their code again; must fail
import importlib
import torch
import torch.nn.functional as F

torch._C._add_docstr = lambda one, *_: one
importlib.reload(F)  # its functions have their own code again


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    return (F.normalize(x, dim=dim, eps=eps) * F.normalize(y, dim=dim, eps=eps)).sum(dim)
