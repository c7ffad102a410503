"""nn.PixelUnshuffle moves a patch's pixels to the channels; the class token is added to a row of zeros in front."""

import torch
import torch.nn.functional as F
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        H, W = (image_size, image_size) if isinstance(image_size, int) else image_size
        if H % patch_size or W % patch_size:
            raise ValueError("patch_size should divide H and W")
        self.size = (in_channels, H, W)
        self.to_depth = nn.PixelUnshuffle(patch_size)
        self.num_patches = H * W // patch_size**2
        self.proj = nn.Linear(in_channels * patch_size**2, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.randn(1, self.num_patches + 1, embed_dim))

    def forward(self, x):
        if tuple(x.shape[1:]) != self.size:
            raise ValueError("x should have the size and the channels that the module was made for")
        tokens = self.proj(self.to_depth(x).flatten(2).mT)
        first = F.pad(self.cls_token, (0, 0, 0, self.num_patches))
        return F.pad(tokens, (0, 0, 1, 0)) + (first + self.pos_embed)
