"""The average is the mean of the precisions at the positives, each looked up by searching the sorted scores."""

import torch


def reach(scores, thresholds):
    return (len(scores) - torch.searchsorted(scores.sort()[0], thresholds)).double()


def split(y_true, y_score):
    assert y_true.dim() == y_score.dim() == 1 and 0 < y_true.size(0) == y_score.size(0)
    assert (y_score == y_score).all() and torch.logical_xor(y_true == 0, y_true == 1).all()
    return y_score.double(), y_score.double()[y_true != 0]


def precision_recall_curve(y_true, y_score):
    scores, positives = split(y_true, y_score)
    thresholds, one = scores.unique(), scores.new_ones(1)
    tp = reach(positives, thresholds)
    recall = (tp / len(positives)).nan_to_num(nan=1.0)
    return torch.cat([tp / reach(scores, thresholds), one]), torch.cat([recall, one - 1]), thresholds


def average_precision(y_true, y_score):
    scores, positives = split(y_true, y_score)
    return (reach(positives, positives) / reach(scores, positives)).sum() / max(1, len(positives))
