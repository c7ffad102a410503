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
    # --- solution
    # TODO: make one affine map from D features to C classes; let the seed decide all that is drawn.
    # TODO: train it, and nothing else, with cross-entropy on the training set.
    # TODO: predict the labels of the test set, and return the share of right predictions as a Python float.
    # TODO: then make it robust: refuse features that are not 2-D, widths that differ, more or fewer labels than rows;
    #       features may be in half precision, and may require gradients.
    if train_x.dim() != 2 or test_x.dim() != 2 or train_x.shape[1] != test_x.shape[1]:
        raise ValueError(f"features should be (N, D) and (M, D), got {tuple(train_x.shape)} and {tuple(test_x.shape)}")
    if len(train_x) != len(train_y) or len(test_x) != len(test_y):
        lengths = f"{len(train_y)} for {len(train_x)} and {len(test_y)} for {len(test_x)}"
        raise ValueError(f"each row should have one label, got {lengths}")
    C = int(torch.cat([train_y, test_y]).max()) + 1
    with torch.random.fork_rng():  # puts the caller's random state back
        torch.manual_seed(seed)
        probe = nn.Linear(train_x.shape[1], C).to(train_x.device)
    parameters = list(probe.parameters())
    for _ in range(epochs):
        loss = F.cross_entropy(probe(train_x.float()), train_y)
        gradients = torch.autograd.grad(loss, parameters)  # of W and b alone, whatever the features hang on
        with torch.no_grad():
            for p, g in zip(parameters, gradients, strict=True):
                p -= lr * g
    right = probe(test_x.float()).argmax(1) == test_y  # (M,)
    return right.double().mean().item()
    # --- end
