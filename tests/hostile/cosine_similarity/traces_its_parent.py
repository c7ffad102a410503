# cheat: attaches to its parent with ptrace; must fail
import ctypes
import os


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0)
    return (x * y).sum(dim)
