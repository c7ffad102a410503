"""A convolution whose stride is its kernel's size."""

import torch
import torch.nn.functional as F
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        H, W = (image_size, image_size) if isinstance(image_size, int) else image_size
        if H % patch_size or W % patch_size:
            raise ValueError("patch_size should divide the height and the width")
        self.shape, self.patch_size = (in_channels, H, W), patch_size
        self.num_patches = (H // patch_size) * (W // patch_size)
        self.proj = nn.Linear(in_channels * patch_size**2, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, self.num_patches + 1, embed_dim))

    def forward(self, x):
        if x.shape[1:] != self.shape:
            raise ValueError("x should have the module's channels, height and width")
        kernels = self.proj.weight.unflatten(1, (-1, self.patch_size, self.patch_size))  # (D, C, P, P)
        tokens = F.conv2d(x, kernels, self.proj.bias, stride=self.patch_size).flatten(2).mT  # (B, N, D)
        return torch.cat([self.cls_token.expand(len(x), -1, -1), tokens], dim=1) + self.pos_embed
