# broken: aborts in native code; must fail
import os


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    os.abort()
