import torch

def gradient_descent(loss_fn, params, lr, steps):
    losses = []
    for _ in range(steps):
        loss = loss_fn(*params)
        loss.backward()
        losses.append(loss.item())
        for p in params:
            p.data = p.data - lr * p.grad
            p.grad = None
    return losses

def linear_regression_gd(x, y, lr, steps):
    w, b = torch.zeros(x.shape[1], dtype=x.dtype), torch.zeros((), dtype=x.dtype)
    for _ in range(steps):
        error = x @ w + b - y
        w, b = w - lr * 2 * x.T @ error / len(x), b - lr * 2 * error.mean()
    return w, b
