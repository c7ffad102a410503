"""The points live in numpy; f sees them as tensors that share the memory."""

import numpy as np
import torch


def numerical_gradient(f, x, h=None):
    base = x.detach().cpu().numpy()
    partial = np.zeros_like(base)
    for index, value in np.ndenumerate(base):
        step = np.finfo(base.dtype).eps ** (1 / 3) * max(1.0, abs(float(value))) if h is None else h
        values = []
        for moved in (float(value) + step, float(value) - step):
            point = base.copy()
            point[index] = moved
            values.append(f(torch.from_numpy(point).to(x.device)).item())
        partial[index] = (values[0] - values[1]) / (2 * step)
    return torch.from_numpy(partial).to(x.device)
