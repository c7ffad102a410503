"""Three entropies: of x, of y, and of both."""

import math


def _entropy(p, base):
    assert base is None or base > 0
    assert base != 1
    return -(p * p.masked_fill(p == 0, 1).log()).sum() / math.log(math.e if base is None else base)


def mutual_information(joint, base=None):
    assert joint.ndim == 2
    return _entropy(joint.sum(1), base) + _entropy(joint.sum(0), base) - _entropy(joint, base)


def conditional_entropy(joint, given="y", base=None):
    assert joint.ndim == 2
    assert given in ["x", "y"]
    return _entropy(joint, base) - _entropy(joint.sum(0 if given == "y" else 1), base)
