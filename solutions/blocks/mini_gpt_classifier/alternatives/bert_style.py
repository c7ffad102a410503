"""Extended attention mask as an additive bias of the dtype's least number; mean pooling of sentence-transformers."""
import math
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.num_heads, self.head_size = heads, hidden // heads
        self.ln1 = nn.LayerNorm(hidden, eps=1e-5)
        self.q_linear = nn.Linear(hidden, hidden)
        self.k_linear = nn.Linear(hidden, hidden)
        self.v_linear = nn.Linear(hidden, hidden)
        self.out_linear = nn.Linear(hidden, hidden)
        self.ln2 = nn.LayerNorm(hidden, eps=1e-5)
        self.fc1 = nn.Linear(hidden, 4 * hidden)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(4 * hidden, hidden)

    def transpose_for_scores(self, x):
        return x.view(*x.size()[:-1], self.num_heads, self.head_size).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask):
        y = self.ln1(hidden_states)
        q, k, v = (self.transpose_for_scores(f(y)) for f in (self.q_linear, self.k_linear, self.v_linear))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_size)
        scores = torch.where(attention_mask, scores, torch.full_like(scores, torch.finfo(scores.dtype).min))
        probs = nn.functional.softmax(scores, dim=-1)
        context = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        context = context.view(*context.size()[:-2], -1)
        hidden_states = hidden_states + self.out_linear(context)
        return hidden_states + self.fc2(self.act(self.fc1(self.ln2(hidden_states))))


class MiniGPTClassifier(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers, classes):
        super().__init__()
        assert dim % heads == 0
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Layer(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim, eps=1e-5)
        self.dropout = nn.Dropout(0.0)
        self.head = nn.Linear(dim, classes)
        self.register_buffer("position_ids", torch.arange(context).expand((1, -1)), persistent=False)

    def forward(self, ids, mask):
        assert ids.size() == mask.size()
        assert ids.size(1) <= self.position_ids.size(1)
        extended = mask[:, None, None, :].bool()
        assert extended.any(-1).all()
        x = self.token_embedding(ids) + self.position_embedding(self.position_ids[:, : ids.size(1)])
        for layer in self.blocks:
            x = layer(x, extended)
        x = self.ln_f(x)
        expanded = mask.unsqueeze(-1).expand(x.size()).bool().to(x.dtype)
        mean = torch.sum(x * expanded, 1) / torch.clamp(expanded.sum(1), min=1e-9)
        return self.head(self.dropout(mean))
