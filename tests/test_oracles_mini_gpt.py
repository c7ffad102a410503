"""Half precision is tested where roundings stay small: other weights make them grow beyond what is allowed."""

from typing import Any

import pytest
import torch

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.kata import HALF, gpt
from graders.kata.draw import Draw

KATA = katas.find(["mini_gpt"])[0]
REFERENCE = load_module(KATA.reference_file, "reference_of_mini_gpt").MiniGPT


def units_off(given: dict[str, Any], dtype: torch.dtype) -> float:
    weights = given["weights"].to(dtype)
    made = KATA.module.logits(REFERENCE, **given | {"weights": weights}).double()
    wanted = gpt.right(given | {"weights": weights.double()})(given["ids"])
    return float((made - wanted).abs().max() / wanted.abs().max() / torch.finfo(dtype).eps)


@pytest.mark.parametrize("seed", [210, 791])
def test_the_reference_is_right_where_the_first_draw_makes_roundings_grow(seed: int) -> None:
    draw = (Draw(seed, "mini_gpt", "scores_next_tokens") for _ in range(2))
    with torch.no_grad():
        first, kept = gpt.tokens(next(draw), 2, 5, *gpt.USUAL), gpt.calm(next(draw))
        assert max(units_off(first, dtype) for dtype in HALF) > 8
        assert max(units_off(kept, dtype) for dtype in HALF) < 7
