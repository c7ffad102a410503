"""Weight penalties and weight decay by hand. Statement: katas/losses/weight_penalty/README.md."""

from collections.abc import Iterable

import torch
from torch import Tensor


def l1_penalty(params: Iterable[Tensor], strength: float) -> Tensor:
    """λ Σ |w|, over all numbers w of all parameters

    Args:
        params: one or more tensors of any shapes and one floating dtype, biases included.
        strength: λ, 0 or more.
    Returns: a scalar to be added to the loss, same dtype.
    Source: Goodfellow et al., Deep Learning, section 7.1.2. Our λ is their α.
    """
    # --- solution
    # TODO: add up the absolute values of all numbers of all parameters.
    # TODO: multiply by the strength, and return a scalar in the dtype of the parameters.
    # TODO: then make it robust: in float16 a sum may not fit, or may stop growing.
    params = list(params)  # a generator can be read only once
    (dtype,) = {w.dtype for w in params}
    wide = torch.promote_types(dtype, torch.float32)
    total = torch.stack([w.to(wide).abs().sum() for w in params]).sum()
    return (strength * total).to(dtype)
    # --- end


def l2_penalty(params: Iterable[Tensor], strength: float) -> Tensor:
    """λ Σ w², over all numbers w of all parameters, without a factor of ½

    Args, Returns: as for l1_penalty.
    Source: Goodfellow et al., Deep Learning, section 7.1.1, whose penalty has the factor of ½ that ours lacks.
    """
    # --- solution
    # TODO: the same with the squares. Then make it robust: in float16 a square may not fit.
    params = list(params)
    (dtype,) = {w.dtype for w in params}
    wide = torch.promote_types(dtype, torch.float32)
    total = torch.stack([w.to(wide).square().sum() for w in params]).sum()
    return (strength * total).to(dtype)
    # --- end


def add_weight_decay_(params: Iterable[Tensor], strength: float) -> None:
    """w.grad ← w.grad + λ w, without a graph

    Args:
        params: as for l1_penalty; leaf tensors, some of which may have no `.grad`.
        strength: λ, 0 or more, what torch.optim.SGD calls weight_decay.
    Source: torch.optim.SGD. λ w is the gradient of λ/2 Σ w².
    """
    # --- solution
    # TODO: add λ w to each gradient, in place.
    # TODO: which parameters are left out, and what should autograd know of it?
    with torch.no_grad():
        for w in params:
            if w.grad is not None:
                w.grad.add_(w, alpha=strength)
    # --- end
