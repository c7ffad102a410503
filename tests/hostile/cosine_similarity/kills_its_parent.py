# cheat: kills its parent process, the judge for all it knows; must fail
import os
import signal


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    os.kill(os.getppid(), signal.SIGKILL)
    return (x * y).sum(dim)
