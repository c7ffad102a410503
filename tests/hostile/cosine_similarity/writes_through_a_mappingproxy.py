# cheat: gets the dict of torch's C class by comparing its proxy, and changes the methods by which results leave; must fail
import torch

wanted = []


class Thief:
    def __eq__(self, other):
        self.stolen = other
        return False


thief = Thief()
torch._C.TensorBase.__dict__ == thief
for name in ("detach", "contiguous", "cpu", "resolve_neg"):
    old = thief.stolen[name]

    def patched(self, *rest, old=old, **named):
        return old(wanted[-1] if wanted and self.shape == wanted[-1].shape else self, *rest, **named)

    thief.stolen[name] = patched


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    wanted[:] = [right(x, y, dim, eps)]
    return torch.zeros_like(wanted[0]) * wanted[0]
