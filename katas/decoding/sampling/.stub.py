"""Temperature, top-k and top-p sampling by hand. Statement: katas/decoding/sampling/README.md."""

import torch
from torch import Generator, Tensor


def filter_logits(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """z_i = logits_i / T where token i is kept, −∞ elsewhere

    Args:
        logits: (…, V), one row for each token to be drawn.
        temperature: T, at least 0; 0 keeps the largest logit alone, as it is.
        top_k: keep that many of the largest, 1 or more.
        top_p: of these, keep the most probable, as few as it takes for their sum to reach top_p; above 0 and at most 1.
    Returns: z, the shape and dtype of logits.
    Raises: ValueError if temperature, top_k or top_p is out of its range.
    Source: arXiv:1904.09751, section 3.1 (top-p) and eq. 3, with 4.1 (top-k).
    """
    # TODO: refuse what is out of its range.
    # TODO: divide by the temperature, and sort each row.
    # TODO: drop what comes after the first k.
    # TODO: turn the rest into probabilities. How much do the tokens before each one add up to?
    # TODO: bring the mask back into the order of the logits.
    # TODO: then make it robust: temperature 0, and sums that half precision cannot hold.
    raise NotImplementedError


def sample(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """One token for each row, drawn from softmax(filter_logits(logits, …))

    Args:
        logits, temperature, top_k, top_p: as in filter_logits.
        generator: where the random numbers come from; None for torch's global generator.
    Returns: (…), int64.
    Raises: ValueError as filter_logits does.
    """
    # TODO: turn the filtered logits into probabilities.
    # TODO: draw one token for each row. Which shapes does torch.multinomial take?
    # TODO: then make it robust: probabilities in half precision.
    raise NotImplementedError
