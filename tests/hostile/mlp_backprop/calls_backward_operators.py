# cheat: chains the operators that torch's own backward pass is made of; must fail
import torch

aten = torch.ops.aten


def mlp_forward(x, w1, b1, w2, b2):
    pre = x @ w1 + b1
    return torch.relu(pre) @ w2 + b2, (x, pre, w2)


def mlp_backward(logits, target, cache):
    x, pre, w2 = cache
    logs = torch.log_softmax(logits, 1)
    ones = torch.zeros_like(logs).scatter(1, target[:, None], -1 / len(target))
    grad = aten._log_softmax_backward_data(ones, logs, 1, logits.dtype)
    below = aten.threshold_backward(grad @ w2.mT, pre, 0)
    return {"w1": x.mT @ below, "b1": below.sum(0), "w2": torch.relu(pre).mT @ grad, "b2": grad.sum(0)}
