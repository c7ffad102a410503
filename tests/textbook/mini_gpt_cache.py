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

    def attn(self, x, past):
        B, T, C = x.shape
        hs = C // self.n_head
        q = self.q_linear(x).view(B, T, self.n_head, hs).transpose(1, 2)
        k = self.k_linear(x).view(B, T, self.n_head, hs).transpose(1, 2)
        v = self.v_linear(x).view(B, T, self.n_head, hs).transpose(1, 2)
        if past is not None:
            k = torch.cat((past[0], k), dim=-2)
            v = torch.cat((past[1], v), dim=-2)
        S = k.size(-2)
        wei = q @ k.transpose(-2, -1) * hs**-0.5
        mask = torch.tril(torch.ones(S, S, device=x.device))[S - T:S, :S]
        wei = wei.masked_fill(mask == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        out = (wei @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.out_linear(out), (k, v)

    def forward(self, x, past=None):
        y, present = self.attn(self.ln1(x), past)
        x = x + y
        x = x + self.fc2(F.gelu(self.fc1(self.ln2(x))))
        return x, present


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super().__init__()
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab_size, bias=False)
        self.head.weight = self.token_embedding.weight

    def forward(self, ids, cache=None):
        B, T = ids.shape
        past_len = cache[0][0].size(-2) if cache is not None else 0
        pos = torch.arange(past_len, past_len + T, device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(pos)
        presents = []
        for i, block in enumerate(self.blocks):
            x, present = block(x, cache[i] if cache is not None else None)
            presents.append(present)
        return self.head(self.ln_f(x)), presents

    def loss(self, ids):
        logits, _ = self(ids[:, :-1])
        B, T, C = logits.shape
        return F.cross_entropy(logits.view(B * T, C), ids[:, 1:].reshape(B * T))

    @torch.no_grad()
    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        cache = None
        for _ in range(new_tokens):
            if cache is not None and ids.size(1) <= self.context:
                logits, cache = self(ids[:, -1:], cache)
            else:
                logits, cache = self(ids[:, -self.context:])
            logits = logits[:, -1, :]
            if temperature == 0:
                next_id = torch.argmax(logits, dim=-1, keepdim=True)
            else:
                probs = F.softmax(logits / temperature, dim=-1)
                next_id = torch.multinomial(probs, num_samples=1, generator=generator)
            ids = torch.cat((ids, next_id), dim=1)
        return ids
