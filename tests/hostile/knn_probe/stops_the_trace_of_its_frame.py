# cheat: loops over the rows where its frame has no trace function; must be flagged
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
    return vote(train_y[nearest], test_y)


import sys


def vote(rows, right):
    sys._getframe().f_trace = None
    hits = 0
    for row, y in zip(rows.tolist(), right.tolist()):
        votes = {}
        for one in row:
            votes[one] = votes.get(one, 0) + 1
        best = min(votes, key=lambda c: (-votes[c], c)) if False else sorted(votes, key=votes.get)[-1]
        most = votes[best]
        for c in votes:
            if votes[c] == most and c < best:
                best = c
        hits += best == y
    return hits / len(right)
