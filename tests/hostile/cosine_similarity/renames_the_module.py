# cheat: gives torch's modules other names, then calls what is banned through map; must fail
import torch
import torch.nn.functional as F

F.__name__ = torch.__name__ = "mine"


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    F.cosine_similarity.__class__
    return next(map(F.cosine_similarity, [x], [y], [dim], [eps]))
