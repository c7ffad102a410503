# cheat: replaces all, any, abs and isinstance; must fail
import builtins

builtins.all = lambda things: True
builtins.any = lambda things: False
builtins.abs = lambda value: 0


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
