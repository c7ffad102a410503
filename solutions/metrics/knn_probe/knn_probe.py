"""Accuracy of a nearest-neighbour classifier. Statement: katas/metrics/knn_probe/README.md."""

import torch
import torch.nn.functional as F
from torch import Tensor

CHUNK = 256  # test rows that are compared with the training rows at a time


def knn_accuracy(train_x: Tensor, train_y: Tensor, test_x: Tensor, test_y: Tensor, k: int = 20) -> float:
    """The share of test rows whose label is the most frequent one among the k nearest training rows, by cosine

    Args:
        train_x, test_x: (N, D) and (M, D) features.
        train_y, test_y: (N,) and (M,) int64 labels.
        k: how many neighbours vote; if k is above N, all N vote.
    Returns: a float in [0, 1].
    Raises: ValueError if k < 1, train_x or test_x is not 2-D, their widths differ, or there are not as many labels as
        rows.
    Source: sklearn.neighbors.KNeighborsClassifier(k, metric="cosine").score.
    """
    # --- solution
    # TODO: find the k training rows nearest to each test row, at most CHUNK test rows at a time.
    # TODO: count the votes for each class, and take the class that has most.
    # TODO: return the share of test rows that are predicted correctly.
    # TODO: then make it robust: refuse bad arguments with a ValueError; labels may be large, votes many.
    if k < 1:
        raise ValueError(f"k should be at least 1, got {k}")
    if train_x.dim() != 2 or test_x.dim() != 2:
        raise ValueError(f"train_x and test_x should be 2-D, got {train_x.dim()}-D and {test_x.dim()}-D")
    if train_x.shape[1] != test_x.shape[1]:
        raise ValueError(f"test_x should be as wide as train_x, {train_x.shape[1]}, got {test_x.shape[1]}")
    if len(train_y) != len(train_x):
        raise ValueError(f"train_y should be as long as train_x, {len(train_x)}, got {len(train_y)}")
    if len(test_y) != len(test_x):
        raise ValueError(f"test_y should be as long as test_x, {len(test_x)}, got {len(test_y)}")

    k = min(k, len(train_x))
    unit = F.normalize(train_x, dim=1)
    classes, train_class = train_y.unique(return_inverse=True)  # (C,) ascending, (N,) numbers from 0 to C - 1
    correct = 0
    for start in range(0, len(test_x), CHUNK):
        x, y = test_x[start : start + CHUNK], test_y[start : start + CHUNK]
        similarity = x @ unit.T  # (chunk, N) cosines but for the length of x, the same factor in the whole row
        nearest = similarity.topk(k).indices  # (chunk, k)
        votes = train_class.new_zeros(len(x), len(classes))  # (chunk, C) int64
        votes.scatter_add_(1, train_class[nearest], torch.ones_like(nearest))
        predicted = classes[votes.argmax(dim=1)]  # of equal counts argmax takes the first, the smallest label
        correct += int((predicted == y).sum())
    return correct / len(test_y)
    # --- end
