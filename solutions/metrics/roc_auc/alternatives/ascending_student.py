"""Sorts upwards and turns everything over at the end; long-winded, with the area as a dot product."""

import torch


def roc_curve(y_true, y_score):
    # 1) check everything
    if y_true.shape[0] != y_score.shape[0]:
        raise ValueError("different lengths")
    if y_true.shape[0] == 0:
        raise ValueError("empty")
    if bool(torch.isnan(y_score.sum())) and bool(y_score.isnan().any()):
        raise ValueError("nan")
    kinds = set(torch.unique(y_true).tolist())
    if not kinds <= {0, 1}:
        raise ValueError("labels " + str(kinds))
    if len(kinds) != 2:
        raise ValueError("only one class: " + str(kinds))

    # 2) sort and count from below
    values, idx = torch.sort(y_score)
    y = y_true.float().to(torch.float64)[idx]
    num_pos = y.sum()
    num_neg = (1.0 - y).sum()
    pos_before = torch.cumsum(y, 0) - y
    neg_before = torch.cumsum(1.0 - y, 0) - (1.0 - y)

    # 3) a threshold at the first of each run accepts all from there on
    is_first = torch.ones(len(values), dtype=torch.bool, device=values.device)
    is_first[1:] = values[1:] > values[:-1]
    tpr = (num_pos - pos_before[is_first]) / num_pos
    fpr = (num_neg - neg_before[is_first]) / num_neg
    thr = values[is_first]

    # 4) the point that accepts nothing, and turn over
    zero = y.new_zeros(1)
    fpr = torch.cat((fpr, zero)).flip(0)
    tpr = torch.cat((tpr, zero)).flip(0)
    thr = torch.cat((thr, torch.tensor([float("inf")]).to(thr))).flip(0)
    return fpr, tpr, thr


def roc_auc(y_true, y_score):
    fpr, tpr, _ = roc_curve(y_true, y_score)
    widths = fpr[1:] - fpr[:-1]
    heights = (tpr[1:] + tpr[:-1]) / 2
    return torch.dot(widths, heights)
