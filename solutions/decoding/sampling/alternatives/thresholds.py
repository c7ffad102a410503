"""The smallest logit that stays decides for its row; drawn by the inverse of the distribution function."""

import torch


def filter_logits(logits, temperature=1.0, top_k=None, top_p=None):
    assert temperature >= 0 and (top_k is None or top_k >= 1) and (top_p is None or 0 < top_p <= 1)
    if temperature == 0:
        return logits.masked_fill(logits < logits.amax(-1, keepdim=True), -torch.inf)
    z = logits.double() / temperature
    if top_k is not None:
        z = torch.where(z < z.topk(min(top_k, z.shape[-1])).values[..., -1:], -torch.inf, z)
    if top_p is not None:
        ordered = z.sort(-1, descending=True).values
        sums = ordered.softmax(-1).cumsum(-1)
        crossing = (sums < top_p).sum(-1, keepdim=True).clamp_max(z.shape[-1] - 1)
        z = torch.where(z < ordered.gather(-1, crossing), -torch.inf, z)
    return z.to(logits.dtype)


def sample(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    sums = filter_logits(logits, temperature, top_k, top_p).double().softmax(-1).cumsum(-1)
    u = torch.rand(sums[..., :1].shape, generator=generator, dtype=torch.float64, device=sums.device)
    return torch.searchsorted(sums, u * sums[..., -1:], right=True).squeeze(-1)
