"""torch's own optimisers, with the rate of their one group of parameters as an attribute."""

import torch


class WithRate:
    @property
    def lr(self):
        return self.param_groups[0]["lr"]

    @lr.setter
    def lr(self, value):
        self.param_groups[0]["lr"] = value


class SGD(WithRate, torch.optim.SGD):
    def __init__(self, params, lr, momentum=0.0, weight_decay=0.0, nesterov=False):
        super().__init__(params, lr, momentum, weight_decay=weight_decay, nesterov=nesterov)


class Adam(WithRate, torch.optim.Adam):
    pass


class AdamW(WithRate, torch.optim.AdamW):
    pass
