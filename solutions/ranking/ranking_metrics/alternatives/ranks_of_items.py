"""Ranks of the items rather than sorted grades: the inverse of the stable order."""
import torch

def ranks_of(scores, relevance, mask):
    if scores.dim() != 2 or relevance.shape != scores.shape or (mask is not None and mask.shape != scores.shape):
        raise ValueError("shapes")
    if scores.isnan().any() or (relevance < 0).any():
        raise ValueError("values")
    real = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    order = torch.sort(-scores, dim=1, stable=True).indices
    order = order.gather(1, torch.sort((~real).gather(1, order).to(torch.uint8), dim=1, stable=True).indices)
    ranks = torch.empty_like(order)
    ranks.scatter_(1, order, torch.arange(1, scores.shape[1] + 1, device=scores.device).expand_as(order))
    return ranks, real

def ndcg_at_k(scores, relevance, k=None, gain="linear", mask=None):
    ranks, real = ranks_of(scores, relevance, mask)
    if k is not None and k < 1:
        raise ValueError("k")
    if gain not in {"linear", "exp2"}:
        raise ValueError("gain")
    k = scores.shape[1] if k is None else k
    rel = relevance.to(torch.float64)
    gains = torch.where(real, rel if gain == "linear" else torch.exp2(rel) - 1, 0.0)
    weight = torch.where(ranks <= k, 1 / torch.log2(ranks.double() + 1), 0.0)
    ideal = gains.topk(min(k, gains.shape[1]), dim=1).values
    ideal = ideal @ (1 / torch.arange(2, ideal.shape[1] + 2, device=rel.device).double().log2())
    return ((gains * weight).sum(1) / ideal).nan_to_num(0.0)

def recall_at_k(scores, relevance, k, mask=None):
    ranks, real = ranks_of(scores, relevance, mask)
    if k < 1:
        raise ValueError("k")
    good = real & (relevance > 0)
    return (good & (ranks <= k)).sum(1).double() / good.sum(1).clamp(min=1)

def reciprocal_rank(scores, relevance, mask=None):
    ranks, real = ranks_of(scores, relevance, mask)
    good = real & (relevance > 0)
    first = ranks.double().masked_fill(~good, torch.inf).amin(1)
    return 1 / first
