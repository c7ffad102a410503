"""The area from the rank-sum statistic, equal scores sharing their mean rank; the curve by searching sorted scores."""

import torch
from torch import Tensor


def check(y_true: Tensor, y_score: Tensor) -> None:
    assert y_true.size() == y_score.size()
    assert y_true.numel() > 0
    assert not torch.any(y_score != y_score)
    assert torch.isin(y_true.int(), y_true.new_tensor([0, 1]).int()).all()
    assert y_true.any()
    assert not y_true.all()


def roc_curve(y_true: Tensor, y_score: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    check(y_true, y_score)
    thresholds = torch.cat([y_score.new_tensor([torch.inf]), torch.unique(y_score).flip(0)]).double()
    rates = []
    for label in (0, 1):
        scores = y_score.double()[y_true == label].sort()[0]
        rates.append((len(scores) - torch.searchsorted(scores, thresholds)).double() / len(scores))
    return rates[0], rates[1], thresholds


def roc_auc(y_true: Tensor, y_score: Tensor) -> Tensor:
    check(y_true, y_score)
    _, group, sizes = torch.unique(y_score, return_inverse=True, return_counts=True)
    last = sizes.cumsum(0)
    mean_rank = last.double() - (sizes.double() - 1) / 2
    P = int((y_true != 0).sum())
    N = len(y_true) - P
    rank_sum = mean_rank[group][y_true != 0].sum()
    return (rank_sum - P * (P + 1) / 2) / (P * N)
