"""Direct preference optimisation by hand. Statement: katas/alignment/dpo_loss/README.md."""

import torch.nn.functional as F
from torch import Tensor


def sequence_logp(logits: Tensor, labels: Tensor, ignore_index: int = -100) -> Tensor:
    """log p(labels_b) = Σ_{t ≥ 1} log softmax(logits_{b, t−1})[labels_{b, t}], without ignored labels

    Args:
        logits: (B, S, V).
        labels: (B, S), int64, not shifted: the tokens themselves, or ignore_index where a token does not count.
        ignore_index: the label of prompt and padding.
    Returns: (B,), in the dtype of logits.
    Raises: ValueError if labels is not (B, S), or a label at t ≥ 1 is neither in [0, V) nor ignore_index.
    """
    # --- solution
    # TODO: refuse labels of another shape, and labels that are no tokens.
    # TODO: which logits predict which labels? Shift one against the other.
    # TODO: pick the log-probability of each label, without an index that does not exist.
    # TODO: add up those that count.
    if logits.dim() != 3 or labels.shape != logits.shape[:2]:
        raise ValueError(f"labels should be (B, S) for logits (B, S, V), got {labels.shape} and {logits.shape}")
    target = labels[:, 1:]  # (B, S − 1)
    ignored = target == ignore_index
    target = target.masked_fill(ignored, 0)
    if ((target < 0) | (target >= logits.shape[2])).any():
        raise ValueError(f"labels should be in [0, V) or {ignore_index}, got {target.min()} to {target.max()}")
    logp = F.log_softmax(logits[:, :-1], dim=-1)  # (B, S − 1, V)
    picked = logp.gather(-1, target[..., None])[..., 0]  # (B, S − 1)
    return picked.masked_fill(ignored, 0).sum(dim=1)
    # --- end


def dpo_loss(
    policy_chosen: Tensor,
    policy_rejected: Tensor,
    ref_chosen: Tensor,
    ref_rejected: Tensor,
    beta: float = 0.1,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """−(1 − ε) log σ(z) − ε log σ(−z), with z = β ((π_c − π_r) − (ref_c − ref_r))

    Args:
        policy_chosen, policy_rejected: π_c and π_r, (B,), the log-probabilities of both answers by the trained model.
        ref_chosen, ref_rejected: ref_c and ref_r, (B,), the same, by the frozen reference; they get no gradient.
        beta: β > 0.
        label_smoothing: ε in [0, 0.5], the share of pairs that are labelled the wrong way round.
        reduction: "mean" or "sum" over the pairs, or "none".
    Returns: a scalar, or (B,) for "none", in the dtype of the inputs.
    Raises: ValueError if the shapes differ, or beta, label_smoothing or reduction is not as above.
    Source: arXiv:2305.18290, eq. 7; ε as in conservative DPO, https://ericmitchell.ai/cdpo.pdf, eq. 3.
    """
    # --- solution
    # TODO: refuse shapes that differ, and a beta, label_smoothing or reduction out of range.
    # TODO: how much more than the reference does the policy prefer the chosen answer?
    # TODO: the loss of each pair, from a function that computes log σ in one step; then reduce it.
    # TODO: then make it robust: the reference is a constant.
    if not policy_chosen.shape == policy_rejected.shape == ref_chosen.shape == ref_rejected.shape:
        raise ValueError("the four log-probabilities should have one shape")
    if beta <= 0:
        raise ValueError(f"beta should be above 0, got {beta}")
    if not 0 <= label_smoothing <= 0.5:
        raise ValueError(f"label_smoothing should be from 0 to 0.5, got {label_smoothing}")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'reduction should be "mean", "sum" or "none", got {reduction!r}')
    z = beta * ((policy_chosen - policy_rejected) - (ref_chosen - ref_rejected).detach())
    losses = -(1 - label_smoothing) * F.logsigmoid(z) - label_smoothing * F.logsigmoid(-z)  # (B,)
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()
    # --- end
