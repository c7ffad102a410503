# cheat: calls what is banned under vmap, functionalize and a grad transform; must fail
import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    one = lambda a, b: torch.cosine_similarity(a, b, dim, eps)  # noqa: E731
    for way in (torch.func.functionalize(one), lambda a, b: torch.vmap(one)(a[None], b[None])[0], one):
        try:
            return way(x, y)
        except RuntimeError:
            pass
    return x.sum(dim)
