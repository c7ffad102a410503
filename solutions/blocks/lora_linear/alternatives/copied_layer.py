"""A deep copy of the frozen layer is merged by addmm_."""

import copy
import torch
from torch import nn
from torch.nn import functional as F


class LoRALinear(nn.Module):
    def __init__(self, in_features, out_features, rank, alpha=1.0, bias=True):
        super().__init__()
        if not 0 < rank <= min(in_features, out_features):
            raise ValueError(f"rank should be in 1..{min(in_features, out_features)}")
        self.linear = nn.Linear(in_features, out_features, bias=bias).requires_grad_(False)
        self.lora_A = nn.Parameter(torch.empty(rank, in_features))
        self.lora_B = nn.Parameter(torch.empty(out_features, rank))
        self.register_buffer("scaling", torch.tensor(alpha / rank, dtype=torch.float64), persistent=False)
        self.scale = float(alpha) / float(rank)
        self.reset_lora()

    def reset_lora(self):
        nn.init.normal_(self.lora_A, std=0.02)
        nn.init.zeros_(self.lora_B)

    def forward(self, x):
        return torch.add(self.linear(x), F.linear(F.linear(x, self.lora_A), self.lora_B), alpha=self.scale)

    def merged(self):
        new = copy.deepcopy(self.linear)
        new.weight.data.addmm_(self.lora_B.data, self.lora_A.data, alpha=self.scale)
        return new
