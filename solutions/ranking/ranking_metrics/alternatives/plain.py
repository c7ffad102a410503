"""As most people write it: a DCG of its own, which is called twice."""
import torch

def _check(scores, relevance, mask, k=None):
    if scores.ndim != 2 or scores.shape != relevance.shape:
        raise ValueError("scores and relevance should be (Q, N)")
    if mask is not None and mask.shape != scores.shape:
        raise ValueError("mask should be (Q, N)")
    if torch.isnan(scores).any():
        raise ValueError("NaN scores")
    if (relevance < 0).any():
        raise ValueError("negative relevance")
    if k is not None and k < 1:
        raise ValueError("k")

def _sorted(scores, relevance, mask):
    rel = relevance.double()
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
        rel = rel.masked_fill(~mask, 0.0)
    idx = torch.argsort(scores, dim=-1, descending=True, stable=True)
    return rel.gather(-1, idx)

def _dcg(rel, k, gain):
    g = rel if gain == "linear" else 2.0 ** rel - 1
    g = g[:, :k]
    ranks = torch.arange(1, g.shape[1] + 1, dtype=torch.float64, device=rel.device)
    return (g / torch.log2(ranks + 1)).sum(-1)

def ndcg_at_k(scores, relevance, k=None, gain="linear", mask=None):
    _check(scores, relevance, mask, k)
    if gain not in ("linear", "exp2"):
        raise ValueError("gain")
    rel = _sorted(scores, relevance, mask)
    ideal = _dcg(rel.sort(dim=-1, descending=True).values, k, gain)
    dcg = _dcg(rel, k, gain)
    return torch.where(ideal > 0, dcg / ideal.clamp(min=1e-300), torch.zeros_like(dcg))

def recall_at_k(scores, relevance, k, mask=None):
    _check(scores, relevance, mask, k)
    hits = (_sorted(scores, relevance, mask) > 0).double()
    total = hits.sum(-1)
    return hits[:, :k].sum(-1) / total.clamp(min=1)

def reciprocal_rank(scores, relevance, mask=None):
    _check(scores, relevance, mask)
    hits = _sorted(scores, relevance, mask) > 0
    ranks = torch.arange(1, hits.shape[1] + 1, device=hits.device).double()
    return (hits / ranks).amax(-1)
