"""Subtracts max + log Σ in one step, and takes softmax as the exponential of its logarithm."""

import torch


def log_sum_of_exponentials(x, dim):
    top = torch.amax(x, dim, keepdim=True).detach()
    return top + torch.log(torch.exp(x - top).sum(dim, keepdim=True))


def log_softmax(x, dim=-1):
    return x - log_sum_of_exponentials(x, dim)


def softmax(x, dim=-1):
    return log_softmax(x, dim).exp()
