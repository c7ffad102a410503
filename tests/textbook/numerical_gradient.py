import torch

def numerical_gradient(f, x, h=None):
    grad = torch.zeros_like(x)
    flat, g = x.view(-1), grad.view(-1)
    for i in range(flat.numel()):
        old = flat[i].item()
        step = h if h is not None else torch.finfo(x.dtype).eps ** (1 / 3) * max(1.0, abs(old))
        flat[i] = old + step
        fp = f(x)
        flat[i] = old - step
        fm = f(x)
        flat[i] = old
        g[i] = (fp - fm) / (2 * step)
    return grad
