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
    # --- solution
    # TODO: refuse shapes that disagree.
    # TODO: accept each draft by its own probabilities, if all drafts before it are accepted.
    # TODO: the weights of the new token: what p has more than q at the first rejected draft, or p after all drafts.
    # TODO: draw it: the first token whose cumulative weight exceeds u times the total.
    # TODO: put the tokens together.
    # TODO: then make it robust: tokens of any integer dtype, u of 0 and just below 1, probabilities of 0.
    if draft_probs.dim() != 3:
        raise ValueError(f"draft_probs should be (B, K, V), got {tuple(draft_probs.shape)}")
    B, K, V = draft_probs.shape
    if target_probs.shape != (B, K + 1, V):
        raise ValueError(f"target_probs should be (B, K + 1, V), got {tuple(target_probs.shape)}")
    if draft_tokens.shape != (B, K):
        raise ValueError(f"draft_tokens should be (B, K), got {tuple(draft_tokens.shape)}")
    if uniforms.shape != (B, K + 1):
        raise ValueError(f"uniforms should be (B, K + 1), got {tuple(uniforms.shape)}")
    drafts = draft_tokens.long()
    p = target_probs[:, :K].gather(2, drafts[..., None])[..., 0]  # (B, K)
    q = draft_probs.gather(2, drafts[..., None])[..., 0]  # (B, K)
    accepted = (uniforms[:, :K] * q < p).cumprod(dim=1)  # (B, K), 0 from the first rejection on
    count = accepted.sum(dim=1, keepdim=True)  # (B, 1)
    rest = (target_probs - F.pad(draft_probs, (0, 0, 0, 1))).clamp(min=0)  # (B, K + 1, V)
    weights = rest.gather(1, count[..., None].expand(B, 1, V))[:, 0]  # (B, V)
    sums = weights.cumsum(dim=1)
    drawn = torch.searchsorted(sums, uniforms[:, K:] * sums[:, -1:], right=True)  # (B, 1)
    tokens = F.pad(drafts.masked_fill(accepted == 0, -1), (0, 1), value=-1)  # (B, K + 1)
    return tokens.scatter(1, count, drawn), count[:, 0] + 1
    # --- end
