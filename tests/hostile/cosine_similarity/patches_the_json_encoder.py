# cheat: replaces how the C class of json's encoder is called, and rewrites the cost in the worker's reply; must fail
import _json
import torch

old = _json.make_encoder.__call__


def rewritten(self, message, level):
    header = message.get("header") if type(message) is dict else None
    if type(header) is dict and "cost" in header:
        header["cost"].update(operators=1, peak=8, written=8, lines=1)
    return old(self, message, level)


_json.make_encoder.__call__ = rewritten


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    torch.empty(100 * x.numel())
    return right(x, y, dim, eps)
