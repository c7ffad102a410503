"""Patch embedding by hand. Statement: katas/blocks/patch_embedding/README.md."""

import torch
from torch import Tensor, nn


class PatchEmbedding(nn.Module):
    """z = [class token; patch_1 Eᵀ + b; …; patch_N Eᵀ + b] + positions

    Args:
        image_size: H and W, as a pair (height, width) or as one int for both.
        patch_size: P, the side of a patch; it divides H and W, so that N = (H / P) · (W / P).
        in_channels: C, the channels of an image.
        embed_dim: D, the channels of a token.
    Raises: ValueError if patch_size does not divide H and W.
    Source: arXiv:2010.11929, eq. 1. E and b are proj's, and its z is the result.
    """

    def __init__(self, image_size: int | tuple[int, int], patch_size: int, in_channels: int, embed_dim: int) -> None:
        super().__init__()
        # --- solution
        # TODO: the height and the width of an image. Refuse a patch_size that does not divide both.
        # TODO: how many patches are there? Keep the number as num_patches.
        # TODO: make proj, a linear layer, and the parameters cls_token (1, 1, D) and pos_embed (1, N + 1, D).
        H, W = (image_size, image_size) if isinstance(image_size, int) else image_size
        if H % patch_size or W % patch_size:
            raise ValueError(f"patch_size should divide the height and the width, got {patch_size} for {H} x {W}")
        self.image_size = (H, W)
        self.patch_size = patch_size
        self.in_channels = in_channels
        self.num_patches = (H // patch_size) * (W // patch_size)
        self.proj = nn.Linear(in_channels * patch_size * patch_size, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(0.02 * torch.randn(1, self.num_patches + 1, embed_dim))
        # --- end

    def forward(self, x: Tensor) -> Tensor:
        """Maps images (B, C, H, W) to tokens (B, N + 1, D), in the dtype of x.

        Raises: ValueError if x has other channels, or another height or width.
        """
        # --- solution
        # TODO: refuse other images, including those with as many pixels or patches.
        # TODO: cut each side's axis into two: which patch, and where in the patch. Which order should the axes have?
        # TODO: a row for each patch, its pixels in the order (C, P, P). Map the rows by proj.
        # TODO: the class token goes first, in front of each image's patches. Then add the positions.
        B, C, H, W = x.shape
        if self.in_channels != C:
            raise ValueError(f"the channels of x should be in_channels, got {C} for {self.in_channels}")
        if self.image_size != (H, W):
            raise ValueError(f"the height and width of x should be image_size, got {(H, W)} for {self.image_size}")
        P = self.patch_size
        x = x.reshape(B, C, H // P, P, W // P, P)
        x = x.permute(0, 2, 4, 1, 3, 5)  # (B, H/P, W/P, C, P, P)
        patches = x.reshape(B, self.num_patches, C * P * P)
        tokens = self.proj(patches)  # (B, N, D)
        first = self.cls_token.expand(B, -1, -1)  # (B, 1, D)
        return torch.cat([first, tokens], dim=1) + self.pos_embed  # (B, N + 1, D)
        # --- end
