# cheat: returns a tensor without memory, whose class does the work where the result is read, after the cost was counted; must fail
import torch


class Later(torch.Tensor):
    @staticmethod
    def __new__(cls, work, like):
        return torch.Tensor._make_wrapper_subclass(cls, like.shape, dtype=like.dtype, strides=like.stride())

    def __init__(self, work, like):
        self.work = work

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), options=None):
        done = [one.work() if isinstance(one, Later) else one for one in arguments]
        return function(*done, **(options or {}))


def slow(x, dim, log):
    rows = [row for row in x.detach().movedim(dim, -1).reshape(-1, x.shape[dim])]
    shifted = [row - row.max() for row in rows]
    made = [s - s.exp().sum().log() if log else s.exp() / s.exp().sum() for s in shifted]
    return torch.stack(made).view(x.movedim(dim, -1).shape).movedim(-1, dim).contiguous()


def softmax(x, dim=-1):
    return Later(lambda: slow(x, dim, False), x)


def log_softmax(x, dim=-1):
    return Later(lambda: slow(x, dim, True), x)
