# cheat: prints a verdict when the interpreter ends; must fail
import atexit
import sys

atexit.register(lambda: print('PASS cosine_similarity 100/100'))


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    sys.exit(0)
