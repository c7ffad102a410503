"""The gradient by central differences. Statement: katas/foundations/numerical_gradient/README.md."""

import itertools
from collections.abc import Callable

import torch
from torch import Tensor


def numerical_gradient(f: Callable[[Tensor], Tensor], x: Tensor, h: float | None = None) -> Tensor:
    """g_i = (f(x + h_i e_i) − f(x − h_i e_i)) / 2h_i,  h_i = ε^(1/3) max(1, |x_i|) unless h is given

    Args:
        f: takes a tensor of the shape and dtype of x, and returns a tensor without axes.
        x: any shape, even without axes; float32 or float64, whose machine epsilon is ε.
        h: the step of every entry; None for the default, which suits each entry's magnitude.
    Returns: the gradient of f at x, in the shape and dtype of x, without a graph.
    Source: Press et al., Numerical Recipes, 3rd edition, section 5.7.
    """
    # --- solution
    # TODO: find the step of each entry: h, or the default of the docstring.
    # TODO: go through the entries of x, whatever its number of axes.
    # TODO: for each entry, call f at the two points that differ from x in this entry alone, and divide the difference.
    # TODO: what must x be like afterwards, and what must the result not have?
    with torch.no_grad():
        if h is None:
            steps = torch.finfo(x.dtype).eps ** (1 / 3) * x.abs().clamp_min(1)
        else:
            steps = torch.full_like(x, h)
        gradient = torch.empty_like(x)
        for i in itertools.product(*map(range, x.shape)):  # once, with i = (), where x has no axes
            up, down = x.clone(), x.clone()
            up[i] += steps[i]
            down[i] -= steps[i]
            gradient[i] = (f(up) - f(down)) / (2 * steps[i])
        return gradient
    # --- end
