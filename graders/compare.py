"""Holds what came back against what should have. Every message reads "subject: should be X, got Y"."""

from __future__ import annotations

import torch
from torch import Tensor

from graders import wire
from graders.messages import Cost, Raised, Reply
from graders.spec import Tolerance
from graders.submission import MOST_LINES, CheckFailed


def same_shape(subject: str, got: Tensor, expected: Tensor) -> None:
    if got.shape != expected.shape:
        raise CheckFailed(f"shape of {subject}: should be {tuple(expected.shape)}, got {tuple(got.shape)}")


def same_dtype(subject: str, got: Tensor, allowed: tuple[torch.dtype, ...]) -> None:
    if got.dtype not in allowed:
        names = " or ".join(dict.fromkeys(map(wire.dtype_name, allowed)))
        raise CheckFailed(f"dtype of {subject}: should be {names}, got {wire.dtype_name(got.dtype)}")


def close(subject: str, got: Tensor, expected: Tensor, tolerance: Tolerance) -> None:
    """Shapes first, nothing is broadcast; then NaN and infinity; then differences, in float64."""
    same_shape(subject, got, expected)
    got, expected = got.double(), expected.double()
    if ((got - expected).abs() < tolerance.relative * expected.abs() + tolerance.absolute).all():
        return  # the usual case, and the quick one
    as_finite(subject, got, expected)
    wrong = differs(got, expected, tolerance)
    if wrong.any():
        distance = (got - expected).abs().nan_to_num(torch.inf, torch.inf).masked_fill(~wrong, -1)
        index = tuple(int(i) for i in torch.unravel_index(distance.argmax(), got.shape))
        count = f"{int(wrong.sum())} of {got.numel()} differ; worst{at(index, got)}: " if got.numel() > 1 else ""
        raise CheckFailed(f"{subject}: {count}{both(expected[index], got[index])}")


def as_finite(subject: str, got: Tensor, expected: Tensor) -> None:
    """NaN and infinity only where they should be; of one shape."""
    for what, where in (("NaN", got.isnan() & ~expected.isnan()), ("infinite", got.isinf() & ~expected.isinf())):
        if where.any():
            index = first_index(where)
            count = f" ({int(where.sum())} of {got.numel()} are {what})" if got.numel() > 1 else ""
            raise CheckFailed(f"{subject}: {both(expected[index], got[index], at(index, got))}{count}")


def differs(got: Tensor, expected: Tensor, tolerance: Tolerance) -> Tensor:
    """Elementwise; equal infinities and two NaNs agree. Both in float64 and of one shape."""
    finite = expected[expected.isfinite()].abs()
    largest = finite.max() if finite.numel() else expected.new_zeros(())
    allowed = tolerance.relative * expected.abs() + tolerance.scaled * largest + tolerance.absolute
    near = (got - expected).abs() <= torch.where(expected.isfinite(), allowed, 0.0)
    return ~(near | (got == expected) | (got.isnan() & expected.isnan()))


def finite(subject: str, got: Tensor) -> None:
    if not got.isfinite().all():
        index = first_index(~got.isfinite())
        raise CheckFailed(f"{subject}: should be finite, got {got[index].item()}{at(index, got)}")


def at(index: tuple[int, ...], got: Tensor) -> str:
    """Nothing where there is only one element."""
    return f" at {list(index)}" if got.numel() > 1 else ""


def first_index(mask: Tensor) -> tuple[int, ...]:
    return tuple(int(i) for i in mask.nonzero()[0])


def both(expected: Tensor, got: Tensor, where: str = "") -> str:
    """ "should be X, got Y" with enough digits to see the difference, and no more."""
    for digits in (6, 9, 12, 17):
        texts = [f"{value.item():.{digits}g}" for value in (expected, got)]
        if texts[0] != texts[1]:
            break
    return f"should be {texts[0]}{where}, got {texts[1]}"


def agree(one: Reply, other: Reply, tolerance: Tolerance) -> bool:
    """Whether two submissions did the same: for the diagnosis, which names a mistake only if it always does."""
    if (one.raised is None, one.died, one.is_tuple) != (other.raised is None, other.died, other.is_tuple):
        return False
    if (one.lines > MOST_LINES) != (other.lines > MOST_LINES):
        return False
    if one.raised and other.raised and not same_exception(one.raised, other.raised):
        return False
    if len(one.outputs) != len(other.outputs) or one.gradients.keys() != other.gradients.keys():
        return False
    if {name.rpartition(".")[2] for name, _ in one.calls} != {name.rpartition(".")[2] for name, _ in other.calls}:
        return False
    if one.cost and other.cost and not same_cost(one.cost, other.cost):
        return False
    pairs: list[tuple[Tensor | str | None, Tensor | str | None]] = list(zip(one.outputs, other.outputs, strict=True))
    pairs += [(one.gradients[name], other.gradients[name]) for name in one.gradients]
    pairs += [(one.inputs.get(name), other.inputs.get(name)) for name in one.inputs]
    return all(alike(left, right, tolerance) for left, right in pairs)


def same_exception(one: Raised, other: Raised) -> bool:
    """`assert` and `raise ValueError` are two ways to refuse arguments."""
    return one.type == other.type or (one.refusal and other.refusal)


def same_cost(one: Cost, other: Cost) -> bool:
    """Within a factor of three, or so little that it does not matter."""
    for figure, little in (("operators", 100), ("written", 1 << 20), ("peak", 1 << 20), ("lines", 10)):
        low, high = sorted((getattr(one, figure), getattr(other, figure)))
        if high > 3 * low + little:
            return False
    return True


def alike(one: Tensor | str | None, other: Tensor | str | None, tolerance: Tolerance) -> bool:
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return type(one) is type(other) and (isinstance(one, Tensor) or one == other)
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return not bool(differs(one.double(), other.double(), tolerance).any())
