"""As masked autoencoders are probed: a batch norm without parameters in front; momentum, a cosine for the rate."""

import math

import torch
from torch import nn


def linear_probe(train_x, train_y, test_x, test_y, epochs, lr, seed):
    if {train_x.dim(), test_x.dim()} != {2} or train_x.size(-1) != test_x.size(-1):
        raise ValueError("features should be 2-D, of one width")
    if (len(train_x), len(test_x)) != (len(train_y), len(test_y)):
        raise ValueError("each row should have a label")
    torch.manual_seed(seed)
    D, C = train_x.size(1), torch.cat([train_y, test_y]).max().item() + 1
    model = nn.Sequential(nn.BatchNorm1d(D, affine=False, momentum=1.0), nn.Linear(D, C)).to(train_x.device)
    velocity = [torch.zeros_like(p) for p in model.parameters()]
    for epoch in range(epochs):
        model.zero_grad()
        nn.CrossEntropyLoss()(model(train_x.detach().float()), train_y).backward()
        rate = lr * (1 + math.cos(math.pi * epoch / epochs)) / 2
        for p, v in zip(model.parameters(), velocity):
            p.data -= rate * v.mul_(0.9).add_(p.grad)
    with torch.inference_mode():
        predicted = model.eval()(test_x.float()).argmax(-1)
    return predicted.eq(test_y).double().mean().item()
