import torch
import torch.nn.functional as F

def knn_accuracy(train_x, train_y, test_x, test_y, k=20):
    sim = F.normalize(test_x, dim=1) @ F.normalize(train_x, dim=1).T
    idx = sim.topk(min(k, len(train_x)), dim=1).indices
    pred = torch.mode(train_y[idx], dim=1).values
    return (pred == test_y).float().mean().item()
