"""Normalised DCG, recall and reciprocal rank. Statement: katas/ranking/ranking_metrics/README.md."""

import torch
from torch import Tensor


def best_first(scores: Tensor, relevance: Tensor, mask: Tensor | None) -> Tensor:
    """The grades in float64, (Q, N), the item with the highest score first; padding comes last, with grade 0."""
    # TODO: sort by descending score; equal scores keep their order.
    # TODO: then make it robust: refuse bad arguments; padding counts nowhere; grades may have any dtype.
    raise NotImplementedError


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
    # TODO: the gains in the order of the scores, and in the best order.
    # TODO: discount each rank, add up the first k, and divide.
    # TODO: then make it robust: refuse k below 1 and other gains; what is 0/0?
    raise NotImplementedError


def recall_at_k(scores: Tensor, relevance: Tensor, k: int, mask: Tensor | None = None) -> Tensor:
    """Recall@k = #{i ≤ k: rel_i > 0} / #{i: rel_i > 0}

    Args:
        scores, relevance, mask: as for ndcg_at_k.
        k: how many items are retrieved, k ≥ 1. A larger number than N takes all.
    Returns: (Q,), in float64; 0 for a query without a relevant item.
    Raises: ValueError if the shapes disagree, k < 1, a score is NaN or a grade is negative.
    """
    # TODO: count the relevant items among the first k, and all of them.
    raise NotImplementedError


def reciprocal_rank(scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
    """RR = 1 / min{i: rel_i > 0}

    Args:
        scores, relevance, mask: as for ndcg_at_k.
    Returns: (Q,), in float64; 0 for a query without a relevant item. The mean over queries is the MRR.
    Raises: ValueError if the shapes disagree, a score is NaN or a grade is negative.
    """
    # TODO: the rank of the first relevant item, counted from 1.
    raise NotImplementedError
