"""Step by step, with an optional mask and dropout that nobody asked for, and a check of the input."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, dropout=0.0, bias=True):
        super(SelfAttention, self).__init__()
        self.embed_dim = embed_dim
        self.W_q = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.W_k = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.W_v = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.dropout = nn.Dropout(dropout)
        self.scale = embed_dim**0.5
        for layer in (self.W_q, self.W_k, self.W_v):
            nn.init.xavier_uniform_(layer.weight)

    def forward(self, x, mask=None):
        batch_size, seq_len, embed_dim = x.size()
        assert embed_dim == self.embed_dim
        Q = self.W_q(x)
        K = self.W_k(x)
        V = self.W_v(x)
        attention_scores = torch.matmul(Q / self.scale, K.transpose(-2, -1))
        if mask is not None:
            attention_scores = attention_scores.masked_fill(mask == 0, float("-inf"))
        attention_weights = F.softmax(attention_scores, dim=-1)
        out = torch.matmul(self.dropout(attention_weights), V)
        return out, attention_weights
