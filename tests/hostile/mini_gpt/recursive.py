# honest: blocks are nn.ModuleDicts, generate calls itself, the mask is a buffer that is not saved; must pass
import torch, torch.nn as nn, torch.nn.functional as F
from math import sqrt


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super(MiniGPT, self).__init__()
        assert dim % heads == 0
        self.context, self.heads = context, heads
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([nn.ModuleDict(dict(
            ln1=nn.LayerNorm(dim), q_linear=nn.Linear(dim, dim), k_linear=nn.Linear(dim, dim), v_linear=nn.Linear(dim, dim),
            out_linear=nn.Linear(dim, dim), ln2=nn.LayerNorm(dim), fc1=nn.Linear(dim, 4 * dim), fc2=nn.Linear(4 * dim, dim),
        )) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.register_buffer("mask", torch.triu(torch.ones(context, context, dtype=torch.bool), 1), persistent=False)

    def attend(self, block, x):
        b, s, d = x.size()
        h, e = self.heads, d // self.heads
        q = block.q_linear(x).view(b, s, h, e).permute(0, 2, 1, 3).contiguous().view(b * h, s, e)
        k = block.k_linear(x).view(b, s, h, e).permute(0, 2, 1, 3).contiguous().view(b * h, s, e)
        v = block.v_linear(x).view(b, s, h, e).permute(0, 2, 1, 3).contiguous().view(b * h, s, e)
        w = torch.bmm(q / sqrt(e), k.transpose(1, 2))
        w.masked_fill_(self.mask[:s, :s], float("-inf"))
        o = torch.bmm(F.softmax(w, -1), v)
        return block.out_linear(o.view(b, h, s, e).permute(0, 2, 1, 3).contiguous().view(b, s, d))

    def forward(self, ids):
        b, s = ids.size()
        assert s <= self.context and ids.min() >= 0 and ids.max() < self.token_embedding.num_embeddings
        pos = torch.arange(0, s, dtype=torch.long, device=ids.device).unsqueeze(0).expand(b, s)
        x = self.token_embedding(ids) + self.position_embedding(pos)
        for block in self.blocks:
            x = x + self.attend(block, block.ln1(x))
            x = x + block.fc2(F.gelu(block.fc1(block.ln2(x))))
        return torch.matmul(self.ln_f(x), self.token_embedding.weight.t())

    def loss(self, ids):
        inputs, targets = ids[:, :-1], ids[:, 1:]
        logits = self.forward(inputs)
        return nn.CrossEntropyLoss()(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))

    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        if new_tokens == 0:
            return ids
        logits = self(ids[:, -self.context:])[:, -1]
        if temperature == 0.0:
            nxt = logits.max(dim=-1).indices
        else:
            nxt = torch.multinomial(torch.exp(F.log_softmax(logits / temperature, -1)), 1, generator=generator)[:, 0]
        return self.generate(torch.cat([ids, nxt[:, None]], dim=1), new_tokens - 1, temperature, generator)
