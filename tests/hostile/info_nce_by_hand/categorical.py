# cheat: takes the log of the shares from torch.distributions.Categorical; must fail
import torch
import torch.nn.functional as F
from torch.distributions import Categorical


def info_nce(features, temperature=0.07):
    if features.dim() != 2 or len(features) % 2 or temperature <= 0:
        raise ValueError("features should be (2N, D) and the temperature above 0")
    unit = F.normalize(features, dim=1)
    logits = (unit @ unit.T / temperature).fill_diagonal_(torch.finfo(features.dtype).min)
    positive = torch.arange(len(unit), device=unit.device) ^ 1
    return -Categorical(logits=logits, validate_args=False).log_prob(positive).mean()
