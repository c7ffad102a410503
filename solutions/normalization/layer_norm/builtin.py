"""torch.nn.functional.layer_norm."""

from torch.nn.functional import layer_norm as layer_norm
