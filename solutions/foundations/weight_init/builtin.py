"""torch.nn.init's four functions, where `nonlinearity="relu"` gives the gain √2."""

from functools import partial

from torch.nn import init
from torch.nn.init import xavier_normal_ as xavier_normal_
from torch.nn.init import xavier_uniform_ as xavier_uniform_

kaiming_normal_ = partial(init.kaiming_normal_, nonlinearity="relu")
kaiming_uniform_ = partial(init.kaiming_uniform_, nonlinearity="relu")
