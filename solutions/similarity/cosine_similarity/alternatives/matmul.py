"""A row times a column, batched over everything else."""

import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    a, b = torch.broadcast_tensors(x, y)
    a, b = a.transpose(dim, -1), b.transpose(dim, -1)
    norms = [torch.linalg.norm(v, dim=-1, keepdim=True) for v in (a, b)]
    a, b = (v / torch.maximum(n, torch.full_like(n, eps)) for v, n in zip((a, b), norms))
    out = (a.unsqueeze(-2) @ b.unsqueeze(-1)).squeeze(-1)
    return out.transpose(dim, -1).squeeze(dim)
