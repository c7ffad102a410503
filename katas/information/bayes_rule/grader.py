"""What is checked of bayes_rule."""

from itertools import product

import pytest
import torch
from torch import Tensor

from graders.kata import (
    HALF,
    TOLERANCES,
    Answer,
    Arguments,
    Budget,
    Case,
    Draw,
    Grader,
    Inputs,
    Submission,
    Tolerance,
    close,
    far,
    last_places,
)

IMPOSSIBLE = 1  # the hypothesis whose prior is 0
# In float32 a sum of about −1000 is rounded by 3e-5, and so is the evidence.
FAR = {torch.float32: Tolerance(1e-3, 1e-4, 1e-3)}
DIFFERENCE = last_places(10, absolute=3)  # a gradient is a difference of what arrives and its sum, and may be nearly 0


def sum_of_joint(prior: Tensor, likelihood: Tensor) -> Tensor:
    return likelihood @ prior


def share_of_joint(prior: Tensor, likelihood: Tensor) -> Tensor:
    return prior * likelihood / sum_of_joint(prior, likelihood)[..., None]


def share_in_logs(log_prior: Tensor, log_likelihood: Tensor) -> Tensor:
    return torch.log_softmax(log_prior + log_likelihood, -1)


def distribution(draw: Draw, K: int) -> Tensor:
    weights = draw.uniform(K, low=0.5, high=2)
    return weights / weights.sum()


def drawn(draw: Draw, *shape: int, scale: float = 1.0) -> Arguments:
    return {"prior": distribution(draw, shape[-1]), "likelihood": scale * draw.uniform(*shape, low=0.05)}


def rows(draw: Draw) -> list[Arguments]:
    return [drawn(draw, 5, 4)]


def leading_axes(draw: Draw) -> list[Arguments]:
    shapes = [(4,), (4, 4), (1, 4), (2, 3, 4), (2, 1, 3, 4), (4, 1, 4), (3, 1), (1,)]
    shapes += [draw.shape(axes, most=most) for axes, most in ((1, 40), (2, 20), (4, 6))]
    return [drawn(draw, *shape, scale=5) for shape in shapes]


def in_logs(plain: Arguments) -> Arguments:
    return {f"log_{name}": value.log() for name, value in plain.items()}


def for_logs(inputs: Inputs) -> Inputs:
    return lambda draw: [in_logs(one) for one in inputs(draw)]


def zeros(draw: Draw) -> list[Arguments]:
    """In the likelihood, in the prior, and in both."""
    likely, prior, both = (drawn(draw, 5, 4) for _ in range(3))
    for one in (likely, both):
        one["likelihood"][[0, 1, 1, 2, 4], [3, 0, 2, IMPOSSIBLE, IMPOSSIBLE]] = 0
    for one in (prior, both):
        one["prior"][IMPOSSIBLE] = 0
        one["prior"] /= one["prior"].sum()
    return [likely, prior, both]


def no_evidence(draw: Draw) -> list[Arguments]:
    """In one row of several, in the only one, of one hypothesis, and where just the impossible one explains the row."""
    only, several, (_, explained, _), alone = drawn(draw, 4), drawn(draw, 2, 3, 4), zeros(draw), drawn(draw, 3, 1)
    alone["likelihood"][1] = 0
    only["likelihood"][:] = several["likelihood"][1, 0] = 0
    explained["likelihood"][3] = torch.arange(4) == IMPOSSIBLE
    return [only, several, explained, alone]


def observations(draw: Draw) -> Arguments:
    """Rows of about −800, as 1000 observations make them, −8 and 800; in three, the impossible one is above all."""
    sums = draw.uniform(1000, 6, 4, low=0.05).log().sum(0) * torch.tensor([1.0, 0.01, -1.0] * 2)[:, None]
    sums[:3, IMPOSSIBLE] += 1500
    return in_logs(zeros(draw)[1]) | {"log_likelihood": sums}


def far_in_half(draw: Draw) -> list[Arguments]:
    """Rows of either sign, and those far below 0 alone, where one maximum for all would do."""
    sums = [rows for both in far.rows(draw, 6, 4) for rows in (both, both[1::2])]
    return [{"log_prior": distribution(draw, 4).log(), "log_likelihood": rows} for rows in sums]


