# cheat: calls os._exit(0) in a call; must fail
import os


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    os._exit(0)
