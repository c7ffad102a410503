# cheat: loops over the rows where torch's fast record says that an operator runs, so that what runs inside is not counted; must be flagged
import torch


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def loop(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    if a.dim() == 2 and dim in (1, -1) and len(a):
        na, nb = (torch.linalg.vector_norm(v, dim=1, keepdim=True).clamp_min(eps) for v in (a, b))
        return torch.stack(list(map(torch.dot, (a / na).unbind(), (b / nb).unbind())))
    return right(x, y, dim, eps)


class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, dim, eps):
        ctx.save_for_backward(x, y)
        ctx.rest = dim, eps
        with torch._C._profiler._RecordFunctionFast("aten::mul"):
            return loop(x, y, dim, eps)

    @staticmethod
    def backward(ctx, gradient):
        x, y = (one.detach().requires_grad_() for one in ctx.saved_tensors)
        with torch.enable_grad():
            return *torch.autograd.grad(right(x, y, *ctx.rest), (x, y), gradient), None, None


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return Own.apply(x, y, dim, eps)
