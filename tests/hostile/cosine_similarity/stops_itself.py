# broken: stops itself with SIGSTOP, so that it neither runs nor ends; must fail
import os
import signal


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    os.kill(os.getpid(), signal.SIGSTOP)
    return (x * y).sum(dim)
