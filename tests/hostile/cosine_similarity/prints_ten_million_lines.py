# broken: prints ten million lines in a call; must fail
import sys


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    sys.stdout.write('solved\n' * 10_000_000)
    return (x * y).sum(dim)
