# honest: keys are kept transposed, scores of old and new keys stand apart, generate calls itself; must pass
"""Keys are kept transposed; scores of old and new keys stand apart; blocks as ModuleDicts in a Sequential-free list."""
import math
import torch, torch.nn as nn, torch.nn.functional as F


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super().__init__()
        d, rest = divmod(dim, heads)
        if rest:
            raise ValueError(f"{dim} channels for {heads} heads")
        self.C, self.H, self.d = context, heads, d
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([nn.ModuleDict(dict(
            ln1=nn.LayerNorm(dim), q_linear=nn.Linear(dim, dim), k_linear=nn.Linear(dim, dim), v_linear=nn.Linear(dim, dim),
            out_linear=nn.Linear(dim, dim), ln2=nn.LayerNorm(dim), fc1=nn.Linear(dim, 4 * dim), fc2=nn.Linear(4 * dim, dim),
        )) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)

    def attend(self, block, x, past):
        B, T, D = x.shape
        q = block.q_linear(x).view(B, T, self.H, self.d).transpose(1, 2) / math.sqrt(self.d)
        k = block.k_linear(x).view(B, T, self.H, self.d).permute(0, 2, 3, 1)  # (B, H, d, T)
        v = block.v_linear(x).view(B, T, self.H, self.d).transpose(1, 2)
        new = (q @ k).masked_fill(torch.triu(torch.ones(T, T, device=x.device), 1) == 1, float("-inf"))
        if past is None:
            y = new.softmax(-1) @ v
        else:
            pk, pv = past
            w = torch.cat([q @ pk, new], -1).softmax(-1)
            P = pk.shape[-1]
            y = w[..., :P] @ pv + w[..., P:] @ v
            k, v = torch.cat((pk, k), -1), torch.cat((pv, v), -2)
        return block.out_linear(y.transpose(1, 2).flatten(2)), (k, v)

    def forward(self, ids, cache=None):
        P = 0 if cache is None else cache[0][0].shape[-1]
        T = ids.shape[1]
        if T > self.C - P:
            raise ValueError(f"only {self.C - P} more tokens fit")
        x = self.token_embedding(ids) + self.position_embedding.weight[P:P + T]
        new = []
        for i, block in enumerate(self.blocks):
            y, kv = self.attend(block, block.ln1(x), cache[i] if cache is not None else None)
            new.append(kv)
            x = x + y
            x = x + block.fc2(F.gelu(block.fc1(block.ln2(x))))
        return torch.matmul(self.ln_f(x), self.token_embedding.weight.t()), tuple(new)

    def loss(self, ids):
        inputs, targets = ids[:, :-1], ids[:, 1:]
        logits, _ = self.forward(inputs)
        return nn.CrossEntropyLoss()(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))

    @torch.no_grad()
    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        def tail(text, logits, cache, left):
            if left == 0:
                return text
            z = logits[:, -1]
            if temperature == 0:
                new = z.max(-1, keepdim=True).indices
            else:
                new = torch.multinomial(F.softmax(z / temperature, -1), 1, generator=generator)
            text = torch.hstack([text, new])
            if left > 1:
                full = text.shape[1] > self.C
                logits, cache = self(text[:, -self.C:]) if full else self(new, cache)
            return tail(text, logits, cache, left - 1)
        if new_tokens == 0:
            return ids
        return tail(ids, *self(ids[:, -self.C:]), new_tokens)
