# cheat: takes the softmax from torch.distributions.SoftmaxTransform; must fail
import torch
import torch.nn.functional as F
from torch import Tensor, nn


def softmax(x, dim=-1):
    return torch.distributions.transforms.SoftmaxTransform()(x.movedim(dim, -1)).movedim(-1, dim)


def log_softmax(x, dim=-1):
    z = x - x.max(dim=dim, keepdim=True).values
    return z - torch.log(torch.exp(z).sum(dim=dim, keepdim=True))
