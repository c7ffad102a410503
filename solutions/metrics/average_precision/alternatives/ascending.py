"""Sorts upwards: what is not below a threshold is accepted. Asserts; the average is a dot product."""

import torch


def precision_recall_curve(y_true, y_score):
    n = y_true.numel()
    assert y_true.dim() == 1 and y_score.shape == (n,) and n > 0
    assert not torch.isnan(y_score).any() and set(y_true.unique().tolist()) <= {0, 1}
    values, idx = torch.sort(y_score)
    y = y_true.double()[idx]
    first = torch.ones(n, dtype=torch.bool, device=y.device)
    first[1:] = values[1:] > values[:-1]
    total = y.sum()
    tp = total - (torch.cumsum(y, 0) - y)[first]
    recall = tp / total if total else torch.ones_like(tp)
    end = torch.tensor([1.0, 0.0], dtype=torch.float64, device=y.device)
    accepted = n - torch.arange(n, device=y.device)[first]
    return torch.cat((tp / accepted, end[:1])), torch.cat((recall, end[1:])), values[first]


def average_precision(y_true, y_score):
    precision, recall, _ = precision_recall_curve(y_true, y_score)
    return torch.dot(precision[:-1], -torch.diff(recall))
