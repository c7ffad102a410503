"""Einsum, the scale as two numbers, and a copy under no_grad."""

import torch
from torch import nn, Tensor


class LoRALinear(nn.Module):
    def __init__(self, in_features: int, out_features: int, rank: int, alpha: float = 1.0, bias: bool = True) -> None:
        super().__init__()
        assert 1 <= rank <= min(in_features, out_features), f"bad rank {rank}"
        self.rank, self.alpha = rank, alpha
        self.linear = nn.Linear(in_features, out_features, bias)
        for p in self.linear.parameters():
            p.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(rank, in_features) / rank**0.5)
        self.lora_B = nn.Parameter(torch.zeros(out_features, rank))
        print("LoRA", rank, alpha)

    def delta(self) -> Tensor:
        return torch.einsum("or,ri->oi", self.lora_B, self.lora_A) * self.alpha / self.rank

    def forward(self, x: Tensor) -> Tensor:
        low = torch.einsum("...i,ri->...r", x, self.lora_A)
        return self.linear(x) + torch.einsum("...r,or->...o", low, self.lora_B) * self.alpha / self.rank

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        new = nn.Linear(
            self.linear.in_features,
            self.linear.out_features,
            bias=self.linear.bias is not None,
            dtype=self.linear.weight.dtype,
            device=self.linear.weight.device,
        )
        new.weight.copy_(self.linear.weight + self.delta())
        if new.bias is not None:
            new.bias.copy_(self.linear.bias)
        return new
