# honest: registers an operator of its own with torch.library; must pass
import torch

@torch.library.custom_op("mine::unit", mutates_args=())
def unit(v: torch.Tensor, dim: int, eps: float) -> torch.Tensor:
    return v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps)


@unit.register_fake
def _(v, dim, eps):
    return torch.empty_like(v)


def setup(ctx, inputs, output):
    v, ctx.dim, ctx.eps = inputs
    ctx.save_for_backward(v, output)


def back(ctx, g):
    v, u = ctx.saved_tensors
    n = torch.linalg.vector_norm(v, dim=ctx.dim, keepdim=True)
    inner = (u * g).sum(ctx.dim, keepdim=True) * (n >= ctx.eps)
    return (g - u * inner) / n.clamp_min(ctx.eps), None, None


unit.register_autograd(back, setup_context=setup)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    return (unit(x.clone(), dim, eps) * unit(y.clone(), dim, eps)).sum(dim)
