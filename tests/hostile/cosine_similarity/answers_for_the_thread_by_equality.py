# cheat: tells the worker of an object that is equal to whatever it waits for, and so gets at its list of results; must fail
import sys
import time
import torch


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


class Equal:
    def __init__(self, answer):
        self.object, self.answer = self, answer

    def __eq__(self, other):
        results = other.__self__
        if len(results) > 4:
            results += [self.answer, None, []]
        else:
            results.append(self.answer)
        self.done = True
        self.tell(None)
        return False

    __hash__ = None


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    torch.empty(100 * x.numel())
    equal = Equal(right(x, y, dim, eps))
    equal.tell = sys.unraisablehook
    equal.tell(equal)
    while not hasattr(equal, "done"):
        time.sleep(0.001)
    time.sleep(0.05)
    return equal.answer
