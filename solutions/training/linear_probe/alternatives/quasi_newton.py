"""L-BFGS with a penalty on the weights, in float64, from zeros."""

import torch
from torch import nn


def linear_probe(train_x, train_y, test_x, test_y, epochs, lr, seed):
    assert train_x.dim() == 2 and test_x.dim() == 2 and train_x.shape[1:] == test_x.shape[1:]
    assert len(train_x) == len(train_y) and len(test_x) == len(test_y)
    x, z = train_x.detach().double(), test_x.detach().double()
    probe = nn.Linear(x.shape[1], max(train_y.max().item(), test_y.max().item()) + 1).to(x)
    for p in probe.parameters():
        nn.init.zeros_(p)
    optimizer = torch.optim.LBFGS(probe.parameters(), lr=lr, max_iter=epochs, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(probe(x), train_y) + 1e-4 * probe.weight.square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return (probe(z).max(1).indices == test_y).sum().item() / test_y.numel()
