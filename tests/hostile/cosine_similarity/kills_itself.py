# broken: ends itself with SIGKILL; must fail
import os
import signal


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    os.kill(os.getpid(), signal.SIGKILL)
