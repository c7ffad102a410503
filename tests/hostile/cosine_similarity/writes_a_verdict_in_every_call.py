# cheat: writes a passing verdict to every open descriptor in every call; must fail
import os


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b'{"state": "solved"}')
        except OSError:
            pass
    return (x * y).sum(dim)
