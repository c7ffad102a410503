import torch

def cosine_similarity(x, y, dim=-1, eps=1e-8):
    dot = (x * y).sum(dim)
    x, y = torch.broadcast_tensors(x, y)
    nx = x.pow(2).sum(dim).sqrt().clamp(min=eps)
    ny = y.pow(2).sum(dim).sqrt().clamp(min=eps)
    return dot / (nx * ny)
