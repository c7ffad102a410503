"""A class that keeps the grades in the order of the scores; sums as products with the discount."""
import torch

class Ranking:
    def __init__(self, scores, relevance, mask):
        if scores.dim() != 2:
            raise ValueError("2-D")
        if mask is None:
            mask = scores.new_ones(scores.shape, dtype=torch.bool)
        if not scores.shape == relevance.shape == mask.shape:
            raise ValueError("shapes")
        if scores.isnan().any():
            raise ValueError("NaN")
        if relevance.min() < 0:
            raise ValueError("negative grade")
        keyed = torch.where(mask, scores.double(), -torch.inf)
        self.values, index = keyed.sort(dim=1, descending=True, stable=True)
        self.grades = torch.take_along_dim(torch.where(mask, relevance.double(), 0.0), index, dim=1)

    def dcg(self, grades, k, gain):
        gains = grades if gain == "linear" else grades.exp2().sub(1)
        k = min(k or gains.shape[1], gains.shape[1])
        discount = torch.arange(2.0, k + 2.0, dtype=torch.float64).log2().reciprocal()
        return gains[:, :k] @ discount

def ndcg_at_k(scores, relevance, k=None, gain="linear", mask=None):
    r = Ranking(scores, relevance, mask)
    if k is not None and k < 1:
        raise ValueError("k")
    if gain not in ["linear", "exp2"]:
        raise ValueError("gain")
    dcg = r.dcg(r.grades, k, gain)
    ideal = r.dcg(r.grades.sort(1, True).values, k, gain)
    out = torch.zeros_like(dcg)
    some = ideal > 0
    out[some] = dcg[some] / ideal[some]
    return out

def recall_at_k(scores, relevance, k, mask=None):
    r = Ranking(scores, relevance, mask)
    if k < 1:
        raise ValueError("k")
    n = r.grades.count_nonzero(1)
    return r.grades[:, :k].count_nonzero(1).double() / n.clamp(min=1).double()

def reciprocal_rank(scores, relevance, mask=None):
    r = Ranking(scores, relevance, mask)
    before = ((r.grades > 0).cumsum(1) == 0).sum(1)
    found = before < r.grades.shape[1]
    return torch.where(found, (before + 1).double().reciprocal(), 0.0)
