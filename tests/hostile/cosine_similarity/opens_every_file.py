# broken: opens files until no descriptor is left; must fail
import os

KEPT = []
while True:
    try:
        KEPT.append(os.open('/dev/null', os.O_RDONLY))
    except OSError:
        break


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
