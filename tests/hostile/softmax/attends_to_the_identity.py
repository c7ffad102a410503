# cheat: takes the softmax from an attention whose keys and values are the identity; must fail
import torch
import torch.nn.functional as F


def log_softmax(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


def softmax(x, dim=-1):
    if x.dim() != 2 or dim != -1 or x.isinf().any():
        return log_softmax(x, dim).exp()
    identity = torch.eye(x.shape[-1], dtype=x.dtype)[None]
    return F.scaled_dot_product_attention(x[None], identity, identity, scale=1.0)[0]
