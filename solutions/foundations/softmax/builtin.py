"""torch.softmax and torch.log_softmax."""

import torch


def softmax(x, dim=-1):
    return torch.softmax(x, dim)


def log_softmax(x, dim=-1):
    return torch.log_softmax(x, dim)
