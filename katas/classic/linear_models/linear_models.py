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
    # TODO: refuse an x that is not (N, D), a y that is not (N,), and a negative l2.
    # TODO: centre x and y, so that b drops out. Which w is best for them?
    # TODO: then find b.
    # TODO: then make it robust: what if columns are equal, or nearly so, or if there are more columns than rows?
    raise NotImplementedError


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
    # TODO: refuse wrong shapes, an l2 of 0 or below, labels other than 0 and 1, and labels that are all alike.
    # TODO: write down the loss of w and b, and its gradient.
    # TODO: go downhill until the gradient, divided by N, is shorter than 1e-8. Which method arrives?
    # TODO: then make it robust: features of 100 or 10 000, outliers, labels as uint8 or bool.
    raise NotImplementedError
