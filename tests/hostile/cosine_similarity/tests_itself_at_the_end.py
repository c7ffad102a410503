# honest: compares itself with torch under __main__, and names what is banned in a comment; must pass
import torch
import torch.nn.functional as F


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    a, b = (v.double() for v in (x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


# F.cosine_similarity and F.normalize do the same.
def check():
    x, y = torch.randn(2, 3, 4)
    torch.testing.assert_close(cosine_similarity(x, y), F.cosine_similarity(x, y))


if __name__ == "__main__":
    check()
