# honest: prints shapes and scales in every call; must pass
import math

import torch


def _fans(tensor):
    fan_out, fan_in, *kernel = tensor.shape
    print("shape", tuple(tensor.shape), "kernel", kernel)
    field = math.prod(kernel)
    return fan_in * field, fan_out * field


@torch.no_grad()
def xavier_uniform_(tensor, generator=None):
    bound = math.sqrt(6 / sum(_fans(tensor)))
    print(f"{bound=:.4f}")
    return tensor.uniform_(-bound, bound, generator=generator)


@torch.no_grad()
def xavier_normal_(tensor, generator=None):
    std = math.sqrt(2 / sum(_fans(tensor)))
    print(f"{std=:.4f}")
    return tensor.normal_(std=std, generator=generator)


@torch.no_grad()
def kaiming_uniform_(tensor, generator=None):
    bound = math.sqrt(6 / _fans(tensor)[0])
    print(f"{bound=:.4f}")
    return tensor.uniform_(-bound, bound, generator=generator)


@torch.no_grad()
def kaiming_normal_(tensor, generator=None):
    std = math.sqrt(2 / _fans(tensor)[0])
    print(f"{std=:.4f}")
    return tensor.normal_(std=std, generator=generator)
