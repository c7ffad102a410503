"""Right answers stay well within the tolerances of half precision, and what is off by more does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import Tensor

from graders.catalogue import katas
from graders.catalogue.katas import Kata, load_module
from graders.faults import CheckFailed
from graders.judge.vectors import TestVectors
from graders.kata.compare import close
from graders.kata.spec import Answer, Case
from graders.kata.tolerances import HALF, TOLERANCES, Tolerance
from graders.sandbox.messages import floating
from graders.sandbox.returned import leaves_of

MARGIN = 1.3  # of ten seeds, the worst error takes 1 / 1.47 of its tolerance
SEEDS = (1,)
Pair = tuple[str, Tensor, Tensor, Tolerance]  # where it was found, what came back, what should have, how near


def pairs(vectors: TestVectors, module: ModuleType) -> Iterator[Pair]:
    """Of all values and gradients in half precision."""
    for answer in vectors.grader.answers:
        for case in (case for case in answer.cases if case.inputs and not case.raises):
            for dtype in {*case.dtypes, *answer.halves_in(case)}.intersection(HALF):
                for index in range(len(vectors.arguments(case))):
                    yield from of_call(module, answer, case, vectors, dtype, index)


def of_call(
    module: ModuleType, answer: Answer, case: Case, vectors: TestVectors, dtype: torch.dtype, index: int
) -> Iterator[Pair]:
    given = {
        name: value.clone() if isinstance(value, Tensor) else value
        for name, value in floating(vectors.arguments(case)[index], dtype).items()
    }
    parameters = {name: value.clone() for name, value in vectors.parameters(answer, case, dtype).items()}
    leaves = {name: given[name] for name in answer.differentiable if isinstance(given.get(name), Tensor)} | parameters
    for leaf in leaves.values():
        leaf.requires_grad_()
    if case.scenario:
        returned = case.scenario(**{name: getattr(module, name) for name in vectors.answers_in(case.scenario)}, **given)
    elif answer.forward:
        one = getattr(module, answer.name)(**vectors.constructed(case)).to(dtype)
        returned = torch.func.functional_call(one, parameters, (), given)
    else:
        returned = getattr(module, answer.name)(**given)
    expected, found = vectors.expected(answer, case, dtype, index), leaves_of(returned)
    where, tolerance = f"{case.name}, {dtype}", answer.tolerance_for(case, dtype)
    for name, wanted in expected.leaves.items():
        got = found[name]
        if isinstance(got, Tensor) and isinstance(wanted, Tensor):
            yield f"{where}, {name}", got.detach(), wanted, tolerance
    outputs = [one for one in found.values() if isinstance(one, Tensor)]
    if expected.cotangents and case.gradients == "exact":
        products = [
            (output * cotangent.to(output.dtype)).sum()
            for output, cotangent in zip(outputs, expected.cotangents, strict=True)
            if output.requires_grad
        ]
        gradients = torch.autograd.grad(torch.stack(products).sum(), list(leaves.values()), allow_unused=True)
        for name, got in zip(leaves, gradients, strict=True):
            if got is not None:
                free = expected.gradients[name].isnan()
                wanted = expected.gradients[name].masked_fill(free, 0)
                yield f"{where}, gradient of {name}", got.masked_fill(free, 0), wanted, tolerance


def right_answers(kata: Kata) -> list[Path]:
    return [kata.reference_file, *sorted((kata.solutions / "alternatives").glob("*.py"))]


@pytest.mark.parametrize("kata", katas.all_katas(), ids=lambda kata: kata.id)
@pytest.mark.filterwarnings("ignore")
def test_right_answers_are_well_within_the_tolerance(kata: Kata) -> None:
    for seed in SEEDS:
        vectors = TestVectors(kata.id, kata.grader, seed)
        for file in right_answers(kata):
            module = load_module(file, f"{kata.id}_{file.stem}")
            for where, got, wanted, allowed in pairs(vectors, module):
                parts = (allowed.relative, allowed.scaled, allowed.absolute)
                close(f"{file.stem}: {where}", got, wanted, Tolerance(*(part / MARGIN for part in parts)))


@pytest.mark.parametrize(
    ("dtype", "factor"), [(torch.float32, 1 + 7e-5), (torch.float16, 1.008), (torch.bfloat16, 1.04)], ids=str
)
def test_what_is_off_by_more_than_the_last_digits_fails(dtype: torch.dtype, factor: float) -> None:
    right = torch.tensor([0.9, -0.4, 0.01], dtype=dtype).double()
    close("values", right, right, TOLERANCES[dtype])
    with pytest.raises(CheckFailed):
        close("values", (right * factor).to(dtype), right, TOLERANCES[dtype])
