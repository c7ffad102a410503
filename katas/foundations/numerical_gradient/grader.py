"""What is checked of numerical_gradient."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Submission, Tolerance

# Of each entry: slopes of 1e-6 stand beside slopes of 2, and where f does not depend on an entry, it is exactly 0.
TOLERANCE = {torch.float64: Tolerance(1e-6, 0, 0), torch.float32: Tolerance(1e-2, 0, 0)}
GIVEN_H = {torch.float64: Tolerance(1e-10, 0, 0)}


def by_autograd(f, x, h=None):
    """The formula where h is given, and where autograd does not reach."""
    x = x.detach().requires_grad_()
    value = f(x)
    if h is None and value.requires_grad:
        return torch.autograd.grad(value, x)[0]
    step, x = h or 1e-5, x.detach()
    moves = step * torch.eye(x.numel(), dtype=x.dtype).reshape(-1, *x.shape)
    return torch.stack([(f(x + move) - f(x - move)) / (2 * step) for move in moves]).reshape(x.shape)


# Scenarios, which are sent as source to where the submission runs. x.data is x's own memory, but torch does not count
# what is written to it: x may be moved, if its old values come back.


def gradient_of(numerical_gradient, formula, x, h=None):
    f = eval(f"lambda z: {formula}", {"torch": torch, "math": math})
    return numerical_gradient(f, x.data, h)


def recorded(numerical_gradient, x):
    seen = []

    def f(z):
        seen.append(z.detach())
        return z.exp().sum()

    numerical_gradient(f, x.data)
    return {"shapes": [str(list(z.shape)) for z in seen], "dtypes": [str(z.dtype) for z in seen]}


def learning(numerical_gradient, x):
    x = x.data
    leaf, weights = x.clone().requires_grad_(), torch.ones_like(x).requires_grad_()
    enabled = torch.is_grad_enabled()
    gradients = {
        "gradient at a leaf": numerical_gradient(lambda z: z.exp().sum(), leaf),
        "gradient at 1 * leaf": numerical_gradient(lambda z: z.exp().sum(), 1 * leaf),
        "gradient with weights": numerical_gradient(lambda z: (weights * z).exp().sum(), x),
        "gradient with weights, without axes": numerical_gradient(lambda z: (weights * z).exp().sum(), x[0, 0]),
    }
    with torch.no_grad():
        numerical_gradient(lambda z: z.exp().sum(), x[0])
        still_off = not torch.is_grad_enabled()
    graphs = {f"requires_grad of the {name}": gradient.requires_grad for name, gradient in gradients.items()}
    after = {
        "leaf.requires_grad": leaf.requires_grad,
        "whether gradients are switched on as before": torch.is_grad_enabled() == enabled,
        "whether gradients stay off under no_grad": still_off,
    }
    return {**gradients, **graphs, **after, "leaf.grad": leaf.grad, "weights.grad": weights.grad}


def other_strides(numerical_gradient, x):
    parts = {"the transposed": x.data.mT, "every other column": x.data[:, ::2]}
    return {name: numerical_gradient(lambda z: z.exp().sum(), part) for name, part in parts.items()}


def before_and_after(numerical_gradient, x):
    x = -x.relu()  # some of it is −0
    before = x.clone()
    gradient = numerical_gradient(lambda z: z.exp().sum(), x)
    same = torch.equal(x, before) and torch.equal(torch.signbit(x), torch.signbit(before))
    return {"gradient": gradient, "x is the same": same}


def many_sines(numerical_gradient, x):
    parts = {"default h": (x, None), "h = 0.5": (x[:32], 0.5)}
    leaves = {name: (part.double().clone().requires_grad_(), h) for name, (part, h) in parts.items()}
    found = {name: numerical_gradient(lambda z: z.sin().sum(), leaf, h) for name, (leaf, h) in leaves.items()}
    return {name: gradient.to(x.dtype) for name, gradient in found.items()}


def between(low: float, high: float) -> Callable[[Draw], Tensor]:
    """Both ends, where bad steps show first, and three points more."""
    return lambda draw: torch.cat([torch.tensor([low, high]), draw.uniform(3, low=low, high=high)])


def near(*values: float) -> Callable[[Draw], Tensor]:
    return lambda draw: torch.tensor(values, dtype=torch.float64) * draw.uniform(len(values), low=0.95, high=1.05)


def any_matrix(draw: Draw) -> Tensor:
    return shaped(*draw.shape(2))(draw)


def shaped(*shape: int) -> Callable[[Draw], Tensor]:
    return lambda draw: draw.uniform(*shape, low=-0.7, high=0.7)


def ask(name: str, points: Callable[[Draw], Tensor], *formulas: str, **others: object) -> Case:
    """For the gradient of each formula at points of its own; with a given h, the formula's value."""
    return Case(
        name,
        lambda draw: [{"formula": formula, "x": points(draw), **others} for formula in formulas],
        scenario=gradient_of,
        tolerance=GIVEN_H if "h" in others else {},
    )


