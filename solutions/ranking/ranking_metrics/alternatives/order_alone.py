"""Padding is masked in the gains; the order of negated scores is all that is shared."""
import torch

def ndcg_at_k(scores, relevance, k=None, gain="linear", mask=None):
    perm = _perm(scores, relevance, mask)
    if gain not in ("linear", "exp2"):
        raise ValueError(f"gain {gain}")
    if k is not None and not k >= 1:
        raise ValueError(f"k {k}")
    n = scores.shape[1]
    k = n if k is None or k > n else k
    gains = relevance.double() if gain == "linear" else 2 ** relevance.double() - 1
    if mask is not None:
        gains = gains * mask.double()
    discount = 1 / torch.log(torch.arange(n).double() + 2) * torch.log(torch.tensor(2.0, dtype=torch.float64))
    discount[k:] = 0
    dcg = (torch.gather(gains, 1, perm) * discount).sum(1)
    idcg = (gains.sort(1, descending=True).values * discount).sum(1)
    return dcg / idcg.where(idcg > 0, torch.inf)

def _perm(scores, relevance, mask):
    if scores.dim() != 2 or relevance.shape != scores.shape or (mask is not None and mask.shape != scores.shape):
        raise ValueError("shape")
    if scores.isnan().any():
        raise ValueError("scores")
    if (relevance.double() < 0).any():
        raise ValueError("relevance")
    keys = scores.double() if mask is None else scores.double().masked_fill(mask.logical_not(), -torch.inf)
    return keys.neg().argsort(dim=1, stable=True)

def recall_at_k(scores, relevance, k, mask=None):
    if k < 1:
        raise ValueError("k")
    perm = _perm(scores, relevance, mask)
    positive = relevance > 0 if mask is None else (relevance > 0) & mask
    return torch.nan_to_num(positive.gather(1, perm[:, :k]).double().sum(1) / positive.double().sum(1), nan=0.0)

def reciprocal_rank(scores, relevance, mask=None):
    perm = _perm(scores, relevance, mask)
    positive = relevance > 0 if mask is None else (relevance > 0) & mask
    hit = positive.gather(1, perm)
    seen = hit.double().cumsum(1).clamp(max=1)
    misses = (1 - seen).sum(1)
    return seen[:, -1] / (misses + 1)
