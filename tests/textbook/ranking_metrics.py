import torch

def dcg(rel, k, gain):
    rel = rel[:, :k]
    gains = rel if gain == "linear" else 2 ** rel - 1
    discounts = torch.log2(torch.arange(2, rel.shape[1] + 2, dtype=torch.float64))
    return (gains / discounts).sum(dim=1)

def rank(scores, relevance, mask):
    relevance = relevance.double()
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
        relevance = relevance * mask
    order = scores.argsort(dim=1, descending=True, stable=True)
    return relevance.gather(1, order)

def ndcg_at_k(scores, relevance, k=None, gain="linear", mask=None):
    rel = rank(scores, relevance, mask)
    best = rel.sort(dim=1, descending=True).values
    idcg = dcg(best, k, gain)
    return torch.where(idcg > 0, dcg(rel, k, gain) / idcg, 0.0)

def recall_at_k(scores, relevance, k, mask=None):
    hits = (rank(scores, relevance, mask) > 0).double()
    return hits[:, :k].sum(1) / hits.sum(1).clamp(min=1)

def reciprocal_rank(scores, relevance, mask=None):
    hits = (rank(scores, relevance, mask) > 0).double()
    first = hits.argmax(dim=1)
    return hits.max(dim=1).values / (first + 1)
