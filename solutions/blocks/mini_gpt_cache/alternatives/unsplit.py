"""Keys and values are kept as (B, S, D) in a dict; heads by chunk and stack; softmax by hand; Gumbel noise."""
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(dim)
        self.ln2 = nn.LayerNorm(dim)
        self.q_linear = nn.Linear(dim, dim)
        self.k_linear = nn.Linear(dim, dim)
        self.v_linear = nn.Linear(dim, dim)
        self.out_linear = nn.Linear(dim, dim)
        self.fc1 = nn.Linear(dim, dim * 4)
        self.fc2 = nn.Linear(dim * 4, dim)
        self.gelu = nn.GELU()

    def forward(self, x, past):
        h = self.ln1(x)
        k, v = self.k_linear(h), self.v_linear(h)
        if past:
            k, v = torch.cat([past["k"], k], 1), torch.cat([past["v"], v], 1)
        split = lambda t: torch.stack(t.chunk(self.heads, -1), 1)
        q, K, V = split(self.q_linear(h)), split(k), split(v)
        s = torch.einsum("bhid,bhjd->bhij", q, K) / q.shape[-1] ** 0.5
        at = torch.arange(K.shape[2], device=x.device)
        s = torch.where(at[-x.shape[1]:, None] >= at, s, torch.finfo(s.dtype).min)
        e = (s - s.amax(-1, keepdim=True)).exp()
        a = e / e.sum(-1, keepdim=True)
        x = x + self.out_linear(torch.cat((a @ V).unbind(1), -1))
        return x + self.fc2(self.gelu(self.fc1(self.ln2(x)))), {"k": k, "v": v}


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super().__init__()
        if dim % heads:
            raise ValueError("heads should divide dim")
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Layer(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)

    def forward(self, ids, cache=None):
        cache = cache or {}
        start = cache.get("seen", 0)
        stop = start + ids.shape[1]
        if stop > self.context:
            raise ValueError("too long")
        x = self.token_embedding(ids) + self.position_embedding.weight[start:stop]
        new = {"seen": stop}
        for i, layer in enumerate(self.blocks):
            x, new[i] = layer(x, cache.get(i))
        return torch.einsum("bsd,vd->bsv", self.ln_f(x), self.token_embedding.weight), new

    def loss(self, ids):
        z, _ = self.forward(ids[:, :-1])
        return (z.logsumexp(2) - z.gather(2, ids[:, 1:, None]).squeeze(2)).mean()

    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        with torch.no_grad():
            cache = None
            for step in range(new_tokens):
                if ids.shape[1] <= self.context and cache:
                    z, cache = self(ids[:, cache["seen"]:], cache=cache)
                else:
                    z, cache = self(ids[:, -self.context:])
                z = z[:, -1]
                if temperature > 0:
                    u = torch.rand(z.shape, generator=generator, device=z.device, dtype=torch.float64)
                    z = z / temperature - (-u.log()).log()
                ids = torch.cat([ids, z.argmax(-1)[:, None]], 1)
        return ids
