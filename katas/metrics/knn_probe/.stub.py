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
    # TODO: find the k training rows nearest to each test row, at most CHUNK test rows at a time.
    # TODO: count the votes for each class, and take the class that has most.
    # TODO: return the share of test rows that are predicted correctly.
    # TODO: then make it robust: refuse bad arguments with a ValueError; labels may be large, votes many.
    raise NotImplementedError
