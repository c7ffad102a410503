"""The gradient by hand, Xᵀ(p − y) / N, with the bias as the weight of a feature that is always 1; from zeros."""

import torch
import torch.nn.functional as F


def linear_probe(train_x, train_y, test_x, test_y, epochs, lr, seed):
    assert train_x.ndim == test_x.ndim == 2 and train_x.size(1) == test_x.size(1)
    assert train_y.shape == train_x.shape[:1] and test_y.shape == test_x.shape[:1]
    X, Z = (F.pad(x.detach().double(), (0, 1), value=1.0) for x in (train_x, test_x))
    Y = F.one_hot(train_y, int(torch.maximum(train_y.max(), test_y.max())) + 1)
    theta = X.new_zeros(X.size(1), Y.size(1))
    for _ in range(epochs):
        theta -= lr / len(X) * X.T @ (torch.softmax(X @ theta, dim=1) - Y)
    return torch.count_nonzero((Z @ theta).argmax(1) == test_y).item() / len(Z)
