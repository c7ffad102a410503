# honest: imports parts of torch that are loaded late; must pass
import traceback
import torch
import torch._dynamo
import torch.func
import torch.fx
import torch.nn.attention.flex_attention
import torch.nn.utils.parametrize
import torch.utils.checkpoint
import torch.utils.data


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    try:
        raise ValueError
    except ValueError:
        traceback.format_exc()
    return right(x, y, dim, eps)
