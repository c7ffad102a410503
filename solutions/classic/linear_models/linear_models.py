"""Linear models by hand. Statement: katas/classic/linear_models/README.md."""

import torch
import torch.nn.functional as F
from torch import Tensor


def linear_regression(x: Tensor, y: Tensor, l2: float = 0.0) -> tuple[Tensor, Tensor]:
    """min over w and b of Σ_n (y_n − x_n w − b)² + l2 ‖w‖²

    Args:
        x: (N, D), the features.
        y: (N,), the targets.
        l2: the penalty, 0 or more. b is never penalised.
    Returns: w (D,) and b (). If many w are best, the one of least norm.
    Raises: ValueError if x is not (N, D) or y not (N,), or if l2 < 0.
    Source: Hastie et al., The Elements of Statistical Learning, section 3.4.1, eq. 3.47 for a centred x.
    """
    # --- solution
    # TODO: refuse an x that is not (N, D), a y that is not (N,), and a negative l2.
    # TODO: centre x and y, so that b drops out. Which w is best for them?
    # TODO: then find b.
    # TODO: then make it robust: what if columns are equal, or nearly so, or if there are more columns than rows?
    if x.dim() != 2 or y.shape != x.shape[:1]:
        raise ValueError(f"x and y should be (N, D) and (N,), got {tuple(x.shape)} and {tuple(y.shape)}")
    if l2 < 0:
        raise ValueError(f"l2 should be at least 0, got {l2}")

    mean_x, mean_y = x.mean(dim=0), y.mean()
    U, s, Vh = torch.linalg.svd(x - mean_x, full_matrices=False)  # (N, R), (R,), (R, D), with R = min(N, D)
    rounding = s.max() * max(x.shape) * torch.finfo(x.dtype).eps  # what is below it counts as 0
    inverse = torch.where(s > rounding, s / (s.square() + l2), 0.0)
    w = Vh.T @ (inverse * (U.T @ (y - mean_y)))  # (D,)
    return w, mean_y - mean_x @ w
    # --- end


def logistic_regression(x: Tensor, y: Tensor, l2: float = 1.0) -> tuple[Tensor, Tensor]:
    """min over w and b of Σ_n softplus((1 − 2 y_n)(x_n w + b)) + ½ l2 ‖w‖²

    Args:
        x: (N, D), the features.
        y: (N,), labels 0 and 1 in any dtype; both occur.
        l2: the penalty, above 0; scikit-learn's C is 1 / l2. b is never penalised.
    Returns: w (D,) and b (), in the dtype of x.
    Raises: ValueError if x is not (N, D) or y not (N,), if l2 <= 0, or if the labels are not both 0 and 1.
    Source: Hastie et al., The Elements of Statistical Learning, section 4.4.1.
    """
    # --- solution
    # TODO: refuse wrong shapes, an l2 of 0 or below, labels other than 0 and 1, and labels that are all alike.
    # TODO: write down the loss of w and b, and its gradient.
    # TODO: go downhill until the gradient, divided by N, is shorter than 1e-8. Which method arrives?
    # TODO: then make it robust: features of 100 or 10 000, outliers, labels as uint8 or bool.
    if x.dim() != 2 or y.shape != x.shape[:1]:
        raise ValueError(f"x and y should be (N, D) and (N,), got {tuple(x.shape)} and {tuple(y.shape)}")
    if l2 <= 0:
        raise ValueError(f"l2 should be above 0, got {l2}")
    if y.unique().tolist() != [0, 1]:
        raise ValueError(f"labels should be 0 and 1, and both should occur, got {y.unique().tolist()}")

    X, t = F.pad(x.double(), (0, 1), value=1.0), y.double()  # (N, D + 1), whose last column is for the bias, and (N,)
    penalty = X.new_tensor([l2] * x.shape[1] + [0])  # (D + 1,)

    def loss(theta: Tensor) -> Tensor:
        return F.softplus((1 - 2 * t) * (X @ theta)).sum() + 0.5 * penalty @ theta.square()

    theta = torch.zeros_like(penalty)
    for _ in range(200):
        p = torch.sigmoid(X @ theta)  # (N,)
        gradient = X.T @ (p - t) + penalty * theta
        if gradient.norm() < 1e-9 * len(x):
            break
        hessian = X.T @ (X * (p * (1 - p))[:, None]) + penalty.diag()
        step = torch.linalg.solve(hessian, gradient)
        while loss(theta - step) > loss(theta):
            step = step / 2  # a whole step of Newton's may go too far
        theta = theta - step
    return theta[:-1].to(x.dtype), theta[-1].to(x.dtype)
    # --- end
