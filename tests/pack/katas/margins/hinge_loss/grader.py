"""What is checked of hinge_loss."""

import torch

from graders.kata import Answer, Case, Grader


def inputs(draw, n):
    return {"scores": draw.normal(n, std=3.0), "y": draw.normal(n).sign()}


GRADER = Grader(
    answers=(
        Answer(
            "hinge_loss(scores, y)",
            oracle=lambda scores, y: torch.where(y * scores < 1, 1 - y * scores, 0.0).mean(),
            differentiable=("scores",),
            cases=(
                Case("twenty", lambda draw: inputs(draw, 20)),
                Case("any_number", inputs, sizes={"n": (8, 40)}),
                Case("shapes_differ", lambda draw: {"scores": draw.normal(4), "y": draw.normal(1)}, raises=ValueError),
            ),
        ),
    ),
)
