"""One object for each function: uniform numbers in float64, put through the inverse of the distribution function."""

import torch


class Filler:
    def __init__(self, gain, mode, quantile):
        self.gain, self.mode, self.quantile = gain, mode, quantile

    def __call__(self, tensor, generator=None):
        fan_in, fan_out = tensor.flatten(1).shape[1], tensor.transpose(0, 1).flatten(1).shape[1]
        n = fan_in if self.mode == "fan_in" else (fan_in + fan_out) / 2
        u = torch.rand(tensor.shape, generator=generator, dtype=torch.float64, device=tensor.device).clamp_min(2**-54)
        tensor.detach().copy_(self.quantile(u) * self.gain / n**0.5)
        return tensor


flat, bell = (lambda u: (2 * u - 1) * 3**0.5), torch.special.ndtri
xavier_uniform_ = Filler(1, "fan_avg", flat)
xavier_normal_ = Filler(1, "fan_avg", bell)
kaiming_uniform_ = Filler(2**0.5, "fan_in", flat)
kaiming_normal_ = Filler(2**0.5, "fan_in", bell)
