import torch
import torch.nn.functional as F

def info_nce(features, temperature=0.1):
    n = features.shape[0] // 2
    z = F.normalize(features, dim=1)
    sim = torch.exp(z @ z.T / temperature)
    mask = ~torch.eye(2 * n, dtype=torch.bool)
    pos = torch.cat([torch.diag(sim, n), torch.diag(sim, -n)])
    return -torch.log(pos / (sim * mask).sum(1)).mean()
