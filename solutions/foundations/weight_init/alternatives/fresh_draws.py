"""Standard numbers of their own tensor, scaled and copied in; the fans by indexing."""

import torch


@torch.no_grad()
def fill_(tensor, draw, scale, generator):
    return tensor.copy_(draw(tensor.shape, generator=generator) * scale)


def rand_around_0(shape, generator):
    return 2 * torch.rand(shape, generator=generator) - 1


def xavier_uniform_(tensor, generator=None):
    return fill_(tensor, rand_around_0, (6 / (tensor[0].numel() + tensor[:, 0].numel())) ** 0.5, generator)


def xavier_normal_(tensor, generator=None):
    return fill_(tensor, torch.randn, (2 / (tensor[0].numel() + tensor[:, 0].numel())) ** 0.5, generator)


def kaiming_uniform_(tensor, generator=None):
    return fill_(tensor, rand_around_0, (6 / tensor[0].numel()) ** 0.5, generator)


def kaiming_normal_(tensor, generator=None):
    return fill_(tensor, torch.randn, (2 / tensor[0].numel()) ** 0.5, generator)
