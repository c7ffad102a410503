"""torch.nn.init's four functions; the default gain of kaiming_uniform_ and kaiming_normal_ is √2."""

from torch.nn.init import kaiming_normal_, kaiming_uniform_, xavier_normal_, xavier_uniform_

__all__ = ["kaiming_normal_", "kaiming_uniform_", "xavier_normal_", "xavier_uniform_"]
