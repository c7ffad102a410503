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
        # TODO: the height and the width of an image. Refuse a patch_size that does not divide both.
        # TODO: how many patches are there? Keep the number as num_patches.
        # TODO: make proj, a linear layer, and the parameters cls_token (1, 1, D) and pos_embed (1, N + 1, D).
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Maps images (B, C, H, W) to tokens (B, N + 1, D), in the dtype of x.

        Raises: ValueError if x has other channels, or another height or width.
        """
        # TODO: refuse other images, including those with as many pixels or patches.
        # TODO: cut each side's axis into two: which patch, and where in the patch. Which order should the axes have?
        # TODO: a row for each patch, its pixels in the order (C, P, P). Map the rows by proj.
        # TODO: the class token goes first, in front of each image's patches. Then add the positions.
        raise NotImplementedError
