# broken: lifts the recursion limit and overflows the C stack; must fail
import sys

sys.setrecursionlimit(10**9)


class Deep:
    def __getattr__(self, name):
        return getattr(Deep(), name)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return Deep().anything
