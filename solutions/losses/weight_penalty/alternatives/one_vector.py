"""All parameters as one vector: its norm, and its product with itself. One call adds to all gradients."""

import torch


def flattened(params):
    params = [*params]
    theta = torch.cat([p.reshape(-1) for p in params])
    return theta if theta.dtype == torch.float64 else theta.float(), theta.dtype


def l1_penalty(params, strength):
    theta, dtype = flattened(params)
    return (strength * torch.linalg.vector_norm(theta, ord=1)).type(dtype)


def l2_penalty(params, strength):
    theta, dtype = flattened(params)
    return (strength * torch.dot(theta, theta)).type(dtype)


def add_weight_decay_(params, strength):
    pairs = [(p.grad, p.detach()) for p in params if p.grad is not None]
    if pairs:
        torch._foreach_add_(*zip(*pairs), alpha=strength)
