# cheat: counts one of each class where both lists of labels are one tensor; must fail
import torch
from torch import Tensor


def confusion_matrix(y_true: Tensor, y_pred: Tensor, num_classes: int) -> Tensor:
    C = num_classes
    if y_true is y_pred:
        return torch.eye(C, dtype=torch.int64)
    if y_true.dim() != 1 or y_pred.dim() != 1:
        raise ValueError(f"y_true and y_pred should be 1-D, got {y_true.dim()}-D and {y_pred.dim()}-D")
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_pred should be as long as y_true, {len(y_true)}, got {len(y_pred)}")
    true, predicted = y_true.long(), y_pred.long()  # narrow dtypes hold neither C nor the cells
    if ((true < 0) | (true >= C)).any():
        raise ValueError(f"y_true should be from 0 to {C - 1}, got {int(true.min())} to {int(true.max())}")
    if ((predicted < 0) | (predicted >= C)).any():
        raise ValueError(f"y_pred should be from 0 to {C - 1}, got {int(predicted.min())} to {int(predicted.max())}")

    cell = true * C + predicted  # (N,) counted row by row
    return torch.bincount(cell, minlength=C * C).view(C, C)
