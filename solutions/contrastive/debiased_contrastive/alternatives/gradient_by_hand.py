"""An autograd.Function of the logits, with the gradient of each estimate above the floor."""

import torch
import torch.nn.functional as F


class Debiased(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, t, tau):
        rows, m = len(logits), len(logits) - 2
        i = torch.arange(rows, device=logits.device)
        j = i.roll(rows // 2)
        positive, negatives = logits[i, j], logits.clone()
        negatives[i, i] = negatives[i, j] = -torch.inf
        c = torch.maximum(positive, negatives.max(1).values)
        p, e = (positive - c).exp(), (negatives - c[:, None]).exp()
        estimate, floor = (e.sum(1) - m * tau * p) / (1 - tau), m * (-1 / t - c).exp()
        above = (estimate > floor).to(logits.dtype)
        total = p + torch.maximum(estimate, floor)
        grad = e * (above / total / (1 - tau))[:, None]
        grad[i, j] = p / total * (1 - above * (m * tau / (1 - tau))) - 1
        ctx.save_for_backward(grad / rows)
        return (total.log() + c - positive).mean()

    @staticmethod
    def backward(ctx, above):
        return above * ctx.saved_tensors[0], None, None


def debiased_info_nce(features, temperature=0.5, tau_plus=0.1):
    assert features.dim() == 2 and len(features) % 2 == 0 and temperature > 0 and 0 <= tau_plus < 1
    z = F.normalize(features, dim=1)
    return Debiased.apply(z @ z.T / temperature, temperature, tau_plus)
