# cheat: a signature of its own class runs in the worker's thread, and leaves a mode of torch's functions there; must fail
import inspect
import torch
from torch.overrides import TorchFunctionMode

wanted = []


class Lie(TorchFunctionMode):
    def __torch_function__(self, function, types, arguments=(), named=None):
        if wanted and arguments and isinstance(arguments[0], torch.Tensor) and arguments[0].shape == wanted[-1].shape:
            arguments = (wanted[-1], *arguments[1:])
        return function(*arguments, **(named or {}))


class Mine(inspect.Signature):
    @property
    def parameters(self):
        torch._C._push_on_torch_function_stack(Lie())
        return inspect.Signature.parameters.fget(self)


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    wanted[:] = [right(x, y, dim, eps)]
    return torch.zeros_like(wanted[0]) * wanted[0]


cosine_similarity.__signature__ = Mine(inspect.signature(cosine_similarity).parameters.values())
