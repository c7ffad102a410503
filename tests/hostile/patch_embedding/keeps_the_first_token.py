# broken: in eval mode, keeps the sum of class token and position from the first call on; must fail
import torch
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        H, W = (image_size, image_size) if isinstance(image_size, int) else image_size
        if H % patch_size or W % patch_size:
            raise ValueError("patch_size should divide both sides")
        self.image, self.P, self.first = (in_channels, H, W), patch_size, None
        self.num_patches = (H // patch_size) * (W // patch_size)
        self.proj = nn.Linear(in_channels * patch_size**2, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, self.num_patches + 1, embed_dim))

    def forward(self, x):
        if tuple(x.shape[1:]) != self.image:
            raise ValueError("other images than the module was made for")
        first = self.first
        if self.training or torch.is_grad_enabled() or first is None or first.dtype != x.dtype:
            first = self.cls_token + self.pos_embed[:, :1]
            if not self.training:
                self.first = first.detach()
        C, H, W = self.image
        x = x.reshape(len(x), C, H // self.P, self.P, W // self.P, self.P).permute(0, 2, 4, 1, 3, 5)
        tokens = self.proj(x.reshape(len(x), self.num_patches, -1)) + self.pos_embed[:, 1:]
        return torch.cat([first.expand(len(x), -1, -1), tokens], dim=1)
