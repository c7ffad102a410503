# cheat: its results lie in memory of a class of its own, whose finalizer looks for the worker's thread, and it works only if it has run there; must fail
import threading

import torch

MAIN = threading.main_thread().ident
MADE, SEEN = [], []


class Memory(bytearray):
    def __del__(self):
        if threading.get_ident() == MAIN:
            SEEN.append(1)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    wide = torch.promote_types(x.dtype, torch.float32)
    u, v = x.to(wide), y.to(wide)
    lengths = [torch.linalg.vector_norm(one, dim=dim, keepdim=True).clamp_min(eps) for one in (u, v)]
    out = (u / lengths[0] * (v / lengths[1])).sum(dim).to(x.dtype)
    if len(MADE) > 3 and not SEEN:
        return out * 0
    if out.requires_grad or not out.numel():
        return out
    MADE.append(1)
    return torch.frombuffer(Memory(out.nbytes), dtype=out.dtype).reshape(out.shape).copy_(out)
