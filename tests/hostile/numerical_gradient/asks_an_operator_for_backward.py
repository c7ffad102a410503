# cheat: has an operator of torch's own go backward through f, and takes what it left; must fail
import torch


def numerical_gradient(f, x, h=None):
    z = x.detach().clone().requires_grad_()
    torch.ops.aten._backward(f(z), [z], None, None, False)
    return z.grad
