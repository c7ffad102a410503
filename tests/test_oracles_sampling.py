"""What is drawn by the right probabilities passes, even if some pair of tokens is never drawn."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from graders.catalogue import katas
from graders.kata.draw import Draw

GRADER = katas.find(["sampling"])[0].module


class Multinomial:
    def run(
        self, scenario: object, *, summary: Callable[[Tensor], Tensor], logits: Tensor, times: int, seed: int, **_: Any
    ) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        return summary(torch.multinomial(logits.softmax(-1), times, replacement=True, generator=generator).mT)


@pytest.mark.parametrize("seed", [57, 125, 177, 179, 235, 322, 372])
def test_a_share_that_rounding_makes_negative_is_0(seed: int) -> None:
    GRADER.test_independent_draws(Multinomial(), Draw(seed))


def test_a_share_of_nothing_that_is_drawn_often_is_refused() -> None:
    class First:
        def run(self, scenario: object, *, summary: Callable[[Tensor], Tensor], times: int, **_: Any) -> Tensor:
            return summary(torch.zeros(times, 2, dtype=torch.int64))

    with pytest.raises(GRADER.CheckFailed, match="share of pair"):
        GRADER.test_independent_draws(First(), Draw(0))
