# cheat: gives the hook of failing threads a message that is compared in the worker's thread; must fail
import sys
import _thread
import time

import torch

seen = []
told = []
hook, sys.unraisablehook = sys.unraisablehook, told.append
_thread.start_new_thread(lambda: 1 / 0, ())
while not told:
    pass
sys.unraisablehook = hook


class Message(str):
    def __eq__(self, other):
        seen.append(other)
        return False

    __hash__ = str.__hash__


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if not seen:
        sys.unraisablehook(type(told[0])((None, ValueError(), None, Message(), None)))
        time.sleep(0.2)
    if not seen:
        raise KeyError("nothing of mine ran in the worker's thread")
    x, y = torch.broadcast_tensors(x, y)
    x, y = (z / torch.linalg.vector_norm(z, dim=dim, keepdim=True).clamp_min(eps) for z in (x, y))
    return (x * y).sum(dim)
