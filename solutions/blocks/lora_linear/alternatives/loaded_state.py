"""A function for the low-rank part; the merged layer loads a state."""

import torch
from torch import nn


def low_rank(x, a, b, s):
    return s * torch.matmul(torch.matmul(x, a.t()), b.t())


class LoRALinear(nn.Module):
    def __init__(self, in_features, out_features, rank, alpha=1.0, bias=True):
        super().__init__()
        if rank <= 0 or rank > min(in_features, out_features):
            raise ValueError()
        self.s = alpha / rank
        self.linear = nn.Linear(in_features=in_features, out_features=out_features, bias=bias)
        self.linear.requires_grad_(False)
        self.register_parameter("lora_A", nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(rank, in_features))))
        self.register_parameter("lora_B", nn.Parameter(torch.zeros(out_features, rank)))

    def forward(self, x):
        out = self.linear(x)
        out = out + low_rank(x, self.lora_A, self.lora_B, self.s)
        return out

    def merged(self):
        has_bias = self.linear.bias is not None
        layer = nn.Linear(self.linear.in_features, self.linear.out_features, has_bias)
        layer.to(self.lora_A)
        state = {"weight": self.linear.weight + self.s * (self.lora_B @ self.lora_A)}
        if self.linear.bias is not None:
            state["bias"] = self.linear.bias
        layer.load_state_dict(state)
        return layer
