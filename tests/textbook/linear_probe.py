import torch
import torch.nn.functional as F
from torch import nn

def linear_probe(train_x, train_y, test_x, test_y, epochs, lr, seed):
    torch.manual_seed(seed)
    num_classes = int(max(train_y.max(), test_y.max())) + 1
    probe = nn.Linear(train_x.shape[1], num_classes).to(train_x.dtype)
    opt = torch.optim.SGD(probe.parameters(), lr=lr, momentum=0.9)
    for _ in range(epochs):
        opt.zero_grad()
        F.cross_entropy(probe(train_x), train_y).backward()
        opt.step()
    with torch.no_grad():
        pred = probe(test_x).argmax(1)
    return (pred == test_y).float().mean().item()
