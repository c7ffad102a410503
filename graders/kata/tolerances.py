"""How near a result should come, by dtype."""

from __future__ import annotations

from dataclasses import dataclass

import torch

FULL = (torch.float64, torch.float32)
HALF = (torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class Tolerance:
    """|got − expected| ≤ relative·|expected| + scaled·max|expected| + absolute."""

    relative: float
    scaled: float
    absolute: float


def last_places(units: float, absolute: float = 0.25) -> dict[torch.dtype, Tolerance]:
    """In half precision, off by so many units in the last place of the largest result (1 + eps is one above 1).

    `absolute` is in units of 1, for results that are 0 or nearly so.
    """
    eps = {dtype: torch.finfo(dtype).eps for dtype in HALF}
    return {dtype: Tolerance(0.0, units * one, absolute * one) for dtype, one in eps.items()}


# Measured of the references, all alternatives and references that compute in float32 inside, at eight to ten seeds. In
# half precision values and gradients are off by up to 2.8 units in the last place of the largest, where a grader names
# no tolerance of its own; in float32 by a fourth of what is allowed. A grader that names one allows 1.4 times what was
# measured at least: layer norm and batch norm need 3.6, log_posterior 7, mutual information 4.5, tanh 8.5.
# tests/test_tolerances.py measures half precision again.
TOLERANCES: dict[torch.dtype, Tolerance] = {
    torch.float64: Tolerance(1e-9, 1e-11, 1e-12),
    torch.float32: Tolerance(3e-5, 1e-5, 1e-5),
    **last_places(4),
}


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
