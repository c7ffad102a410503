"""A linear probe on frozen features. Statement: katas/training/linear_probe/README.md."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def linear_probe(
    train_x: Tensor, train_y: Tensor, test_x: Tensor, test_y: Tensor, epochs: int, lr: float, seed: int
) -> float:
    """The accuracy on the test set of argmax_c (W x + b)_c, where W and b lower the cross-entropy of the training set

    Args:
        train_x, train_y: (N, D) features and (N,) labels, to train the affine map on.
        test_x, test_y: (M, D) features and (M,) labels, to measure it on.
        epochs, lr: the number of passes over the training set, and the learning rate.
        seed: decides all that is random.
    Returns: a float from 0 to 1, the share of test rows whose label is predicted.
    Raises: ValueError if features are not 2-D, or if their widths, or the numbers of rows and labels, differ.
    Source: Alain and Bengio, Understanding intermediate layers using linear classifier probes (arXiv:1610.01644).
    """
    # TODO: make one affine map from D features to C classes; let the seed decide all that is drawn.
    # TODO: train it, and nothing else, with cross-entropy on the training set.
    # TODO: predict the labels of the test set, and return the share of right predictions as a Python float.
    # TODO: then make it robust: refuse features that are not 2-D, widths that differ, more or fewer labels than rows;
    #       features may be in half precision, and may require gradients.
    raise NotImplementedError
