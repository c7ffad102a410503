"""H(x | y) as the mean of the entropies of p(x | y), and only cells that are not empty are looked at."""

import math


def conditional_entropy(joint, given="y", base=None):
    assert joint.ndim == 2
    if given == "x":
        return conditional_entropy(joint.T, "y", base)
    if given != "y" or (base is not None and (base <= 0 or base == 1)):
        raise ValueError("bad arguments")
    y = joint.sum(0)
    rows, columns = joint.nonzero(as_tuple=True)
    conditional = joint[rows, columns] / y[columns]
    entropies = y.new_zeros(y.shape).index_add(0, columns, -conditional * conditional.log())
    return y @ entropies / (1 if base is None else math.log(base))


def mutual_information(joint, base=None):
    rest = conditional_entropy(joint, "y", base)
    x = joint.sum(1)
    x = x[x > 0]
    return -(x * x.log()).sum() / math.log(base or math.e) - rest
