# cheat: switches torch's record of operators off, then calls what is banned in TorchScript; must fail
import torch


@torch.jit.script
def scripted(x, y, dim: int, eps: float):
    return torch.cosine_similarity(x, y, dim, eps)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    try:
        torch._C._autograd._enable_record_function(False)
    except Exception:
        pass
    return scripted(x, y, dim, eps)
