# cheat: steps by the function that torch.optim.SGD is made of; must fail
import torch
from torch.optim.sgd import sgd as step


def gradient_descent(loss_fn, params, lr, steps):
    losses = []
    options = {"weight_decay": 0, "momentum": 0, "dampening": 0, "nesterov": False, "maximize": False}
    for _ in range(steps):
        loss = loss_fn(*params)
        gradients = list(torch.autograd.grad(loss, params))
        losses.append(loss.item())
        with torch.no_grad():
            step(params, gradients, [None] * len(params), lr=lr, **options)
    return losses


def linear_regression_gd(x, y, lr, steps):
    w, b = x.new_zeros(x.shape[1]).requires_grad_(), x.new_zeros(()).requires_grad_()
    gradient_descent(lambda w, b: (x @ w + b - y).square().mean(), [w, b], lr, steps)
    return w.detach(), b.detach()
