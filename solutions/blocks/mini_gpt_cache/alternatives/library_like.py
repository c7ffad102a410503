"""past_key_values of GPT-2's style."""
from typing import Optional, Tuple

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    pass


class GPTBlock(nn.Module):
    def __init__(self, n_embd, n_head, n_ctx):
        super().__init__()
        self.n_head = n_head
        self.head_dim = n_embd // n_head
        self.ln1 = nn.LayerNorm(n_embd, eps=1e-5)
        self.q_linear = nn.Linear(n_embd, n_embd)
        self.k_linear = nn.Linear(n_embd, n_embd)
        self.v_linear = nn.Linear(n_embd, n_embd)
        self.out_linear = nn.Linear(n_embd, n_embd)
        self.ln2 = nn.LayerNorm(n_embd, eps=1e-5)
        self.fc1 = nn.Linear(n_embd, 4 * n_embd)
        self.fc2 = nn.Linear(4 * n_embd, n_embd)
        self.act = nn.GELU()
        self.register_buffer("bias", torch.tril(torch.ones((n_ctx, n_ctx), dtype=torch.bool)).view(1, 1, n_ctx, n_ctx), persistent=False)

    def _split_heads(self, tensor):
        new_shape = tensor.size()[:-1] + (self.n_head, self.head_dim)
        return tensor.view(new_shape).permute(0, 2, 1, 3)

    def _attn(self, query, key, value):
        attn_weights = torch.matmul(query, key.transpose(-1, -2)) / (self.head_dim ** 0.5)
        query_length, key_length = query.size(-2), key.size(-2)
        causal_mask = self.bias[:, :, key_length - query_length : key_length, :key_length]
        mask_value = torch.finfo(attn_weights.dtype).min
        mask_value = torch.full([], mask_value, dtype=attn_weights.dtype, device=attn_weights.device)
        attn_weights = torch.where(causal_mask, attn_weights, mask_value)
        attn_weights = nn.functional.softmax(attn_weights, dim=-1)
        return torch.matmul(attn_weights, value)

    def forward(self, hidden_states, layer_past: Optional[Tuple[torch.Tensor, torch.Tensor]] = None):
        residual = hidden_states
        hidden_states = self.ln1(hidden_states)
        query = self._split_heads(self.q_linear(hidden_states))
        key = self._split_heads(self.k_linear(hidden_states))
        value = self._split_heads(self.v_linear(hidden_states))
        if layer_past is not None:
            past_key, past_value = layer_past
            key = torch.cat((past_key, key), dim=-2)
            value = torch.cat((past_value, value), dim=-2)
        present = (key, value)
        attn_output = self._attn(query, key, value).permute(0, 2, 1, 3).contiguous()
        attn_output = attn_output.view(attn_output.size()[:-2] + (self.n_head * self.head_dim,))
        hidden_states = self.out_linear(attn_output) + residual
        residual = hidden_states
        hidden_states = self.fc2(self.act(self.fc1(self.ln2(hidden_states))))
        return residual + hidden_states, present


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super().__init__()
        if dim % heads != 0:
            raise ValueError(f"`dim` must be divisible by heads (got {dim} and {heads}).")
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([GPTBlock(dim, heads, context) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim, eps=1e-5)
        self.lm_head = nn.Linear(dim, vocab_size, bias=False)
        self.lm_head.weight = self.token_embedding.weight

    def forward(self, ids, cache=None):
        past_key_values = cache
        if past_key_values is None:
            past_length = 0
            past_key_values = tuple([None] * len(self.blocks))
        else:
            past_length = past_key_values[0][0].size(-2)
        if ids.shape[-1] + past_length > self.context:
            raise ValueError("too long")
        position_ids = torch.arange(past_length, ids.shape[-1] + past_length, dtype=torch.long, device=ids.device)
        position_ids = position_ids.unsqueeze(0)
        hidden_states = self.token_embedding(ids) + self.position_embedding(position_ids)
        presents = ()
        for block, layer_past in zip(self.blocks, past_key_values):
            hidden_states, present = block(hidden_states, layer_past=layer_past)
            presents = presents + (present,)
        return self.lm_head(self.ln_f(hidden_states)), presents

    def loss(self, ids):
        lm_logits = self.forward(ids)[0]
        shift_logits = lm_logits[..., :-1, :].contiguous()
        shift_labels = ids[..., 1:].contiguous()
        return F.cross_entropy(shift_logits.view(-1, shift_logits.size(-1)), shift_labels.view(-1))

    @torch.no_grad()
    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        past = None
        inputs = ids[:, -self.context:]
        used = 0
        for _ in range(new_tokens):
            if used + inputs.shape[1] > self.context:
                past, inputs = None, ids[:, -self.context:]
            logits, past = self(inputs, past)
            used = past[0][0].size(-2)
            logits = logits[:, -1, :]
            if temperature > 0:
                probs = F.softmax(logits / temperature, dim=-1)
                next_token = torch.multinomial(probs, num_samples=1, generator=generator)
            else:
                next_token = torch.argmax(logits, dim=-1, keepdim=True)
            ids = torch.cat([ids, next_token], dim=-1)
            inputs = next_token
        return ids
