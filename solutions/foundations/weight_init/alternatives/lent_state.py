"""Closures that draw from the global generator alone, with a given one's state copied in; they write through .data."""

import torch


def initialiser(kaiming, method, square):
    def fill(tensor, generator=None):
        if generator is not None:
            with torch.random.fork_rng(devices=[]):
                torch.set_rng_state(generator.get_state())
                fill(tensor)
                generator.set_state(torch.get_rng_state())
            return tensor
        out, inn, *kernel = tensor.shape
        for side in kernel:
            out, inn = out * side, inn * side
        getattr(tensor.data, method)(*((-1, 1) if method == "uniform_" else (0, 1)))
        tensor.data.mul_((square / (inn if kaiming else inn + out)) ** 0.5)
        return tensor

    return fill


xavier_uniform_, xavier_normal_ = initialiser(False, "uniform_", 6), initialiser(False, "normal_", 2)
kaiming_uniform_, kaiming_normal_ = initialiser(True, "uniform_", 6), initialiser(True, "normal_", 2)
