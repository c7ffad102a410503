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
    # --- solution
    # TODO: refuse what is out of its range.
    # TODO: divide by the temperature, and sort each row.
    # TODO: drop what comes after the first k.
    # TODO: turn the rest into probabilities. How much do the tokens before each one add up to?
    # TODO: bring the mask back into the order of the logits.
    # TODO: then make it robust: temperature 0, and sums that half precision cannot hold.
    if temperature < 0:
        raise ValueError(f"temperature should be at least 0, got {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k should be at least 1, got {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p should be above 0 and at most 1, got {top_p}")
    if temperature == 0:
        return logits.masked_fill(logits < logits.amax(-1, keepdim=True), -torch.inf)
    z = logits / temperature
    ordered, index = z.to(torch.promote_types(z.dtype, torch.float32)).sort(-1, descending=True)
    if top_k is not None:
        ordered[..., top_k:] = -torch.inf
    if top_p is not None:
        p = ordered.softmax(-1)
        before = p.cumsum(-1) - p  # what the larger tokens add up to
        ordered = ordered.masked_fill(before >= top_p, -torch.inf)
    dropped = torch.empty_like(z, dtype=torch.bool).scatter(-1, index, ordered == -torch.inf)
    return z.masked_fill(dropped, -torch.inf)
    # --- end


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
    # --- solution
    # TODO: turn the filtered logits into probabilities.
    # TODO: draw one token for each row. Which shapes does torch.multinomial take?
    # TODO: then make it robust: probabilities in half precision.
    p = filter_logits(logits, temperature, top_k, top_p).double().softmax(-1)  # (…, V)
    rows = p.reshape(-1, p.shape[-1])
    return torch.multinomial(rows, 1, generator=generator).reshape(p.shape[:-1])
    # --- end
