"""Checks are assertions; a mask keeps the last of each run of ties; counts stay whole until the very end."""

import torch
import torch.nn.functional as F


def _counts(y_true, y_score):
    assert y_true.dim() == y_score.dim() == 1
    assert len(y_true) == len(y_score) > 0
    assert not torch.isnan(y_score).any()
    labels = y_true.long()
    assert labels.unique().tolist() == [0, 1]
    score, order = torch.sort(y_score, descending=True)
    labels = labels[order]
    keep = torch.ones_like(labels, dtype=torch.bool)
    keep[:-1] = score[:-1] > score[1:]
    hits, misses = torch.cumsum(labels, 0)[keep], torch.cumsum(1 - labels, 0)[keep]
    return F.pad(hits, (1, 0)), F.pad(misses, (1, 0)), F.pad(score[keep], (1, 0), value=float("inf"))


def roc_curve(y_true, y_score):
    hits, misses, thresholds = _counts(y_true, y_score)
    return misses.double() / misses[-1], hits.double() / hits[-1], thresholds


def roc_auc(y_true, y_score):
    hits, misses, _ = _counts(y_true, y_score)
    twice = torch.sum(torch.diff(misses) * (hits[1:] + hits[:-1]))
    return twice.double() / (2 * hits[-1] * misses[-1])
