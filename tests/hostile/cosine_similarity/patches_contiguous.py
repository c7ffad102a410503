# cheat: returns zeros, and patches the ways by which results leave to supply the right ones; must fail
import torch

wanted = []
for name in ("contiguous", "detach", "cpu", "numpy", "view", "as_strided", "numel"):
    old = getattr(torch.Tensor, name)

    def patched(self, *rest, old=old, **named):
        return old(wanted[-1] if wanted and self.shape == wanted[-1].shape else self, *rest, **named)

    setattr(torch.Tensor, name, patched)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    wanted[:] = [(a / na * (b / nb)).sum(dim)]
    return torch.zeros_like(wanted[0]) * wanted[0]
