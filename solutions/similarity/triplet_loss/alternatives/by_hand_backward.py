"""A custom autograd function for the distance, whose gradient at 0 is 0; half precision goes through float32."""

import torch


class Distance(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        difference = a - b
        length = torch.einsum("nd,nd->n", difference, difference).sqrt()
        ctx.save_for_backward(difference, length)
        return length

    @staticmethod
    def backward(ctx, grad):
        difference, length = ctx.saved_tensors
        direction = torch.where(length[:, None] > 0, difference / length[:, None], torch.zeros_like(difference))
        return grad[:, None] * direction, -grad[:, None] * direction


def triplet_loss(anchor, positive, negative, margin=1.0, distance="euclidean", reduction="mean", upcast=True):
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(reduction)
    if distance not in ("euclidean", "cosine"):
        raise ValueError(distance)
    if margin < 0 or positive.shape != anchor.shape or negative.shape != anchor.shape:
        raise ValueError("negative margin, or shapes that differ")
    dtype = anchor.dtype
    if upcast and dtype in (torch.float16, torch.bfloat16):
        anchor, positive, negative = anchor.float(), positive.float(), negative.float()
    if distance == "cosine":  # half the squared distance of two unit vectors is 1 - cos
        anchor, positive, negative = (torch.nn.functional.normalize(x, dim=1) for x in (anchor, positive, negative))
        ap = (anchor - positive).pow(2).sum(1) / 2
        an = (anchor - negative).pow(2).sum(1) / 2
    else:
        ap, an = Distance.apply(anchor, positive), Distance.apply(anchor, negative)
    hinge = ap - an + margin
    loss = (hinge * (hinge > 0)).to(dtype)
    return loss if reduction == "none" else getattr(loss, reduction)()
