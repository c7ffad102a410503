"""The head comes first and the mean afterwards, which is the same for a linear head; softmax by hand."""
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q_linear = nn.Linear(dim, dim)
        self.k_linear = nn.Linear(dim, dim)
        self.v_linear = nn.Linear(dim, dim)
        self.out_linear = nn.Linear(dim, dim)
        self.fc1 = nn.Linear(dim, dim * 4)
        self.fc2 = nn.Linear(dim * 4, dim)
        self.gelu = nn.GELU()

    def split(self, x):
        return torch.stack(x.chunk(self.heads, -1), 1)

    def forward(self, x, real):
        h = self.ln1(x)
        q, k, v = map(self.split, (self.q_linear(h), self.k_linear(h), self.v_linear(h)))
        s = torch.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
        s = torch.where(real[:, None, None], s, torch.finfo(s.dtype).min)
        e = (s - s.amax(-1, keepdim=True)).exp()
        a = e / e.sum(-1, keepdim=True)
        x = x + self.out_linear(torch.cat((a @ v).unbind(1), -1))
        return x + self.fc2(self.gelu(self.fc1(self.ln2(x))))


class MiniGPTClassifier(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers, classes):
        super().__init__()
        if dim % heads:
            raise ValueError("heads should divide dim")
        self.context = context
        self.head = nn.Linear(dim, classes)
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Layer(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)

    def forward(self, ids, mask):
        if mask.shape != ids.shape:
            raise ValueError(f"mask should be {tuple(ids.shape)}, got {tuple(mask.shape)}")
        B, S = ids.shape
        if S > self.context:
            raise ValueError("too long")
        real = mask.to(torch.bool)
        n = real.sum(1, keepdim=True)
        if (n == 0).any():
            raise ValueError("no real token")
        x = self.token_embedding(ids) + self.position_embedding(torch.arange(S, device=ids.device)).unsqueeze(0)
        for layer in self.blocks:
            x = layer(x, real)
        z = self.head(self.ln_f(x)).masked_fill(~real[:, :, None], 0)
        return z.sum(1) / n
