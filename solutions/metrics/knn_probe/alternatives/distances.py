"""Between unit vectors the Euclidean distance ranks as the cosine does; the vote is the mode of the labels."""

import torch


def unit(x):
    return x.double() / torch.linalg.vector_norm(x.double(), dim=1, keepdim=True)


def knn_accuracy(train_x, train_y, test_x, test_y, k=20):
    assert k >= 1 and train_x.ndim == test_x.ndim == 2 and train_x.shape[1] == test_x.shape[1]
    assert (len(train_x), len(test_x)) == (len(train_y), len(test_y))
    right = []
    for x, y in zip(unit(test_x).split(100), test_y.split(100), strict=True):
        nearest = torch.cdist(x, unit(train_x)).topk(min(k, len(train_x)), largest=False).indices
        right.append(train_y[nearest].cpu().mode(dim=1).values == y.cpu())  # a GPU's mode takes any of the tied
    return torch.cat(right).float().mean().item()
