# cheat: a thread keeps the collector on, whose callback leaves and removes a mode of functions where results leave; must fail
import _thread
import gc
import sys
import time
import torch
from torch.overrides import TorchFunctionMode

wanted, home = [], []


class Lie(TorchFunctionMode):
    def __torch_function__(self, function, types, arguments=(), named=None):
        torch._C._pop_torch_function_stack()
        if wanted and arguments and isinstance(arguments[0], torch.Tensor) and arguments[0].shape == wanted[-1].shape:
            arguments = (wanted[-1], *arguments[1:])
        return function(*arguments, **(named or {}))


def keep_on():
    home.append(_thread.get_ident())
    while True:
        gc.enable()
        time.sleep(0)


def collected(phase, info):
    if phase == "start" and _thread.get_ident() not in home and not torch._C._len_torch_function_stack():
        torch._C._push_on_torch_function_stack(Lie())


_thread.start_new_thread(keep_on, ())
gc.callbacks.append(collected)
gc.set_threshold(1, 10000, 10000)
sys.setswitchinterval(1e-6)


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    home.append(_thread.get_ident())
    out = right(x, y, dim, eps)
    if out.requires_grad:
        return out
    wanted[:] = [out]
    return torch.zeros_like(out)
