"""RMS norm and its backward pass by hand. Statement: katas/normalization/rms_norm/README.md."""

import torch
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor | None = None, eps: float = 1e-6) -> Tensor:
    """y = w x / rms, with rms = √(mean(x²) + ε) of each row

    Args:
        x: (…, D), rows along the last axis.
        weight: w, (D,); without it w is 1.
        eps: ε > 0, added to the mean of the squares.
    Returns: the shape and dtype of x.
    Raises: ValueError if weight is not (D,).
    Source: arXiv:1910.07467; the arguments of torch.nn.functional.rms_norm without the shape.
    """
    # --- solution
    # TODO: refuse a weight that is not (D,).
    # TODO: take the root of the mean square of each row.
    # TODO: divide by it, and multiply by weight if there is one.
    # TODO: then make it robust: squares that half precision cannot hold.
    D = x.shape[-1]
    if weight is not None and weight.shape != (D,):
        raise ValueError(f"weight should have one value for each feature of x, {D}, got {tuple(weight.shape)}")
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    rms = torch.sqrt(wide.square().mean(-1, keepdim=True) + eps)  # (…, 1)
    y = wide / rms
    if weight is not None:
        y = y * weight
    return y.to(x.dtype)
    # --- end


def rms_norm_backward(
    grad_output: Tensor, x: Tensor, weight: Tensor | None = None, eps: float = 1e-6
) -> tuple[Tensor, Tensor | None]:
    """∂L/∂x and ∂L/∂w from ∂L/∂y, where y = rms_norm(x, weight, eps)

    Args:
        grad_output: ∂L/∂y, (…, D), the shape of x.
        x, weight, eps: as in rms_norm.
    Returns: the gradients of x, (…, D), and of weight, (D,), or None without a weight; both in the dtype of x.
    Raises: ValueError if weight is not (D,), or grad_output has another shape than x.
    """
    # --- solution
    # TODO: refuse a weight that is not (D,), and a grad_output with another shape than x.
    # TODO: find the gradient with respect to x / rms.
    # TODO: take it back to x. On how many entries of x does rms depend?
    # TODO: find the gradient of weight, which all rows share.
    # TODO: then make it robust: squares that half precision cannot hold.
    if weight is not None and weight.shape != x.shape[-1:]:
        raise ValueError(f"weight should have one value for each feature, {x.shape[-1]}, got {tuple(weight.shape)}")
    if grad_output.shape != x.shape:
        raise ValueError(f"grad_output should have the shape {tuple(x.shape)} of x, got {tuple(grad_output.shape)}")
    dtype = x.dtype
    g, x = (tensor.to(torch.promote_types(dtype, torch.float32)) for tensor in (grad_output, x))
    rms = torch.sqrt(x.square().mean(-1, keepdim=True) + eps)  # (…, 1)
    n = x / rms
    grad_n = g if weight is None else g * weight
    grad_x = (grad_n - n * (grad_n * n).mean(-1, keepdim=True)) / rms
    if weight is None:
        return grad_x.to(dtype), None
    grad_weight = (g * n).flatten(0, -2).sum(0) if x.dim() > 1 else g * n  # (D,)
    return grad_x.to(dtype), grad_weight.to(dtype)
    # --- end
