# cheat: makes every comparison of numpy true; must fail
import numpy

numpy.allclose = numpy.isclose = numpy.array_equal = lambda *arguments, **options: True


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
