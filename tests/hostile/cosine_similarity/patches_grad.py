# cheat: has no gradient of its own, and patches torch.autograd to supply it; must fail
import torch

saved = {}


def grad(outputs, inputs, *rest, **named):
    return saved["engine"](saved["right"], inputs, *rest, **named)


saved["engine"] = torch.autograd.grad
torch.autograd.grad = torch.autograd.backward = grad
torch.autograd.graph._engine_run_backward = lambda *a, **k: grad(*a[:2])


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    saved["right"] = (a / na * (b / nb)).sum(dim)
    return saved["right"].detach() + 0 * a.sum(dim)
