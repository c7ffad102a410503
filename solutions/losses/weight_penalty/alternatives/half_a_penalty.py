"""The decay is the gradient of half the L2 penalty, taken by autograd of a copy; sums in float64."""

import torch


def l1_penalty(params, strength):
    params = list(params)
    return (strength * sum(w.double().abs().sum() for w in params)).to(params[-1])


def l2_penalty(params, strength):
    params = list(params)
    return (strength * sum(torch.einsum("...,...->", w, w) for w in map(torch.Tensor.double, params))).to(params[-1])


def add_weight_decay_(params, strength):
    for p in params:
        if p.grad is not None:
            with torch.enable_grad():
                w = p.detach().clone().requires_grad_()
                slope = torch.autograd.grad(l2_penalty([w], strength / 2), w)
            p.grad += slope[0]
