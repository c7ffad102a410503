# honest: goes over the places in a patch, and takes every P-th pixel of the image for each; must pass
import torch
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        try:
            H, W = image_size
        except TypeError:
            H = W = int(image_size)
        assert max(H % patch_size, W % patch_size) == 0
        self.wanted, self.step = (in_channels, H, W), range(patch_size)
        self.num_patches = len(range(0, H, patch_size)) * len(range(0, W, patch_size))
        self.proj = nn.Linear(in_channels * patch_size**2, embed_dim)
        self.cls_token, self.pos_embed = map(
            nn.Parameter, (torch.rand(1, 1, embed_dim), torch.rand(1, 1 + self.num_patches, embed_dim))
        )

    def forward(self, x):
        assert [*x.shape[1:]] == [*self.wanted]
        P = len(self.step)
        places = torch.stack([x[:, :, i::P, j::P].flatten(2) for i in self.step for j in self.step], dim=2)
        tokens = self.proj(places.flatten(1, 2).mT)  # (B, C, P·P, N) to (B, N, D)
        both = torch.cat([self.cls_token.repeat_interleave(x.shape[0], dim=0), tokens], dim=-2)
        return torch.add(both, self.pos_embed)
