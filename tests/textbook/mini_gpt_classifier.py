import torch
import torch.nn as nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.n_head = n_head
        self.ln1 = nn.LayerNorm(n_embd)
        self.q_linear = nn.Linear(n_embd, n_embd)
        self.k_linear = nn.Linear(n_embd, n_embd)
        self.v_linear = nn.Linear(n_embd, n_embd)
        self.out_linear = nn.Linear(n_embd, n_embd)
        self.ln2 = nn.LayerNorm(n_embd)
        self.fc1 = nn.Linear(n_embd, 4 * n_embd)
        self.fc2 = nn.Linear(4 * n_embd, n_embd)

    def attn(self, x, mask):
        B, T, C = x.shape
        hs = C // self.n_head
        q = self.q_linear(x).view(B, T, self.n_head, hs).transpose(1, 2)
        k = self.k_linear(x).view(B, T, self.n_head, hs).transpose(1, 2)
        v = self.v_linear(x).view(B, T, self.n_head, hs).transpose(1, 2)
        wei = q @ k.transpose(-2, -1) * hs**-0.5
        wei = wei.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        out = (wei @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.out_linear(out)

    def forward(self, x, mask):
        x = x + self.attn(self.ln1(x), mask)
        x = x + self.fc2(F.gelu(self.fc1(self.ln2(x))))
        return x


class MiniGPTClassifier(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers, classes):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids, mask):
        B, T = ids.shape
        x = self.token_embedding(ids) + self.position_embedding(torch.arange(T, device=ids.device))
        for block in self.blocks:
            x = block(x, mask)
        x = self.ln_f(x)
        m = mask.unsqueeze(-1).to(x.dtype)
        pooled = (x * m).sum(dim=1) / m.sum(dim=1)
        return self.head(pooled)
