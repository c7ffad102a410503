"""The curve in the dtype of the scores; the area from whole counts, since that curve is rounded."""

import torch


class NotUsable(ValueError):
    pass


def counts(y_true, y_score):
    if y_true.ndim != 1 or y_true.shape != y_score.shape or not y_true.numel():
        raise NotUsable("y_true and y_score should be two vectors of one length, at least 1")
    if y_true.dtype != torch.bool and not bool(((y_true == 0) + (y_true == 1)).all()):
        raise NotUsable("labels should be 0 or 1")
    if torch.isnan(y_score).sum() > 0:
        raise NotUsable("NaN cannot be ranked")
    order = torch.argsort(-y_score, stable=True)
    hits, sorted_scores = y_true.to(torch.int64).take(order), y_score.take(order)
    ends = torch.nonzero(torch.diff(sorted_scores)).flatten()
    ends = torch.nn.functional.pad(ends, (0, 1), value=len(order) - 1)
    tps = hits.cumsum(0).take(ends)
    fps = ends + 1 - tps
    if tps[-1] == 0 or fps[-1] == 0:
        raise NotUsable("both classes should occur")
    pad = torch.nn.functional.pad
    return pad(fps, (1, 0)), pad(tps, (1, 0)), pad(sorted_scores.take(ends), (1, 0), value=torch.inf)


def roc_curve(y_true, y_score):
    fps, tps, thresholds = counts(y_true, y_score)
    fpr, tpr = fps / fps[-1].double(), tps / tps[-1].double()
    return fpr.to(y_score.dtype), tpr.to(y_score.dtype), thresholds


def roc_auc(y_true, y_score):
    fps, tps, _ = counts(y_true, y_score)
    twice = (fps[1:] - fps[:-1]) * (tps[1:] + tps[:-1])
    return twice.sum().double() / 2 / fps[-1] / tps[-1]
