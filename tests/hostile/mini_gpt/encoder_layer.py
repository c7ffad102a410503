# cheat: each block is an nn.TransformerEncoderLayer with the weights of the eight layers; must fail
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q_linear, self.k_linear, self.v_linear = (nn.Linear(dim, dim) for _ in range(3))
        self.out_linear = nn.Linear(dim, dim)
        self.fc1, self.fc2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        D = x.shape[2]
        layer = nn.TransformerEncoderLayer(D, self.heads, 4 * D, 0.0, F.gelu, batch_first=True, norm_first=True).to(x)
        maps = (self.q_linear, self.k_linear, self.v_linear)
        own = {"self_attn.in_proj_weight": torch.cat([one.weight for one in maps])}
        own |= {"self_attn.in_proj_bias": torch.cat([one.bias for one in maps])}
        for theirs, ours in (
            ("self_attn.out_proj", self.out_linear), ("linear1", self.fc1), ("linear2", self.fc2),
            ("norm1", self.ln1), ("norm2", self.ln2),
        ):  # fmt: skip
            own |= {f"{theirs}.weight": ours.weight, f"{theirs}.bias": ours.bias}
        hidden = nn.Transformer.generate_square_subsequent_mask(x.shape[1], x.device, x.dtype)
        return torch.func.functional_call(layer, own, (x,), {"src_mask": hidden, "is_causal": True})


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super().__init__()
        if dim % heads:
            raise ValueError("heads should divide dim")
        self.vocab_size, self.context = vocab_size, context
        self.token_embedding, self.position_embedding = nn.Embedding(vocab_size, dim), nn.Embedding(context, dim)
        self.blocks = nn.Sequential(*(Block(dim, heads) for _ in range(layers)))
        self.ln_f = nn.LayerNorm(dim)

    def forward(self, ids):
        if ids.shape[1] > self.context or ids.min() < 0 or ids.max() >= self.vocab_size:
            raise ValueError("ids should fit the context and the vocabulary")
        x = self.token_embedding(ids) + self.position_embedding.weight[: ids.shape[1]]
        return F.linear(self.ln_f(self.blocks(x)), self.token_embedding.weight)

    def loss(self, ids):
        return F.cross_entropy(self(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())

    @torch.no_grad()
    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        for _ in range(new_tokens):
            logits = self(ids[:, -self.context :])[:, -1]
            if temperature == 0:
                token = logits.argmax(-1, keepdim=True)
            else:
                token = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)
            ids = torch.cat([ids, token], 1)
        return ids
