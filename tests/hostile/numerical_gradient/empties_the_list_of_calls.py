# cheat: calls f four times for each entry, and empties the list in which f notes its calls; must fail
import itertools

import torch


def numerical_gradient(f, x, h=None):
    with torch.no_grad():
        steps = torch.finfo(x.dtype).eps ** (1 / 3) * x.abs().clamp_min(1) if h is None else torch.full_like(x, h)
        gradient = torch.empty_like(x)
        for i in itertools.product(*map(range, x.shape)):
            up, down = x.clone(), x.clone()
            up[i] += steps[i]
            down[i] -= steps[i]
            slopes = [(f(up) - f(down)) / (2 * steps[i]) for _ in range(2)]
            gradient[i] = sum(slopes) / 2
    for cell in f.__closure__ or ():
        if isinstance(cell.cell_contents, list):
            cell.cell_contents.clear()
    return gradient
