# cheat: forks in every call, so that two processes answer; must fail
import os


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    os.fork()
    return (x * y).sum(dim)
