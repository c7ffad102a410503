# cheat: finds the neighbours by a class of scipy's that is written in C; must fail
import numpy
import torch
import torch.nn.functional as F
from scipy.spatial import cKDTree


def knn_accuracy(train_x, train_y, test_x, test_y, k=20):
    if k < 1 or train_x.dim() != 2 or test_x.dim() != 2 or train_x.shape[1] != test_x.shape[1]:
        raise ValueError
    if len(train_y) != len(train_x) or len(test_y) != len(test_x):
        raise ValueError
    k = min(k, len(train_x))
    train, test = (numpy.array(F.normalize(x.double(), dim=1).tolist()) for x in (train_x, test_x))
    _, nearest = cKDTree(train).query(test, [*range(1, k + 1)])
    classes, train_class = train_y.unique(return_inverse=True)
    votes = F.one_hot(train_class[torch.tensor(nearest.tolist())], len(classes)).sum(1)
    return (classes[votes.argmax(1)] == test_y).double().mean().item()
