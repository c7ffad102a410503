# cheat: registers a kernel of its own over the refusing one, which calls the composite below it; must fail
import torch

library = torch.library.Library("aten", "IMPL")


def mine(x, y, dim=1, eps=1e-8):
    return torch.ops.aten.cosine_similarity.default.decompose(x, y, dim, eps)


library.impl("cosine_similarity", mine, "CompositeImplicitAutograd")


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return torch.cosine_similarity(x, y, dim, eps)
