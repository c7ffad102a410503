"""The oracles of gradient_descent are loops of their own: they are held against torch.optim.SGD and least squares."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from graders.catalogue import katas
from graders.kata.draw import Draw
from graders.kata.spec import Arguments, Case

GRADER = katas.find(["gradient_descent"])[0].module
DESCENT, REGRESSION = GRADER.GRADER.answers
LOOPS = [case for case in DESCENT.cases if case.name != "losses_and_parameters"]
CALLS = [case for case in REGRESSION.cases if case.scenario is None]


def by_sgd(loss_fn: Callable[..., Tensor], params: list[Tensor], lr: float, steps: int) -> list[float]:
    optimizer, losses = torch.optim.SGD(params, lr), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_fn(*params)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
    return losses


def inputs_of(case: Case, seed: int) -> list[Arguments]:
    assert case.inputs is not None
    made = case.inputs(Draw(seed, case.name))
    calls = made if isinstance(made, list) else [made]
    return [{name: one.double() if isinstance(one, Tensor) else one for name, one in call.items()} for call in calls]


@pytest.mark.parametrize("case", LOOPS, ids=lambda case: case.name)
@pytest.mark.parametrize("seed", [0, 1])
def test_descent_agrees_with_sgd(case: Case, seed: int) -> None:
    assert case.scenario is not None
    for arguments in inputs_of(case, seed):
        ours, theirs = (case.scenario(one, **arguments) for one in (GRADER.by_definition, by_sgd))
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", CALLS, ids=lambda case: case.name)
@pytest.mark.parametrize("seed", [0, 1])
def test_regression_agrees_with_sgd(case: Case, seed: int) -> None:
    for arguments in inputs_of(case, seed):
        given: Any = {**arguments}
        x, y = given.pop("x"), given.pop("y")
        w, b = (torch.zeros(shape, dtype=x.dtype, requires_grad=True) for shape in (x.shape[1:], ()))
        by_sgd(lambda w, b, x=x, y=y: torch.nn.functional.mse_loss(x @ w + b, y), [w, b], **given)
        ours = GRADER.regression_by_definition(x, y, **given)
        torch.testing.assert_close(ours, (w.detach(), b.detach()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_many_steps_end_at_least_squares(seed: int) -> None:
    (arguments,) = inputs_of(next(case for case in CALLS if case.name == "ends_at_least_squares"), seed)
    x, y = arguments["x"], arguments["y"]
    best = torch.linalg.lstsq(torch.cat([x, torch.ones(len(x), 1).double()], dim=1), y).solution
    w, b = GRADER.regression_by_definition(**arguments)
    torch.testing.assert_close(torch.cat([w, b[None]]), best, rtol=0, atol=1e-5)
