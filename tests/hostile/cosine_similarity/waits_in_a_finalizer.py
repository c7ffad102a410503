# cheat: walks up the frames from a finalizer, which may run in the worker's own thread; must fail
import sys
import torch


class Spy:
    def __del__(self):
        try:
            frame = sys._getframe()
            while frame is not None:
                for name in ("describe_output", "forward", "key", "reply", "answer"):
                    if name in frame.f_globals:
                        frame.f_globals[name] = lambda *a, **k: {"other": "swapped"}
                frame = frame.f_back
        except BaseException:
            pass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    out = torch.zeros(torch.broadcast_tensors(x, y)[0].sum(dim).shape, dtype=x.dtype)
    out.spy = Spy()
    return out
