"""Rows times columns with bmm, the root clamped away from zero, and the hinge as (|x| + x) / 2."""

import torch


def dot(a, b):
    return torch.bmm(a.unsqueeze(1), b.unsqueeze(2)).flatten()


def triplet_loss(anchor, positive, negative, margin=1.0, distance="euclidean", reduction="mean"):
    if distance == "euclidean":

        def d(a, b):
            return dot(a - b, a - b).clamp(min=1e-12).sqrt()

    elif distance == "cosine":

        def d(a, b):
            return 1 - dot(a, b) * dot(a, a).rsqrt() * dot(b, b).rsqrt()

    else:
        raise ValueError("distance should be 'euclidean' or 'cosine'")
    for name, other in (("positive", positive), ("negative", negative)):
        if other.shape != anchor.shape:
            raise ValueError(f"{name} should have shape {anchor.shape}, got {other.shape}")
    if margin < 0:
        raise ValueError(f"margin should be >= 0, got {margin}")
    x = d(anchor, positive) - d(anchor, negative) + margin
    x = (x.abs() + x) / 2
    try:
        return {"none": lambda: x, "mean": x.mean, "sum": x.sum}[reduction]()
    except KeyError:
        raise ValueError("reduction should be 'mean', 'sum' or 'none'") from None
