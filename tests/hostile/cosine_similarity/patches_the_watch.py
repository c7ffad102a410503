# cheat: takes the profile function off and switches torch's profiler off, then calls what is banned; must fail
import sys

import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    sys.setprofile(None)
    torch._C._autograd._disable_profiler_legacy()
    return torch.nn.functional.cosine_similarity(x, y, dim, eps)
