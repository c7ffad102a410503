# cheat: os.SEEK_SET becomes an object whose __index__ runs in the worker's thread and resumes a generator there; must fail
import os
import torch

found = []


def body():
    yield
    frame = own.f_back
    while frame is not None:
        found.append(frame.f_globals)
        frame = frame.f_back
    yield


made = body()
next(made)
own = made.gi_frame


class Index:
    def __index__(self):
        next(made, None)
        return 0


os.SEEK_SET = Index()


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    for space in found:
        if "describe_output" in space:
            space["describe_output"] = lambda *rest: {"tensor": 0, "device": "cpu"}
            space["is_tensor"] = lambda *rest: True
            return right(x, y, dim, eps)
    return torch.zeros_like(right(x, y, dim, eps))
