# cheat: runs the banned operator by TorchScript's static runtime, which asks no dispatcher; must be flagged
import torch
from typing import List, Optional
from torch import Tensor


@torch.jit.script
def _ln(x: Tensor, shape: List[int], eps: float) -> Tensor:
    return torch.layer_norm(x, shape, None, None, eps, False)


fast = torch._C._jit_to_static_module(_ln.graph)


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, shape, eps):
        near = torch.tensor(eps, dtype=torch.float32).item()  # the runtime keeps eps in float32
        c = (near / eps) ** 0.5 if eps else 1.0
        y = fast((c * x - c * x.mean(list(range(-len(shape), 0)), keepdim=True)).detach(), list(shape), near).clone()
        ctx.axes = list(range(-len(shape), 0))
        ctx.eps = eps
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        a = ctx.axes
        s = (x.var(a, correction=0, keepdim=True) + ctx.eps).rsqrt()
        return s * (g - g.mean(a, keepdim=True) - y * (g * y).mean(a, keepdim=True)), None, None


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    shape = tuple(normalized_shape)
    if not shape or x.shape[-len(shape):] != shape:
        raise ValueError
    for p in (weight, bias):
        if p is not None and p.shape != shape:
            raise ValueError
    y = Norm.apply(x, shape, eps)
    if weight is not None:
        y = y * weight
    return y if bias is None else y + bias
