"""Holds what came back against what should have. Every message reads "subject: should be X, got Y"."""

from __future__ import annotations

import torch
from torch import Tensor

from graders.faults import CheckFailed
from graders.kata import calls
from graders.kata.tolerances import Tolerance, dtype_name

EXACTLY = Tolerance(0, 0, 0)
WHOLE = 200  # characters of a message that shows two texts or lists whole
BEFORE, AFTER = 4, 12  # items that are shown of longer ones, before the first that differs, and from it on
BITS = {8: torch.int64, 4: torch.int32, 2: torch.int16}  # by the bytes of one


def bits(tensor: Tensor) -> Tensor:
    """Of floating values, as whole numbers: -0.0 is not 0.0, and NaN is what it is."""
    return tensor.contiguous().view(BITS[tensor.itemsize]) if tensor.is_floating_point() else tensor


def same_shape(subject: str, got: Tensor, expected: Tensor) -> None:
    if got.shape != expected.shape:
        raise CheckFailed(f"shape of {subject}: should be {tuple(expected.shape)}, got {tuple(got.shape)}")


def same_dtype(subject: str, got: Tensor, allowed: tuple[torch.dtype, ...]) -> None:
    if got.dtype not in allowed:
        names = " or ".join(dict.fromkeys(map(dtype_name, allowed)))
        raise CheckFailed(f"dtype of {subject}: should be {names}, got {dtype_name(got.dtype)}")


def close(subject: str, got: Tensor, expected: Tensor, tolerance: Tolerance) -> None:
    """Shapes first, nothing is broadcast; then NaN and infinity; then differences, in float64.

    Whole numbers, such as counts, should be equal.
    """
    same_shape(subject, got, expected)
    if not (got.is_floating_point() or expected.is_floating_point()):
        tolerance = EXACTLY
    got, expected = got.double(), expected.double()
    if surely_close(got, expected, tolerance):
        return
    as_finite(subject, got, expected)
    wrong = mismatch_mask(got, expected, tolerance)
    if wrong.any():
        distance = (got - expected).abs().nan_to_num(torch.inf, torch.inf).masked_fill(~wrong, -1)
        index = first_index(distance == distance.max())  # torch.unravel_index imports sympy, which takes 0.4 s
        count = f"{int(wrong.sum())} of {got.numel()} differ; worst{at(index, got)}: " if got.numel() > 1 else ""
        raise CheckFailed(f"{subject}: {count}{expected_and_got(got[index], expected[index])}")


def as_finite(subject: str, got: Tensor, expected: Tensor) -> None:
    """NaN and infinity only where they should be; of one shape."""
    for what, where in (("NaN", got.isnan() & ~expected.isnan()), ("infinite", got.isinf() & ~expected.isinf())):
        if where.any():
            index = first_index(where)
            count = f" ({int(where.sum())} of {got.numel()} are {what})" if got.numel() > 1 else ""
            raise CheckFailed(f"{subject}: {expected_and_got(got[index], expected[index], at(index, got))}{count}")


def surely_close(got: Tensor, expected: Tensor, tolerance: Tolerance) -> bool:
    """The usual cases, which are quick to see; False says nothing. Both in float64 and of one shape."""
    if torch.equal(got, expected):
        return True
    return bool(((got - expected).abs() < tolerance.relative * expected.abs() + tolerance.absolute).all())


def mismatch_mask(got: Tensor, expected: Tensor, tolerance: Tolerance) -> Tensor:
    """Elementwise; equal infinities and two NaNs agree. Both in float64 and of one shape."""
    absolute = tolerance.absolute
    if tolerance.scaled and expected.numel():
        absolute += tolerance.scaled * float(expected.nan_to_num(0, 0, 0).abs().max())
    return ~torch.isclose(got, expected, tolerance.relative, absolute, equal_nan=True)


def finite(subject: str, got: Tensor) -> None:
    if not got.isfinite().all():
        index = first_index(~got.isfinite())
        raise CheckFailed(f"{subject}: should be finite, got {got[index].item()}{at(index, got)}")


def at(index: tuple[int, ...], got: Tensor) -> str:
    """Nothing where there is only one element."""
    return f" at {list(index)}" if got.numel() > 1 else ""


def first_index(mask: Tensor) -> tuple[int, ...]:
    return tuple(int(i) for i in mask.nonzero()[0])


def shown(got: float, right: float, most: float = 0) -> str:
    """The number with as many digits as it takes to see that it is further than `most` from what is right."""
    for digits in range(3, 18):
        text = f"{got:.{digits}g}"
        if abs(float(text) - right) > most:
            break
    return text


def expected_and_got(got: Tensor, expected: Tensor, where: str = "") -> str:
    """ "should be X, got Y" with enough digits to see the difference, and no more."""
    for digits in (6, 9, 12, 17):
        texts = [f"{value.item() + 0.0:.{digits}g}" for value in (expected, got)]  # a zero without its sign
        if texts[0] != texts[1]:
            break
    return f"should be {texts[0]}{where}, got {texts[1]}"


def first_difference(got: object, wanted: object) -> str:
    """ "should be X, got Y", of long texts and lists from shortly before where they first differ.

    Lists of lists are shown as a table below.
    """
    if calls.is_table(got) and calls.is_table(wanted) and (got or wanted):
        return calls.first_difference(got, wanted)
    said = f"should be {wanted!r}, got {got!r}"
    if not isinstance(got, str | list) or not isinstance(wanted, str | list) or len(said) <= WHOLE:
        return said
    alike = (one == other for one, other in zip(got, wanted, strict=False))
    start = max(next((i for i, same in enumerate(alike) if not same), min(len(got), len(wanted))) - BEFORE, 0)
    right, there = (one[start : start + BEFORE + AFTER] for one in (wanted, got))
    lengths = f"; {len(wanted)} in all, got {len(got)}" if len(wanted) != len(got) else ""
    return f"should be {right!r} from index {start} on, got {there!r}{lengths}"
