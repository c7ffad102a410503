import torch


def hinge_loss(scores, y):
    if scores.shape != y.shape:
        raise ValueError("one label for each score")
    lacking = torch.relu(torch.ones_like(scores) - torch.mul(scores, y))
    return lacking.sum() / len(lacking)
