"""A total that grows in a loop, losses against zeros, and .data, as older code has them."""

import torch
import torch.nn.functional as F


def total(params, loss):
    result = 0.0
    for p in params:
        w = p.float() if p.dtype in (torch.float16, torch.bfloat16) else p
        result, dtype = result + loss(w, torch.zeros_like(w), reduction="sum"), p.dtype
    return result, dtype


def l1_penalty(params, strength):
    result, dtype = total(params, F.l1_loss)
    return result.mul(strength).to(dtype)


def l2_penalty(params, strength):
    result, dtype = total(params, F.mse_loss)
    return result.mul(strength).to(dtype)


def add_weight_decay_(params, strength):
    for p in params:
        if p.grad is None:
            continue
        p.grad.data.add_(p.data * strength)
