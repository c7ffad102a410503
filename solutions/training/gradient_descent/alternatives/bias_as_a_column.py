"""torch.autograd.grad, which leaves .grad alone; the bias is the weight of one more feature that is always 1."""

import torch


def gradient_descent(loss_fn, params, lr, steps):
    def step():
        loss = loss_fn(*params)
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            torch._foreach_add_(params, grads, alpha=-lr)
        return float(loss)

    return [step() for _ in range(steps)]


def linear_regression_gd(x, y, lr, steps):
    X = torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
    theta = X.new_zeros(X.size(1))
    for _ in range(steps):
        theta -= lr * 2 * X.t().mv(X.mv(theta) - y) / len(X)
    return theta[:-1], theta[-1]