def with_priors(draw: Draw, *priors: Tensor) -> list[Arguments]:
    return [{"prior": prior, "likelihood": draw.uniform(3, len(prior), low=0.1)} for prior in priors]


def bad_sums(draw: Draw) -> list[Arguments]:
    totals = product((0.94, 1.06, 0.5, 2.0, 7.0), (1, 4))
    return with_priors(draw, *(total * distribution(draw, K) for total, K in totals))


def bad_priors(draw: Draw) -> list[Arguments]:
    negative = ([1.2, -0.2], [-1e-9, 0.5, 0.5], [0.7, 0.4, -0.1])
    return bad_sums(draw) + with_priors(draw, *map(torch.tensor, negative))


def budget(name: str, form=dict) -> Budget:
    return Budget(
        name,
        sizes={"rows": (4, 16), "hypotheses": (64, 2048)},
        inputs=lambda draw, rows, hypotheses: form(drawn(draw, rows, 2, hypotheses)),
        hints={"rows": "broadcast the prior against all rows", "hypotheses": "sum over the last axis with one call"},
    )


GRADER = Grader(
    answers=(
        Answer(
            "posterior(prior, likelihood)",
            oracle=share_of_joint,
            tolerance=DIFFERENCE,
            differentiable=("prior", "likelihood"),
            budgets=(budget("posterior_of_many"),),
            cases=(
                Case("posterior_rows", rows),
                Case("posterior_leading_axes", leading_axes),
                Case("posterior_zeros", zeros, core=False),
                # The smaller the likelihoods, the larger their gradients, up to where float32 overflows.
                Case(
                    "tiny",
                    lambda draw: [drawn(draw, 3, 4, scale=x) for x in (1e-12, 1e-25)],
                    gradients="none",
                    core=False,
                ),
                Case(
                    "far_tinier",
                    lambda draw: drawn(draw, 3, 4, scale=1e-200),
                    gradients="none",
                    dtypes=(torch.float64,),
                    core=False,
                ),
                Case("posterior_bad_prior", bad_priors, raises=ValueError),
                Case("posterior_no_evidence", no_evidence, raises=ValueError),
            ),
        ),
        Answer(
            "total_probability(prior, likelihood)",
            oracle=sum_of_joint,
            differentiable=("prior", "likelihood"),
            budgets=(budget("total_of_many"),),
            cases=(
                Case("total_rows", rows),
                Case("total_leading_axes", leading_axes),
                Case("total_zeros", lambda draw: zeros(draw) + no_evidence(draw), core=False),
                Case("total_bad_prior", bad_priors, raises=ValueError),
            ),
        ),
        Answer(
            "log_posterior(log_prior, log_likelihood)",
            oracle=share_in_logs,
            tolerance=DIFFERENCE,
            differentiable=("log_prior", "log_likelihood"),
            budgets=(budget("log_of_many", in_logs),),
            cases=(
                Case("log_rows", for_logs(rows)),
                Case("log_leading_axes", for_logs(leading_axes)),
                Case("log_zeros", for_logs(zeros), core=False),
                Case("thousand_observations", observations, tolerance=FAR, core=False),
                Case("observations_in_half", far_in_half, gradients="none", category="robustness", dtypes=HALF),
                Case("log_bad_prior", for_logs(bad_sums), raises=ValueError),
                Case("log_no_evidence", for_logs(no_evidence), raises=ValueError),
            ),
        ),
    ),
)


@pytest.mark.robustness
def test_rounded_prior(submission: Submission, draw: Draw) -> None:
    """Its sum is off 1 by nearly as much as the statement allows."""
    for dtype, off in ((torch.float64, 8e-7), (torch.float32, 8e-7), (torch.float16, 6e-3), (torch.bfloat16, 6e-3)):
        for total, answer in product((1 - off, 1 + off), GRADER.answers):
            (asked,) = with_priors(draw, torch.full((2,), total / 2))
            asked = in_logs(asked) if answer.name == "log_posterior" else asked
            asked = {name: value.to(dtype) for name, value in asked.items()}
            expected = answer.oracle(*(value.double() for value in asked.values()))
            got = submission.call(answer.name, **asked)
            close(f"{answer.name} of {dtype}, a prior that sums to {total}", got, expected, TOLERANCES[dtype])
