"""Normalised DCG, recall and reciprocal rank. Statement: katas/ranking/ranking_metrics/README.md."""

import torch
from torch import Tensor


def best_first(scores: Tensor, relevance: Tensor, mask: Tensor | None) -> Tensor:
    """The grades in float64, (Q, N), the item with the highest score first; padding comes last, with grade 0."""
    # --- solution
    # TODO: sort by descending score; equal scores keep their order.
    # TODO: then make it robust: refuse bad arguments; padding counts nowhere; grades may have any dtype.
    if scores.dim() != 2 or relevance.shape != scores.shape:
        raise ValueError("scores and relevance should have one shape, (Q, N)")
    if mask is not None and mask.shape != scores.shape:
        raise ValueError(f"mask should have the shape of scores, got {tuple(mask.shape)}")
    if scores.isnan().any():
        raise ValueError("scores should hold no NaN")
    if (relevance < 0).any():
        raise ValueError("relevance should not be negative")
    grades = relevance.double()
    if mask is not None:
        scores, grades = scores.masked_fill(~mask, -torch.inf), grades.masked_fill(~mask, 0)
    order = scores.argsort(dim=1, descending=True, stable=True)  # (Q, N)
    return grades.gather(1, order)
    # --- end


def ndcg_at_k(
    scores: Tensor, relevance: Tensor, k: int | None = None, gain: str = "linear", mask: Tensor | None = None
) -> Tensor:
    """nDCG = DCG / IDCG,  DCG = Σ_{i ≤ k} g(rel_i) / log₂(i + 1)

    Args:
        scores: (Q, N), the higher, the earlier an item comes in its query's list; equal scores keep their order.
        relevance: (Q, N) grades of any dtype, 0 or more.
        k: how many items count, k ≥ 1. None, or a larger number than N, takes all.
        gain: g, "linear" for rel or "exp2" for 2^rel − 1.
        mask: (Q, N), bool. True is a real item, False is padding; None: all are real.
    Returns: (Q,), in float64; 0 for a query without a relevant item. IDCG is the DCG of the items sorted by grade.
    Raises: ValueError if the shapes disagree, k < 1, gain is unknown, a score is NaN or a grade is negative.
    Source: Järvelin and Kekäläinen (2002), with the discount of Burges et al. (2005).
    """
    # --- solution
    # TODO: the gains in the order of the scores, and in the best order.
    # TODO: discount each rank, add up the first k, and divide.
    # TODO: then make it robust: refuse k below 1 and other gains; what is 0/0?
    if k is not None and k < 1:
        raise ValueError(f"k should be 1 or more, got {k}")
    if gain not in ("linear", "exp2"):
        raise ValueError(f'gain should be "linear" or "exp2", got {gain!r}')
    grades = best_first(scores, relevance, mask)
    gains = grades if gain == "linear" else grades.exp2() - 1
    best = gains.sort(dim=1, descending=True).values
    ranks = torch.arange(1, gains.shape[1] + 1, dtype=torch.float64, device=gains.device)
    discount = 1 / (ranks + 1).log2()
    dcg, ideal = ((each * discount)[:, :k].sum(1) for each in (gains, best))
    return torch.where(ideal > 0, dcg / ideal, 0.0)
    # --- end


def recall_at_k(scores: Tensor, relevance: Tensor, k: int, mask: Tensor | None = None) -> Tensor:
    """Recall@k = #{i ≤ k: rel_i > 0} / #{i: rel_i > 0}

    Args:
        scores, relevance, mask: as for ndcg_at_k.
        k: how many items are retrieved, k ≥ 1. A larger number than N takes all.
    Returns: (Q,), in float64; 0 for a query without a relevant item.
    Raises: ValueError if the shapes disagree, k < 1, a score is NaN or a grade is negative.
    """
    # --- solution
    # TODO: count the relevant items among the first k, and all of them.
    if k < 1:
        raise ValueError(f"k should be 1 or more, got {k}")
    relevant = (best_first(scores, relevance, mask) > 0).double()
    return relevant[:, :k].sum(1) / relevant.sum(1).clamp(min=1)
    # --- end


def reciprocal_rank(scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
    """RR = 1 / min{i: rel_i > 0}

    Args:
        scores, relevance, mask: as for ndcg_at_k.
    Returns: (Q,), in float64; 0 for a query without a relevant item. The mean over queries is the MRR.
    Raises: ValueError if the shapes disagree, a score is NaN or a grade is negative.
    """
    # --- solution
    # TODO: the rank of the first relevant item, counted from 1.
    relevant = best_first(scores, relevance, mask) > 0
    ranks = torch.arange(1, relevant.shape[1] + 1, dtype=torch.float64, device=relevant.device)
    return (relevant / ranks).amax(1)
    # --- end
