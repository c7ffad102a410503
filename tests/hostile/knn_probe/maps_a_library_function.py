# cheat: has map call a function of Python's library for each row; must fail
import statistics
import torch
import torch.nn.functional as F


def knn_accuracy(train_x, train_y, test_x, test_y, k=20):
    if k < 1 or train_x.dim() != 2 or test_x.dim() != 2 or train_x.shape[1] != test_x.shape[1]:
        raise ValueError
    if len(train_y) != len(train_x) or len(test_y) != len(test_x):
        raise ValueError
    k = min(k, len(train_x))
    unit = F.normalize(train_x, dim=1)
    nearest = torch.cat([(x @ unit.T).topk(k).indices for x in test_x.split(256)])
    rows = train_y[nearest].tolist()
    predicted = map(statistics.mode, map(sorted, rows))  # a loop over the rows, none of whose lines count
    return sum(map(int.__eq__, predicted, test_y.tolist())) / len(test_y)
