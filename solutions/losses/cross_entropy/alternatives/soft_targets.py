"""Writes the smoothed target distribution out, and lets `where` keep 0 · (−∞) away."""

import torch


def target_distribution(y, c, epsilon, dtype):
    q = torch.full((y.shape[0], c), epsilon / c, dtype=dtype, device=y.device)
    return q.scatter_add(1, y.unsqueeze(1), torch.full_like(q[:, :1], 1.0 - epsilon))


def cross_entropy(
    logits: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> torch.Tensor:
    if logits.dim() != 2:
        raise ValueError("logits should be a matrix")
    if target.dim() != 1 or target.size(0) != logits.size(0):
        raise ValueError("there should be one target for each row of the logits")
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueError("label_smoothing should be between 0 and 1")
    c = logits.size(1)
    ignored = target.eq(ignore_index)
    y = target.masked_fill(ignored, 0)
    if y.lt(0).any() or y.ge(c).any():
        raise ValueError("there is a target that is no class")
    if weight is not None and weight.shape != torch.Size([c]):
        raise ValueError("there should be one weight for each class")

    top = logits.max(dim=1, keepdim=True).values.detach()
    log_p = logits - top - (logits - top).exp().sum(1, keepdim=True).log()
    q = target_distribution(y, c, label_smoothing, logits.dtype)
    if weight is not None:
        log_p = log_p * weight.where(weight != 0, torch.ones_like(weight))
        q = q * (weight != 0)
    losses = -torch.where(q == 0, torch.zeros_like(q), q * log_p).sum(dim=1)
    losses = losses.masked_fill(ignored, 0.0)

    match reduction:
        case "none":
            return losses
        case "sum":
            return losses.sum()
        case "mean":
            rows = torch.ones_like(losses) if weight is None else weight.index_select(0, y)
            return losses.sum() / rows.masked_fill(ignored, 0.0).sum()
    raise ValueError(f"reduction should be mean, sum or none, got {reduction}")
