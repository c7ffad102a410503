"""F.unfold gives columns in the order (C, P, P)."""

import torch
import torch.nn.functional as F
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.h, self.w = (image_size, image_size) if isinstance(image_size, int) else image_size
        assert self.h % patch_size == 0 and self.w % patch_size == 0, "patch_size should divide both sides"
        self.c, self.p = in_channels, patch_size
        self.proj = nn.Linear(in_channels * patch_size**2, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, self.num_patches + 1, embed_dim))
        nn.init.trunc_normal_(self.pos_embed, std=0.02)

    @property
    def num_patches(self):
        return self.h * self.w // self.p**2

    def forward(self, x):
        assert x.shape[1:] == (self.c, self.h, self.w), f"unexpected images: {tuple(x.shape)}"
        tokens = self.proj(F.unfold(x, self.p, stride=self.p).transpose(1, 2))
        return torch.cat((self.cls_token.repeat(len(x), 1, 1), tokens), dim=1) + self.pos_embed
