import torch

def min_max(x):
    lo, hi = x.min(0).values, x.max(0).values
    return (x - lo) / (hi - lo)
def z_score(x):
    return (x - x.mean(0)) / x.std(0, unbiased=False)
def max_abs(x):
    return x / x.abs().max(0).values
def robust(x):
    q1, q2, q3 = torch.quantile(x, torch.tensor([0.25, 0.5, 0.75], dtype=x.dtype), dim=0)
    return (x - q2) / (q3 - q1)
def log1p_scale(x):
    return torch.log1p(x)
def l1_normalize(x):
    return x / x.abs().sum(1, keepdim=True)
def l2_normalize(x):
    return x / x.norm(dim=1, keepdim=True)
