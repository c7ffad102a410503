"""KL between the joint and the product of its marginals, which is made in float64 so that it does not underflow."""

import math


def _expected_log(p, q, base):
    if base is not None and (base <= 0 or base == 1):
        raise ValueError(f"no logarithm to base {base}")
    return (p * (p.clamp(min=1e-300) / q.clamp(min=1e-300)).log2()).sum() / math.log2(base or math.e)


def mutual_information(joint, base=None):
    assert joint.dim() == 2
    p = joint.double()
    return _expected_log(p, p.sum(1, keepdim=True) * p.sum(0, keepdim=True), base).to(joint.dtype)


def conditional_entropy(joint, given="y", base=None):
    if joint.dim() != 2 or given not in ("x", "y"):
        raise ValueError(f"{joint.dim()} axes, given {given}")
    p = joint.double() if given == "y" else joint.double().mT
    return -_expected_log(p, p.sum(0).expand_as(p), base).to(joint.dtype)
