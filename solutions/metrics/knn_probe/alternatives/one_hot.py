"""Votes as a product: a row of zeros and ones for the neighbours of each test row, times the one-hot labels."""

import torch
import torch.nn.functional as F


def knn_accuracy(train_x, train_y, test_x, test_y, k=20):
    shapes = [tuple(one.shape) for one in (train_x, train_y, test_x, test_y)]
    match shapes:
        case [(n, d), (labels,), (m, width), (answers,)] if (n, d, m) == (labels, width, answers) and k > 0:
            k = min(k, n)
        case _:
            raise ValueError(f"shapes or k do not fit: {shapes}, {k}")
    classes = train_y.unique()
    one_hot = (train_y[:, None] == classes).double()
    found = []
    for x in F.normalize(test_x.double()).split(200):
        similarity = x @ F.normalize(train_x.double()).T
        votes = torch.zeros_like(similarity).scatter(1, similarity.topk(k).indices, 1.0) @ one_hot
        found.append(classes[votes.max(dim=1).indices])
    return float((torch.cat(found) == test_y).double().mean())
