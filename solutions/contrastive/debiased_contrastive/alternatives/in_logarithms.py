"""log g by log-sum-exp and log1p, and the loss as a softplus. Half precision goes through float32."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def debiased_info_nce(features: Tensor, temperature: float = 0.5, tau_plus: float = 0.1) -> Tensor:
    if features.ndim != 2 or features.size(0) % 2 == 1 or temperature <= 0 or tau_plus < 0 or tau_plus >= 1:
        raise ValueError("features should be (2N, D), the temperature above 0, and tau_plus from 0 to below 1")
    M = len(features) - 2
    if M == 0:
        return 0 * features.sum()
    unit = F.normalize(features.float() if features.dtype.itemsize == 2 else features, dim=1)
    logits = unit @ unit.T / temperature
    row = torch.arange(len(unit), device=unit.device)
    other = row.roll(len(unit) // 2)
    positive = logits[row, other]
    log_mean = logits.index_put((row, row), logits.new_tensor(-torch.inf))
    log_mean = log_mean.index_put((row, other), logits.new_tensor(-torch.inf)).logsumexp(1) - math.log(M)
    share = (math.log(tau_plus) if tau_plus else -math.inf) + positive - log_mean
    above = share < 0
    rest = torch.where(above, share, -1.0).expm1().neg().log() - math.log1p(-tau_plus)  # no NaN in what is not taken
    log_g = torch.where(above, log_mean + rest, -torch.inf).clamp(min=-1 / temperature)
    return F.softplus(log_g + math.log(M) - positive).mean().to(features.dtype)
