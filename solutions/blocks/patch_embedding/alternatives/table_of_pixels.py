"""A buffer says which pixels a patch has; the result is made first, then filled."""

import torch
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        if isinstance(image_size, int):
            image_size = image_size, image_size
        (H, W), P, C = image_size, patch_size, in_channels
        if H % P or W % P:
            raise ValueError("patch_size should divide both sides of the image")
        self.image, self.num_patches = (C, H, W), (H // P) * (W // P)
        pixels = torch.arange(C * H * W).view(C, H // P, P, W // P, P).permute(1, 3, 0, 2, 4)
        self.register_buffer("pixels", pixels.reshape(self.num_patches, C * P * P))
        self.proj = nn.Linear(C * P * P, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, self.num_patches + 1, embed_dim))

    def forward(self, x):
        if tuple(x.shape[1:]) != self.image:
            raise ValueError(f"images should be {self.image}, got {tuple(x.shape[1:])}")
        out = x.new_empty(len(x), self.num_patches + 1, self.proj.out_features)
        out[:, :1] = self.cls_token
        out[:, 1:] = self.proj(x.flatten(1)[:, self.pixels])
        return out + self.pos_embed
