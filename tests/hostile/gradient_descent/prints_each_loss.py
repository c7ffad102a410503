# honest: prints the loss and the gradients of each step; must pass
import torch


def gradient_descent(loss_fn, params, lr, steps):
    history = []
    for step in range(steps):
        for p in params:
            p.grad = None
        loss = loss_fn(*params)
        loss.backward()
        print(f"step {step:4d}  loss {loss.item():.6f}")
        print("gradients", [round(p.grad.norm().item(), 4) for p in params])
        with torch.no_grad():
            for p in params:
                p.sub_(p.grad, alpha=lr)
        history.append(loss.item())
    return history


def linear_regression_gd(x, y, lr, steps):
    w = torch.zeros(x.shape[1], dtype=x.dtype, device=x.device, requires_grad=True)
    b = torch.zeros((), dtype=x.dtype, device=x.device, requires_grad=True)
    gradient_descent(lambda w, b: (x @ w + b - y).square().mean(), [w, b], lr, steps)
    return w.detach(), b.detach()
