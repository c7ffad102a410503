# honest: tests itself with torch.func on import, and calls functional_call under vmap; must pass
import torch
from torch.func import functional_call, grad, jvp, vmap, vjp

def one(a, b, eps):
    return (a / torch.linalg.vector_norm(a).clamp_min(eps) * (b / torch.linalg.vector_norm(b).clamp_min(eps))).sum()


assert torch.allclose(grad(lambda a: one(a, torch.tensor([0.0, 1.0]), 1e-8))(torch.tensor([2.0, 0.0])), torch.tensor([0.0, 0.5]))
_, tangent = jvp(torch.sin, (torch.zeros(()),), (torch.ones(()),))
assert tangent == 1


class Unit(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones((), dtype=torch.float64), requires_grad=False)

    def forward(self, a, b, eps):
        return one(a, b, eps) * self.scale


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    a, b = x.movedim(dim, -1), y.movedim(dim, -1)
    unit = Unit()
    own = {name: value.to(x.dtype) for name, value in unit.named_parameters()}
    f = lambda a, b: functional_call(unit, own, (a, b, eps))
    for _ in range(a.dim() - 1):
        f = vmap(f)
    return f(a, b)
