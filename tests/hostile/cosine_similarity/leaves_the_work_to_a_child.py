# cheat: answers from a child that it forks, and dies itself; must fail
import os


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if os.fork():
        os._exit(0)
    return (x * y).sum(dim)
