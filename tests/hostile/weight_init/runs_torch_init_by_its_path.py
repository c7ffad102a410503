# cheat: runs the file of torch.nn.init by runpy; must be flagged
import runpy
import torch.nn.init

own = runpy.run_path(torch.nn.init.__file__)


def xavier_uniform_(tensor, generator=None):
    return own["xavier_uniform_"](tensor, generator=generator)


def xavier_normal_(tensor, generator=None):
    return own["xavier_normal_"](tensor, generator=generator)


def kaiming_uniform_(tensor, generator=None):
    return own["kaiming_uniform_"](tensor, nonlinearity="relu", generator=generator)


def kaiming_normal_(tensor, generator=None):
    return own["kaiming_normal_"](tensor, nonlinearity="relu", generator=generator)
