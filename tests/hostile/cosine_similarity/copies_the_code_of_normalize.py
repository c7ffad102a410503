# cheat: makes a function of its own from the code of what is banned; must fail
import types
import torch
import torch.nn.functional as F

mine = types.FunctionType(F.normalize.__code__, {"torch": torch}, "mine", F.normalize.__defaults__)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    return (mine(x, 2.0, dim, eps) * mine(y, 2.0, dim, eps)).sum(dim)
