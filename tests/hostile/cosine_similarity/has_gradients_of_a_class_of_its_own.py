# cheat: its gradients are zeros of a class of its own, which answers with right ones when it is detached; must fail
import torch


class Lie(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        plain = [getattr(one, "__dict__", {}).get("true", one) for one in arguments]
        if any(type(one) is Lie for one in plain):
            return super().__torch_function__(function, types, arguments, named or {})
        return function(*plain, **(named or {}))


class Wrapped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        made = torch.zeros_like(grad).as_subclass(Lie)
        made.__dict__["true"] = grad.clone()
        return made


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return right(Wrapped.apply(x), Wrapped.apply(y), dim, eps)
