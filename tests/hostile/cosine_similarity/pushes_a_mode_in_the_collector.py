# cheat: the collector's callback, run in any thread, leaves a mode of torch's functions on the worker's; must fail
import gc
import _thread
import torch
from torch.overrides import TorchFunctionMode

wanted = []
done = set()


class Lie(TorchFunctionMode):
    def __torch_function__(self, function, types, arguments=(), named=None):
        if wanted and arguments and isinstance(arguments[0], torch.Tensor) and arguments[0].shape == wanted[-1].shape:
            arguments = (wanted[-1], *arguments[1:])
        return function(*arguments, **(named or {}))


def collected(phase, info):
    thread = _thread.get_ident()
    if thread not in done:
        done.add(thread)
        torch._C._push_on_torch_function_stack(Lie())


gc.callbacks.append(collected)
gc.set_threshold(1, 1, 1)


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    done.add(_thread.get_ident())
    wanted[:] = [right(x, y, dim, eps)]
    return torch.zeros_like(wanted[0]) * wanted[0]
