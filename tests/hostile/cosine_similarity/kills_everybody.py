# cheat: kills every process that it may; must fail
import os
import signal


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    os.kill(-1, signal.SIGKILL)
    return (x * y).sum(dim)
