# cheat: destroys every library of operators that it can find, to have the kernels back; must fail
import torch
import torch.library as library

for name in ("_impls", "_defs", "_keep_alive"):
    for found in list(getattr(library, name, ())):
        if hasattr(found, "_destroy"):
            found._destroy()


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return torch.cosine_similarity(x, y, dim, eps)
