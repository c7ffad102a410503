import torch
import torch.nn as nn


class LoRALinear(nn.Module):
    def __init__(self, in_features, out_features, rank, alpha=1.0, bias=True):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=bias)
        for param in self.linear.parameters():
            param.requires_grad = False
        self.lora_A = nn.Parameter(torch.randn(rank, in_features) * 0.01)
        self.lora_B = nn.Parameter(torch.zeros(out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.linear(x) + self.scale * (x @ self.lora_A.T @ self.lora_B.T)

    def merged(self):
        out_features, in_features = self.linear.weight.shape
        layer = nn.Linear(in_features, out_features, bias=self.linear.bias is not None)
        with torch.no_grad():
            layer.weight.copy_(self.linear.weight + self.scale * self.lora_B @ self.lora_A)
            if self.linear.bias is not None:
                layer.bias.copy_(self.linear.bias)
        return layer
