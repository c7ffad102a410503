"""The verification step of speculative decoding. Statement: katas/decoding/speculative_decoding/README.md."""

import torch
import torch.nn.functional as F
from torch import Tensor


def verify_draft(
    target_probs: Tensor, draft_probs: Tensor, draft_tokens: Tensor, uniforms: Tensor
) -> tuple[Tensor, Tensor]:
    """Accept drafts x_i while u_i q_i(x_i) < p_i(x_i), then draw one token from max(0, p_n − q_n), or from p_K.

    Args:
        target_probs: p, (B, K + 1, V), the target model's probabilities at each of the K drafts and after them.
        draft_probs: q, (B, K, V), the draft model's.
        draft_tokens: x, (B, K), of any integer dtype.
        uniforms: u, (B, K + 1), in [0, 1). The last one draws the new token.
    Returns: tokens, (B, K + 1), int64: the accepted drafts, the new token, and −1 in all other places; and lengths,
        (B,), int64, from 1 to K + 1.
    Raises: ValueError if the shapes disagree.
    Source: arXiv:2211.17192, algorithm 1.
    """
    # TODO: refuse shapes that disagree.
    # TODO: accept each draft by its own probabilities, if all drafts before it are accepted.
    # TODO: the weights of the new token: what p has more than q at the first rejected draft, or p after all drafts.
    # TODO: draw it: the first token whose cumulative weight exceeds u times the total.
    # TODO: put the tokens together.
    # TODO: then make it robust: tokens of any integer dtype, u of 0 and just below 1, probabilities of 0.
    raise NotImplementedError
