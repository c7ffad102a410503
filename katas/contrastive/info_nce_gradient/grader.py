"""What is checked of info_nce_grad."""

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import Answer, Budget, Case, Grader, two_views

BY_LENGTH = ("uneven_lengths", "norm_fits_float16")  # where long rows' gradients would be lost in the tolerance


def by_autograd(features: Tensor, temperature: float = 0.1) -> tuple[Tensor, Tensor]:
    leaf = features.detach().requires_grad_()
    with torch.enable_grad():
        loss = two_views.info_nce(leaf, temperature)
        return loss.detach(), torch.autograd.grad(loss, leaf)[0]


def times_length(info_nce_grad, features, temperature=0.1):
    loss, grad = info_nce_grad(features, temperature)
    return loss, grad * features.norm(dim=1, keepdim=True)


def nothing_written(info_nce_grad, features):
    plain, (leaf, given, cleared) = features.clone(), (features.clone().requires_grad_() for _ in range(3))
    given.grad, cleared.grad = torch.ones_like(given), torch.zeros_like(given)
    for one in (plain, leaf, leaf * 1, cleared, given):
        loss, grad = info_nce_grad(one)
    data = {"loss": loss.detach(), "grad": grad.detach(), "features": given.detach()}
    data |= {"features.grad is None, as before": plain.grad is None and leaf.grad is None}
    data |= {"features.requires_grad, False before": plain.requires_grad}
    data |= {"features.grad is None, zeros before": cleared.grad is None}
    return data | {"features.requires_grad": given.requires_grad, "features.grad, ones before": given.grad}


GRADER = Grader(
    answers=(
        Answer(
            "info_nce_grad(features, temperature=0.1)",
            oracle=by_autograd,
            tolerance=two_views.rounded_at(0.1),
            cases=(
                *(replace(one, scenario=times_length) if one.name in BY_LENGTH else one for one in two_views.cases()),
                Case(
                    "nothing_is_written",
                    # Of length 1, where the part along the row has to be taken out all the same.
                    lambda draw: {"features": F.normalize(two_views.views(draw, 4, 5), dim=1)},
                    category="robustness",
                    scenario=nothing_written,
                ),
            ),
            budgets=(
                replace(two_views.budget(), written=6, peak=6),
                Budget(
                    "many_features",
                    sizes={"samples": (4, 16), "features": (256, 2048)},
                    inputs=lambda draw, samples, features: {"features": two_views.views(draw, samples, features)},
                    hints={"features": "the projection needs one scalar product for each row, and no D × D matrix"},
                ),
            ),
        ),
    ),
    banned=("autograd",),
)
