# honest: builds an nn.Module of its own in every call; must pass
import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return Similarity(dim, eps)(x, y)


class Similarity(torch.nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.dim, self.eps = dim, eps

    def normalize(self, v):
        return v / torch.linalg.vector_norm(v, dim=self.dim, keepdim=True).clamp_min(self.eps)

    def forward(self, x, y):
        a, b = torch.broadcast_tensors(x, y)
        return (self.normalize(a.double()) * self.normalize(b.double())).sum(self.dim).to(x.dtype)
