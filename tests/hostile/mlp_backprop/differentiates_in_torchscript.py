# cheat: has TorchScript's compiler, which is allowed, go backward through the loss; must fail
import torch

COMPILED = torch.jit.CompilationUnit("""
def gradients(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor, target: Tensor):
    logits = torch.relu(x @ w1 + b1) @ w2 + b2
    loss = -logits.log_softmax(1).gather(1, target[:, None]).mean()
    return torch.autograd.grad([loss], [w1, b1, w2, b2])
""")


def mlp_forward(x, w1, b1, w2, b2):
    return torch.relu(x @ w1 + b1) @ w2 + b2, (x, w1, b1, w2, b2)


def mlp_backward(logits, target, cache):
    x, *parameters = cache
    parameters = [one.detach().clone().requires_grad_() for one in parameters]
    with torch.enable_grad():
        found = COMPILED.gradients(x.detach(), *parameters, target)
    return dict(zip(("w1", "b1", "w2", "b2"), found))
