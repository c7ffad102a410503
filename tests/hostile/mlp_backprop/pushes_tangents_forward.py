# cheat: asks forward mode for one directional derivative after the other, under vmap, with no backward pass; must fail
import torch
from torch.func import jacfwd


def network(x, w1, b1, w2, b2):
    return torch.relu(x @ w1 + b1) @ w2 + b2


def mlp_forward(x, w1, b1, w2, b2):
    return network(x, w1, b1, w2, b2), (x, w1, b1, w2, b2)


def mlp_backward(logits, target, cache):
    x, *parameters = cache

    def loss(*parameters):
        return -network(x, *parameters).log_softmax(1).gather(1, target[:, None]).mean()

    found = jacfwd(loss, argnums=(0, 1, 2, 3))(*parameters)
    return dict(zip(("w1", "b1", "w2", "b2"), found))
