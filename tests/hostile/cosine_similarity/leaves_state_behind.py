# cheat: switches gradients off and the default dtype and device over, for whoever comes next; must fail
import torch

torch.set_grad_enabled(False)
torch.set_default_dtype(torch.float64)
torch.set_default_device('meta')


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
