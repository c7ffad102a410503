"""Loss by logsumexp, one-hot embeddings, Gumbel noise."""
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
        self.mlp = [self.ln2, self.fc1, nn.GELU(), self.fc2]

    def split(self, x):
        return torch.stack(x.chunk(self.heads, -1), 1)

    def forward(self, x):
        h = self.ln1(x)
        q, k, v = map(self.split, (self.q_linear(h), self.k_linear(h), self.v_linear(h)))
        s = torch.einsum("bhid,bhjd->bhij", q, k) * (x.shape[-1] / self.heads) ** -0.5
        at = torch.arange(x.shape[1], device=x.device)
        s = torch.where(at[:, None] >= at, s, torch.finfo(s.dtype).min)
        e = (s - s.amax(-1, keepdim=True)).exp()
        a = e / e.sum(-1, keepdim=True)
        x = x + self.out_linear(torch.cat((a @ v).unbind(1), -1))
        y = x
        for f in self.mlp:
            y = f(y)
        return x + y


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super().__init__()
        if dim % heads:
            raise ValueError("heads should divide dim")
        self.size, self.context = vocab_size, context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Layer(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)

    def forward(self, ids):
        S = ids.shape[1]
        if S > self.context:
            raise ValueError("too long")
        if ids.lt(0).any() or ids.ge(self.size).any():
            raise ValueError("no such token")
        x = self.token_embedding.weight[ids] + self.position_embedding.weight[:S]
        for one in self.blocks:
            x = one(x)
        return torch.einsum("bsd,vd->bsv", self.ln_f(x), self.token_embedding.weight)

    def loss(self, ids):
        z = self(ids[:, :-1])
        right = z.gather(2, ids[:, 1:, None]).squeeze(2)
        return (z.logsumexp(2) - right).mean()

    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        with torch.no_grad():
            for _ in range(new_tokens):
                z = self(ids[:, -self.context :])[:, -1]
                if temperature > 0:
                    u = torch.rand(z.shape, generator=generator, device=z.device, dtype=z.dtype)
                    z = z / temperature - (-u.log()).log()
                ids = torch.cat([ids, z.argmax(-1)[:, None]], 1)
        return ids
