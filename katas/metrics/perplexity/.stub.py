"""Perplexity of a language model. Statement: katas/metrics/perplexity/README.md."""

import torch
import torch.nn.functional as F
from torch import Tensor


def perplexity(logits: Tensor, target: Tensor, ignore_index: int = -100) -> Tensor:
    """PPL = exp(−(1 / N) Σ log softmax(z_bs)[y_bs]), the sum over the N positions whose target is not `ignore_index`.

    Args:
        logits: (B, S, V) unnormalised log-probabilities z of V tokens, for each position of each sequence.
        target: (B, S) int64 tokens y that are to be predicted there, each in [0, V) or equal to `ignore_index`.
        ignore_index: the target of positions that do not count.
    Returns: a scalar, in the dtype of the logits.
    Raises: ValueError if logits is not 3-D, target is not (B, S), or a token is outside [0, V) and not ignored.
    Source: torcheval.metrics.functional.perplexity.
    """
    # TODO: take the mean of the loss, and make a perplexity of it. Over what is the mean?
    # TODO: then make it robust: refuse bad arguments with a ValueError; logits may be far from 0.
    raise NotImplementedError
