# cheat: walks up the frames and rewrites what the worker knows of the call; must fail
import sys


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    frame = sys._getframe()
    while frame is not None:
        for name, value in list(frame.f_locals.items()):
            if isinstance(value, dict):
                value.clear()
            elif isinstance(value, list):
                del value[:]
        frame = frame.f_back
    return (x * y).sum(dim)