def jumps(draw: Draw) -> list[Arguments]:
    """Further apart than a default step; and so close that an h of 1e-7 misses what a default step meets."""
    far = {"formula": "z.floor().sum()", "x": near(1.3, -0.6, 2.5)(draw), "h": 1.0}
    return [far, {"formula": "(z > 0).to(z.dtype).sum()", "x": near(5e-8, 2e-6, -3e-6)(draw), "h": 1e-7}]


def views(draw: Draw) -> list[Arguments]:
    """Where x itself is moved, the second value is also the first."""
    return [{"formula": "z[1]", "x": shaped(3)(draw)}, {"formula": "z", "x": shaped()(draw)}]


def robust(name: str, points: Callable[[Draw], Tensor], scenario: Callable[..., object]) -> Case:
    return Case(name, lambda draw: {"x": points(draw)}, scenario=scenario, category="robustness")


POSITIVE = [f"({each}).sum()" for each in ("1 / z", "z**0.5", "z.log()", "z.log2()")]
CIRCULAR = [f"{each}.sum()" for each in ("z.sin()", "(z + 1.5).cos()", "z.tan()", "z.asin()", "z.acos()", "z.atan()")]
RULES = ("(2 + z.sin().exp().sum()).log()", "(z**2 * z.exp() * z.cos()).sum()", "(z.sin() / (2 + z.cos())).sum()")
OFFSET = "z.sin().sum() + (10_000 if z.dtype == torch.float64 else 100)"
ITEMS = "torch.tensor(math.sin(z[0].item()) * math.exp(z[1].item()), dtype=z.dtype)"

GRADER = Grader(
    answers=(
        Answer(
            "numerical_gradient(f, x, h=None)",
            oracle=by_autograd,
            half=False,
            tolerance=TOLERANCE,
            cases=(
                ask("powers", near(0.5, -0.8, -2, 3), *(f"(z**{n}).sum()" for n in (3, 2, 1, -1, -2))),
                ask("roots_and_logarithms", between(0.11, 3), *POSITIVE),
                ask("exponentials", between(-2, 2.5), "z.exp().sum()", "(3**z).sum()"),
                ask("trigonometric", between(-0.9, 0.9), *CIRCULAR),
                ask("chain_product_quotient", between(0.3, 0.9), *RULES),
                ask("zeros", near(0, 1, 1e-6, -0.0), "z.exp().sum()"),
                ask("mixed_magnitudes", near(0.5, 3, -1e3, 1e6, -1e6), "(z**2).log().sum()"),
                ask("large_offset", near(0.2, 0.5, -0.4), OFFSET),
                ask("matrix", any_matrix, "(z.exp() @ z.exp().mT).log().sum()"),
                ask("three_axes", shaped(2, 3, 4), "1e-6 * z.exp().sum()"),
                ask("axes_of_length_one", shaped(1, 4, 1, 1), "z.exp().sum()"),
                ask("no_axes", shaped(), "z.exp()", "2 * z"),
                ask("given_h", near(0, 2, -8, 0.5), "(z**3).sum()", h=0.3),
                ask("given_large_h", near(1, 2, -3, 0.5), "z.prod() + (z**3).sum()", h=16),
                Case("given_h_at_jumps", jumps, scenario=gradient_of),
                ask("through_item", near(0.4, -0.3), ITEMS),
                ask("branches", near(-0.4, 1, 0.3), "(z**2).sum() if z[0] > 0 else z.exp().sum()"),
                Case("view_of_the_argument", views, scenario=gradient_of, core=False),
                robust("x_or_weights_require_grad", shaped(3, 4), learning),
                robust("not_contiguous", shaped(3, 4), other_strides),
                robust("x_is_back_bit_for_bit", shaped(12), before_and_after),
            ),
            budgets=(
                Budget(
                    "many_entries",
                    sizes={"entries": (140, 560)},
                    inputs=lambda draw, entries: {"x": draw.uniform(entries, low=-1)},
                    scenario=many_sines,
                    asks=("memory",),
                    hints={"entries": "make two moved points at a time, and keep no graph of f"},
                ),
            ),
        ),
    ),
    banned=("autograd", "vmap", "gradcheck"),
)


@pytest.mark.robustness
def test_what_f_receives(submission: Submission, draw: Draw) -> None:
    for shape, dtype in (((4, 1, 5), torch.float64), ((4, 1, 5), torch.float32), ((), torch.float64)):
        x = draw.uniform(*shape, low=-0.7, high=0.7).to(dtype)
        found, n = submission.run(recorded, x=x), x.numel()
        for what, right in (("shapes", str(list(shape))), ("dtypes", str(dtype))):
            others = sorted({*found[what]} - {right})
            assert not others, f"{what} of what f receives, for an x of {right}: should be {right}, got {others[0]}"
            calls = len(found[what])
            message = f"calls of f for {n} entries: should be two for each and at most two more, got {calls}"
            assert 2 * n <= calls <= 2 * n + 2, message
