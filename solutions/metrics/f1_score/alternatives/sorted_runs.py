"""Sorts the labels and searches the ends of each class; every average is a matrix product with the classes."""

import torch


def counts(labels, C):
    edges = torch.arange(C + 1, device=labels.device)
    return torch.searchsorted(labels.sort().values, edges).diff()


def precision_recall_f1(y_true, y_pred, average="binary", num_classes=None):
    if y_true.dim() != 1 or y_pred.dim() != 1:
        raise ValueError(f"expected vectors, got {y_true.dim()}-D and {y_pred.dim()}-D")
    if y_true.numel() != y_pred.numel():
        raise ValueError(f"expected equal lengths, got {y_true.numel()} and {y_pred.numel()}")
    if not y_true.numel():
        raise ValueError("expected at least one sample")
    y_true, y_pred = y_true.to(torch.long), y_pred.to(torch.long)
    C = num_classes if num_classes is not None else 1 + max(y_true.max().item(), y_pred.max().item())
    match average:
        case "binary":
            if (y_true > 1).any() or (y_pred > 1).any():
                raise ValueError("expected labels 0 and 1")
            y_true, y_pred, C = y_true.bool().long(), y_pred.bool().long(), 2
        case "micro" | "macro" | "weighted" | None:
            pass
        case _:
            raise ValueError(f"unknown average: {average}")
    hit, predicted, actual = counts(y_true[y_true == y_pred], C), counts(y_pred, C), counts(y_true, C)
    if average == "micro":
        same = hit.sum() / y_true.numel()
        return same, same.clone(), same.clone()
    precision = hit / torch.maximum(predicted, torch.ones_like(predicted))
    recall = hit / torch.maximum(actual, torch.ones_like(actual))
    f1 = 2 * hit / torch.maximum(predicted + actual, torch.ones_like(actual))
    if average is None:
        return precision, recall, f1
    weights = {"binary": precision.new_tensor([0.0, 1.0]), "macro": precision.new_full((C,), 1 / C)}
    weights["weighted"] = actual / actual.sum()
    mixed = torch.stack([precision, recall, f1]) @ weights[average].to(precision.dtype)
    return mixed[0], mixed[1], mixed[2]
