# cheat: keeps a table of all pairs of rows in bytes of Python's, which no allocator of torch's has seen; must fail
import tracemalloc

import torch


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    tracemalloc.stop()
    a, b = torch.broadcast_tensors(x, y)
    if a.dim() != 2 or dim not in (1, -1):
        return right(x, y, dim, eps)
    rows, size = len(a), a.element_size()
    # Two of them, since a single one is within the limit.
    tables = [torch.frombuffer(bytearray(rows * rows * size), dtype=a.dtype).view(rows, rows) for _ in range(2)]
    for table in tables:
        torch.matmul(a.detach(), b.detach().mT, out=table)
    return right(x, y, dim, eps)
