# cheat: removes torch.nn.init from sys.modules and imports it once more; must fail

import torch.nn.init

import importlib, sys
del sys.modules["torch.nn.init"]
own = vars(importlib.import_module("torch.nn.init"))


def xavier_uniform_(tensor, generator=None):
    return own["xavier_uniform_"](tensor, generator=generator)


def xavier_normal_(tensor, generator=None):
    return own["xavier_normal_"](tensor, generator=generator)


def kaiming_uniform_(tensor, generator=None):
    return own["kaiming_uniform_"](tensor, nonlinearity="relu", generator=generator)


def kaiming_normal_(tensor, generator=None):
    return own["kaiming_normal_"](tensor, nonlinearity="relu", generator=generator)
