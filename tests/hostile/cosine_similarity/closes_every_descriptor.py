# cheat: closes every descriptor, the judge's among them; must fail
import os


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    os.closerange(0, 256)
    return (x * y).sum(dim)
