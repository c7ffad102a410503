# broken: one tensor given as training and as test rows counts as leave-one-out; must fail
import torch
import torch.nn.functional as F
from torch import Tensor


def knn_accuracy(train_x: Tensor, train_y: Tensor, test_x: Tensor, test_y: Tensor, k: int = 20) -> float:
    if k < 1:
        raise ValueError("k")
    if train_x.ndim != 2 or test_x.ndim != 2 or train_x.shape[1] != test_x.shape[1]:
        raise ValueError("features")
    if train_y.shape != train_x.shape[:1] or test_y.shape != test_x.shape[:1]:
        raise ValueError("labels")
    k = min(k, len(train_x))
    classes, codes = torch.unique(train_y, return_inverse=True)
    bank = F.normalize(train_x.double(), dim=1, eps=1e-300)
    if train_x is test_x:
        k = max(1, k - 1)
    right = 0
    for rows, labels in zip(test_x.split(128), test_y.split(128)):
        similarity = F.normalize(rows.double(), dim=1, eps=1e-300) @ bank.T
        near = similarity.topk(k, dim=1).indices
        votes = torch.zeros(len(rows), len(classes), dtype=torch.int64)
        votes.scatter_add_(1, codes[near], torch.ones_like(near))
        right += int((classes[votes.argmax(1)] == labels).sum())
    return right / len(test_x)
