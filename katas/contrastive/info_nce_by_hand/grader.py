"""What is checked of info_nce_by_hand."""

from torch import Tensor

from graders.kata import Answer, Grader, bans, two_views


def halves(features: Tensor) -> Tensor:
    """The first views, then the second ones."""
    return features.unflatten(0, (-1, 2)).transpose(0, 1).flatten(0, 1)


def side_by_side(features: Tensor) -> Tensor:
    return features.unflatten(0, (2, -1)).transpose(0, 1).flatten(0, 1)


def oracle(features: Tensor, temperature: float = 0.07) -> Tensor:
    return two_views.info_nce(halves(features), temperature)


GRADER = Grader(
    answers=(
        Answer(
            "info_nce(features, temperature=0.07)",
            oracle=oracle,
            differentiable=("features",),
            tolerance=two_views.rounded_at(0.07),
            # Picking from the similarities by boolean masks takes its time, and is welcome.
            budgets=(two_views.budget(asks=("loops", "memory", "time"), time=9),),
            cases=two_views.cases(side_by_side),
        ),
    ),
    banned=bans.SOFTMAX,
)
