"""proj's weight is a kernel; class token and patches get their positions apart."""

import torch
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        size = [image_size] * 2 if isinstance(image_size, int) else [*image_size]
        if any(side % patch_size for side in size):
            raise ValueError(f"{patch_size} should divide {size}")
        self.shape = torch.Size([in_channels, *size])
        self.patch_size = patch_size
        self.num_patches = size[0] // patch_size * (size[1] // patch_size)
        self.proj = nn.Linear(in_channels * patch_size**2, embed_dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.randn(1, 1 + self.num_patches, embed_dim))

    def forward(self, x):
        if x.shape[1:] != self.shape:
            raise ValueError(f"x should be images of {self.shape}, got {x.shape}")
        P = self.patch_size
        kernels = self.proj.weight.unflatten(1, (-1, P, P))
        pixels = x.unflatten(3, (-1, P)).unflatten(2, (-1, P))  # (B, C, H/P, P, W/P, P)
        tokens = torch.einsum("bchpwq,dcpq->bhwd", pixels, kernels).flatten(1, 2) + self.proj.bias
        first = self.cls_token + self.pos_embed[:, :1]
        return torch.cat((first.expand(len(x), -1, -1), tokens + self.pos_embed[:, 1:]), 1)
