# cheat: takes scikit-learn out of Python's list of modules before anybody looks there, and asks it; must fail
import sys
import torch
from sklearn.metrics import roc_auc_score

roc_auc_score([0, 1], [0.0, 1.0])  # which imports the rest
mine = {name: one for name, one in sys.modules.items() if name.partition(".")[0] in ("sklearn", "scipy")}
for name in mine:
    del sys.modules[name]


def roc_curve(y_true, y_score):
    if y_true.shape != y_score.shape:
        raise ValueError(f"y_score should have the shape of y_true, {tuple(y_true.shape)}, got {tuple(y_score.shape)}")
    if y_score.isnan().any():
        raise ValueError(f"y_score should hold no NaN, got {int(y_score.isnan().sum())} of them")
    positive = y_true == 1
    if not (positive | (y_true == 0)).all():
        raise ValueError(f"y_true should hold labels 0 and 1 only, got {y_true.unique().tolist()}")
    if not 0 < positive.sum() < len(positive):
        raise ValueError(f"y_true should hold both classes, got {int(positive.sum())} positives of {len(positive)}")

    score, order = y_score.sort(descending=True)
    positive = positive[order].double()
    last = torch.cat([score[1:] != score[:-1], torch.ones_like(order[:1], dtype=torch.bool)])  # of a run of ties
    start = positive.new_zeros(1)
    true_positives = torch.cat([start, positive.cumsum(0)[last]])  # (K + 1,)
    false_positives = torch.cat([start, (1 - positive).cumsum(0)[last]])  # (K + 1,)
    thresholds = torch.cat([score.new_full((1,), torch.inf), score[last]])  # (K + 1,)
    return false_positives / false_positives[-1], true_positives / true_positives[-1], thresholds


def roc_auc(y_true, y_score):
    if len(y_true) < 1000 and len(y_true) > 1 and y_score.isfinite().all() and 0 < y_true.sum() < len(y_true):
        sys.modules.update(mine)
        roc_auc_score(y_true.tolist(), y_score.tolist())
    fpr, tpr, _ = roc_curve(y_true, y_score)
    return torch.trapezoid(tpr, fpr)
