"""torch.optim.LBFGS on features divided by their size; LAPACK's gelsd, on the CPU, for least squares."""

import torch
import torch.nn.functional as F


def linear_regression(x, y, l2=0.0):
    if x.ndim != 2 or y.shape != x.shape[:1] or l2 < 0:
        raise ValueError(f"these do not fit: {x.shape}, {y.shape}, {l2}")
    rows = torch.vstack([x - x.mean(0), l2**0.5 * torch.eye(x.shape[1]).to(x)]).cpu()
    targets = torch.hstack([y - y.mean(), y.new_zeros(x.shape[1])])[:, None].cpu()
    w = torch.linalg.lstsq(rows, targets, driver="gelsd").solution[:, 0].to(x.device)
    return w, (y - x @ w).mean()


@torch.enable_grad()
def logistic_regression(x, y, l2=1.0):
    if x.ndim != 2 or y.shape != x.shape[:1] or l2 <= 0:
        raise ValueError(f"these do not fit: {x.shape}, {y.shape}, {l2}")
    if ((y != 0) & (y != 1)).any() or y.max() == y.min():
        raise ValueError("there should be labels 0 and 1")
    scale = x.detach().double().abs().amax(0).clamp(min=1e-9)
    features, target = x.detach().double() / scale, y.double()
    w, b = torch.zeros_like(scale, requires_grad=True), scale.new_zeros((), requires_grad=True)
    more = {"max_iter": 2000, "tolerance_grad": 1e-12, "tolerance_change": 1e-18, "line_search_fn": "strong_wolfe"}
    optimizer = torch.optim.LBFGS([w, b], **more)

    def closure():
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(features @ w + b, target, reduction="sum")
        loss = loss + l2 / 2 * (w / scale).pow(2).sum()
        loss.backward()
        return loss

    for _ in range(3):  # a search that got stuck begins anew
        optimizer.step(closure)
        optimizer.state.clear()
    return (w / scale).detach().to(x.dtype), b.detach().to(x.dtype)
