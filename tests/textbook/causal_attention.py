import torch


def causal_attention(q, k, v, key_mask=None):
    Sq, Sk = q.shape[2], k.shape[2]
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    s = s.masked_fill(torch.arange(Sk) > torch.arange(Sq)[:, None] + Sk - Sq, float("-inf"))
    if key_mask is not None:
        s = s.masked_fill(~key_mask[:, None, None, :], float("-inf"))
    return torch.softmax(s, -1) @ v
