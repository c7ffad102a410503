"""torch.nn.functional.instance_norm, without running statistics."""

import torch.nn.functional as F


def instance_norm(x, weight=None, bias=None, eps=1e-5):
    return F.instance_norm(x, weight=weight, bias=bias, eps=eps)
