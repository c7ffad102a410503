# honest: prints on which platform it runs; must pass
import platform
import torch
print(platform.platform())

def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    x_norm = torch.linalg.vector_norm(x, dim=dim, keepdim=True).clamp_min(eps)
    y_norm = torch.linalg.vector_norm(y, dim=dim, keepdim=True).clamp_min(eps)
    return ((x / x_norm) * (y / y_norm)).sum(dim)
