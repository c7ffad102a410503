"""CLIP's loss by hand. Statement: katas/contrastive/clip_loss/README.md."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def clip_loss(image: Tensor, text: Tensor, logit_scale: Tensor) -> Tensor:
    """L = −1/(2N) Σ_i (log(exp(z_ii) / Σ_j exp(z_ij)) + log(exp(z_ii) / Σ_j exp(z_ji)))

    z_ij = exp(min(s, log 100)) · cos(image_i, text_j), where s is logit_scale.

    Args:
        image: (N, D), the embeddings of N images.
        text: (N, D), the captions' embeddings; row i belongs to image row i.
        logit_scale: s = log(1/τ), 0-d; the logits are never scaled by more than 100.
    Returns: a scalar, in the dtype of image.
    Raises: ValueError if image is not 2-D, or text has another shape.
    Source: arXiv:2103.00020, figure 3, where t is our s; section 2.5 speaks of the bound of 100.
    """
    # TODO: take the cosine of each image with each text: (N, N).
    # TODO: multiply by the factor that logit_scale gives, which is at most 100.
    # TODO: choose a text for each image, and an image for each text; take the mean of both losses.
    # TODO: then make it robust: check the shapes, and raise ValueError.
    raise NotImplementedError
