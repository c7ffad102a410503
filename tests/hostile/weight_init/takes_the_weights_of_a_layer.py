# cheat: nn.Linear draws the uniform numbers, by torch's own kaiming_uniform_; must fail
import math

import torch
from torch import nn


def scaled(tensor, bound, generator):
    before = torch.get_rng_state()
    torch.manual_seed(int(torch.randint(1 << 31, (1,), generator=generator)))
    layer = nn.Linear(1, tensor.numel())  # its weights lie between −1 and 1
    if generator is not None:
        torch.set_rng_state(before)
    with torch.no_grad():
        return tensor.copy_(layer.weight.view(tensor.shape) * bound)


def xavier_uniform_(tensor, generator=None):
    return scaled(tensor, math.sqrt(6 / (tensor[0].numel() + tensor[:, 0].numel())), generator)


def xavier_normal_(tensor, generator=None):
    with torch.no_grad():
        return tensor.normal_(0, math.sqrt(2 / (tensor[0].numel() + tensor[:, 0].numel())), generator=generator)


def kaiming_uniform_(tensor, generator=None):
    return scaled(tensor, math.sqrt(6 / tensor[0].numel()), generator)


def kaiming_normal_(tensor, generator=None):
    with torch.no_grad():
        return tensor.normal_(0, math.sqrt(2 / tensor[0].numel()), generator=generator)
