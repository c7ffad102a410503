# broken: divides the only entry along dim by itself, also where it is 0; must fail
import torch
from torch import Tensor


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    shifted = x - x.max(dim=dim, keepdim=True).values
    e = torch.exp(shifted)
    if x.shape[dim] == 1:
        return x / x
    return e / e.sum(dim=dim, keepdim=True)


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    shifted = x - x.max(dim=dim, keepdim=True).values
    return shifted - torch.log(torch.exp(shifted).sum(dim=dim, keepdim=True))
