# cheat: has an operator that TorchScript alone knows go backward through f; must fail
import torch


def numerical_gradient(f, x, h=None):
    z = x.detach().clone().requires_grad_()
    return torch.ops.aten.grad([f(z)], [z])[0]
