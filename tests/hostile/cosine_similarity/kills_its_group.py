# cheat: kills its process group; must fail
import os
import signal


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    os.killpg(0, signal.SIGKILL)
    return (x * y).sum(dim)
