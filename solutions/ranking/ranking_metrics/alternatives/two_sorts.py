"""Two stable sorts; cumulative sums looked up at k."""
import torch
from torch import Tensor

def order(scores: Tensor, mask) -> Tensor:
    first = scores.argsort(dim=1, descending=True, stable=True)
    if mask is None:
        return first
    return first.gather(1, mask.gather(1, first).to(torch.int8).argsort(dim=1, descending=True, stable=True))

def validated(scores, relevance, mask):
    Q, N = scores.shape if scores.dim() == 2 else (None, None)
    for t in (relevance, mask):
        if t is not None and tuple(t.shape) != (Q, N):
            raise ValueError("shape")
    if not bool((scores == scores).all()):
        raise ValueError("nan")
    if bool(relevance.lt(0).any()):
        raise ValueError("neg")
    rel = relevance.double() if mask is None else torch.where(mask, relevance.double(), 0.0)
    return rel.gather(1, order(scores, mask)), rel

def at(x, k):
    return x.cumsum(1)[:, min(k, x.shape[1]) - 1]

def ndcg_at_k(scores, relevance, k=None, gain="linear", mask=None):
    got, rel = validated(scores, relevance, mask)
    N = got.shape[1]
    if k is None:
        k = N
    if k <= 0:
        raise ValueError("k")
    gains = {"linear": lambda r: r, "exp2": lambda r: torch.expm1(r * 0.6931471805599453)}
    if gain not in gains:
        raise ValueError("gain")
    g = gains[gain]
    d = torch.log2(torch.linspace(2, N + 1, N, dtype=torch.float64))
    top = at(g(got) / d, k)
    best = at(g(rel.sort(dim=1, descending=True)[0]) / d, k)
    zero = best == 0
    return torch.where(zero, 0.0, top / torch.where(zero, 1.0, best))

def recall_at_k(scores, relevance, k, mask=None):
    got, _ = validated(scores, relevance, mask)
    if k <= 0:
        raise ValueError("k")
    hit = got.gt(0).double()
    n = hit.sum(1)
    return torch.where(n > 0, at(hit, k) / n, n)

def reciprocal_rank(scores, relevance, mask=None):
    got, _ = validated(scores, relevance, mask)
    hit = got.gt(0)
    rank = hit.int().argmax(1) + 1
    return hit.any(1).double() / rank.double()
