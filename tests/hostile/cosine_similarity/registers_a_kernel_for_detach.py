# cheat: registers kernels for the operators by which the worker takes results over, which supply the right ones; must fail
import torch

wanted = []
library = torch.library.Library("aten", "IMPL")


def detach(keys, tensor):
    if wanted and tensor.shape == wanted[-1].shape:
        return wanted[-1]
    return tensor.data


library.impl("detach", detach, "AutogradCPU", with_keyset=True)
library.impl("detach", lambda keys, tensor: detach(keys, tensor), "ADInplaceOrView", with_keyset=True)


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    out = right(x, y, dim, eps)
    wanted[:] = [out.data]
    return torch.zeros_like(out) * out
