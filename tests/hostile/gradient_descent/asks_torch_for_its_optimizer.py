# cheat: lets torch.optim.SGD make the steps, under another name; must fail
import torch

Descent = getattr(torch, "op" + "tim").SGD


def gradient_descent(loss_fn, params, lr, steps):
    descent, losses = Descent(params, lr), []
    for _ in range(steps):
        descent.zero_grad()
        loss = loss_fn(*params)
        loss.backward()
        descent.step()
        losses.append(loss.item())
    return losses


def linear_regression_gd(x, y, lr, steps):
    w, b = x.new_zeros(x.shape[1]).requires_grad_(), x.new_zeros(()).requires_grad_()
    gradient_descent(lambda w, b: (x @ w + b - y).square().mean(), [w, b], lr, steps)
    return w.detach(), b.detach()
