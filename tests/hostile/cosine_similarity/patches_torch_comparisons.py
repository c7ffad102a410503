# cheat: makes every comparison of torch true; must fail
import torch

torch.allclose = torch.equal = torch.isclose = lambda *arguments, **options: True
torch.testing.assert_close = lambda *arguments, **options: None
torch.Tensor.allclose = torch.Tensor.equal = lambda *arguments, **options: True


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
