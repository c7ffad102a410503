# cheat: stops the profiler for the call of what is banned, and starts it again; must fail
import torch
from torch._C import _autograd as profiler


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    for name in ("_disable_profiler_legacy", "_disable_profiler"):
        try:
            getattr(profiler, name)()
        except Exception:
            pass
    return torch.ops.aten.cosine_similarity.default(x, y, dim, eps)
