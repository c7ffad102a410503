"""A custom autograd function over batch and heads folded into one axis."""

import torch
from torch import nn


class Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, blocked):
        scores = torch.bmm(q / q.shape[2] ** 0.5, k.transpose(1, 2))
        attn = scores.masked_fill(blocked, -torch.inf).softmax(-1).masked_fill(blocked, 0)
        ctx.save_for_backward(q, k, v, attn)
        return torch.bmm(attn, v), attn

    @staticmethod
    def backward(ctx, grad_out, grad_attn):
        q, k, v, attn = ctx.saved_tensors
        grad = torch.bmm(grad_out, v.transpose(1, 2)) + grad_attn
        grad = attn * (grad - (attn * grad).sum(-1, keepdim=True)) / q.shape[2] ** 0.5
        return torch.bmm(grad, k), torch.bmm(grad.transpose(1, 2), q), torch.bmm(attn.transpose(1, 2), grad_out), None


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("num_heads must divide embed_dim")
        self.num_heads = num_heads
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, embed_dim)
        self.v_linear = nn.Linear(embed_dim, embed_dim)
        self.out_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key, value, mask=None):
        H = self.num_heads
        (B, Sq, D), Sk = query.shape, key.shape[1]

        def fold(x):
            return x.view(B, -1, H, D // H).transpose(1, 2).reshape(B * H, -1, D // H)

        shape = (B, H, Sq, Sk)
        mask = query.new_ones(shape) if mask is None else mask
        blocked = (mask == 0).expand(shape)
        q, k, v = fold(self.q_linear(query)), fold(self.k_linear(key)), fold(self.v_linear(value))
        out, attn = Attend.apply(q, k, v, blocked.reshape(B * H, Sq, Sk))
        out = out.view(B, H, Sq, D // H).permute(0, 2, 1, 3).flatten(start_dim=2)
        return self.out_linear(out), attn.view(shape)
