# broken: hangs in native code that holds the interpreter's lock; must fail
import re


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return re.match('(a+)+$', 'a' * 64 + 'b')
