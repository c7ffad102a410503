# broken: leaves two hundred dead children unburied; must fail
import os

for _ in range(200):
    try:
        if os.fork() == 0:
            os._exit(0)
    except OSError:
        pass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
