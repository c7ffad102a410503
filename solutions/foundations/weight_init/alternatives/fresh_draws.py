"""Standard random numbers in a new tensor, scaled and copied in; the fans by indexing."""

import torch


def rand_around_0(shape, **where):
    return 2 * torch.rand(shape, **where) - 1


def filler(draw, square, xavier):
    @torch.no_grad()
    def fill_(tensor, generator=None):
        fans = tensor[0].numel() + xavier * tensor[:, 0].numel()
        return tensor.copy_(draw(tensor.shape, generator=generator, device=tensor.device) * (square / fans) ** 0.5)

    return fill_


xavier_uniform_, xavier_normal_ = filler(rand_around_0, 6, True), filler(torch.randn, 2, True)
kaiming_uniform_, kaiming_normal_ = filler(rand_around_0, 6, False), filler(torch.randn, 2, False)
