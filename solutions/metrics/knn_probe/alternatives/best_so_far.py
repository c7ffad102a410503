"""Goes through the training rows in chunks as well, and keeps the best k so far."""

import torch
import torch.nn.functional as F


@torch.no_grad()
def knn_accuracy(train_x, train_y, test_x, test_y, k=20):
    if k < 1 or train_x.dim() != 2 or test_x.dim() != 2 or train_x.size(1) != test_x.size(1):
        raise ValueError("bad k or features")
    if train_x.size(0) != train_y.size(0) or test_x.size(0) != test_y.size(0):
        raise ValueError("as many labels as rows are needed")
    wide, k, right = torch.promote_types(train_x.dtype, torch.float32), min(k, len(train_x)), 0
    for x, y in zip(test_x.to(wide).split(256), test_y.split(256)):
        best, labels = x.new_full((len(x), k), -torch.inf), y.new_zeros(len(x), k)
        for other, other_y in zip(train_x.to(wide).split(1024), train_y.split(1024)):
            similarity = torch.cat([best, F.normalize(x) @ F.normalize(other).T], dim=1)
            best, where = similarity.topk(k, dim=1)
            labels = torch.cat([labels, other_y.expand(len(x), -1)], dim=1).gather(1, where)
        right += (labels.cpu().mode(dim=1).values == y.cpu()).sum().item()  # a GPU's mode takes any of the tied
    return right / len(test_y)
