"""What is checked of cosine_similarity."""

import torch
import torch.nn.functional as F

from graders.spec import FULL, HALF, Answer, Arguments, Case, Draw, Grader


def pair(*shape: int, std: float = 1.0, dim: int = -1) -> Arguments:
    raise NotImplementedError


GRADER = Grader(
    answers=(
        Answer(
            "cosine_similarity(x, y, dim=-1, eps=1e-8)",
            oracle=lambda x, y, dim=-1, eps=1e-8: F.cosine_similarity(x, y, dim, eps),
            differentiable=("x", "y"),
            cases=(
                Case("five_by_seven", lambda draw: {"x": draw.normal(5, 7), "y": draw.normal(5, 7)}),
            ),
        ),
    ),
    banned=("cosine_similarity", "cosine_embedding_loss", "normalize"),
)
