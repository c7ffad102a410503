import torch


def sliding_window_attention(q, k, v, window, causal=False):
    S = q.shape[2]
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    i = torch.arange(S)[:, None]
    j = torch.arange(S)[None, :]
    mask = (i - j).abs() <= window
    if causal:
        mask = mask & (j <= i)
    scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
