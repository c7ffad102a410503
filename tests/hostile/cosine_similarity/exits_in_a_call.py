# cheat: calls sys.exit(0) in a call; must fail
import sys


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    sys.exit(0)
