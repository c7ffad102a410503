"""The figures of hard_negatives's texts, calculated again."""

from __future__ import annotations

import torch

from tests.figures import reference_of, said
from tests.figures.asked import inputs_of

KATA = "hard_negatives"
info_nce_hard = reference_of(KATA).info_nce_hard


def test_extremes_are_those_that_are_asked() -> None:
    inputs = inputs_of(KATA)
    assert [inputs[case][0]["temperature"] for case in ("small_temperature", "small_temperature_in_half")] == [
        1e-3,
        0.05,
    ]
    uneven, short, long = (one["features"].norm(dim=1) for one in inputs["uneven_lengths"])
    assert 1e7 < uneven.max() / uneven.min() < 1e9
    assert 1e-7 < uneven.min() < 1e-5
    assert short.min() < 1e-3 < 1e6 < long.max()
    norms = inputs["norm_fits_float16"][0]["features"].norm(dim=1)
    assert norms.max() < torch.finfo(torch.float16).max < norms.min() ** 2
    assert said(KATA, "1e8 times as long as the shortest, which may be about 1e-6 long", "multiplied by 1e-4 or by 1e6")
