"""The image is cut into bands, then the bands into patches; one addmm maps all of them."""

import torch
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        H, W = image_size if isinstance(image_size, tuple | list) else (image_size, image_size)
        if not H % patch_size == W % patch_size == 0:
            raise ValueError("both sides should be multiples of patch_size")
        self.dims = in_channels, H, W, patch_size
        self.num_patches = H // patch_size * (W // patch_size)
        self.register_parameter("cls_token", nn.Parameter(torch.zeros(1, 1, embed_dim)))
        self.register_parameter("pos_embed", nn.Parameter(torch.zeros(1, self.num_patches + 1, embed_dim)))
        self.proj = nn.Linear(in_channels * patch_size * patch_size, embed_dim)

    def forward(self, x):
        C, H, W, P = self.dims
        if x.size(1) != C or x.size(2) != H or x.size(3) != W:
            raise ValueError(f"expected images of ({C}, {H}, {W})")
        bands = x.reshape(-1, C, H // P, P * W).transpose(1, 2)  # (B, H/P, C, P·W)
        patches = bands.reshape(-1, H // P, C * P, W // P, P).transpose(2, 3)  # (B, H/P, W/P, C·P, P)
        flat = patches.reshape(-1, C * P * P)
        tokens = torch.addmm(self.proj.bias, flat, self.proj.weight.t()).view(len(x), self.num_patches, -1)
        return torch.hstack([self.cls_token.broadcast_to(len(x), -1, -1), tokens]) + self.pos_embed
