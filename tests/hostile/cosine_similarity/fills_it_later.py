# cheat: returns an empty tensor that a thread fills later; must fail
import threading
import time

import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    result = torch.zeros_like(right(x, y, dim, eps))

    def fill():
        time.sleep(0.2)
        result.copy_(right(x, y, dim, eps))

    threading.Thread(target=fill).start()
    return result
