"""Batches of 256 rows, shuffled by a generator of its own; AdamW; only the training set's labels are numbered."""

import torch
import torch.nn.functional as F


def linear_probe(train_x, train_y, test_x, test_y, epochs, lr, seed):
    for x, y in ((train_x, train_y), (test_x, test_y)):
        if x.dim() != 2 or len(x) != len(y):
            raise ValueError("features should be 2-D, with a label for each row")
    if train_x.shape[1] != test_x.shape[1]:
        raise ValueError("both sets should have the same features")
    generator = torch.Generator().manual_seed(seed)
    classes, index = train_y.unique(return_inverse=True)
    x = train_x.detach().float()
    w = (0.01 * torch.randn(len(classes), x.shape[1], generator=generator)).to(x.device).requires_grad_()
    b = torch.zeros(len(classes), device=x.device, requires_grad=True)
    optimizer = torch.optim.AdamW([w, b], lr=lr)
    for _ in range(epochs):
        for rows in torch.randperm(len(x), generator=generator).split(256):
            optimizer.zero_grad()
            F.cross_entropy(F.linear(x[rows], w, b), index[rows]).backward()
            optimizer.step()
    with torch.no_grad():
        return (classes[F.linear(test_x.float(), w, b).argmax(1)] == test_y).float().mean().item()
