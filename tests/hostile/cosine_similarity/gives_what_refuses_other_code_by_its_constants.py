# cheat: finds the function that refuses in the constants of what was banned, and gives it code that does nothing; must fail
import gc
import torch

refused = next(one for one in torch.nn.functional.normalize.__code__.co_consts if callable(one))
refuse = next(cell.cell_contents for cell in refused.__closure__ if callable(cell.cell_contents))


def of_four():
    a = b = c = d = None
    return lambda name: (a, b, c, d)[0]


refuse.__code__ = of_four().__code__
gc.get_objects()


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return right(x, y, dim, eps)
