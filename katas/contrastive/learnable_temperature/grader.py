"""What is checked of learnable_temperature."""

import math
from functools import partial

import torch
from torch import Tensor, nn

from graders.kata import HALF, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, two_views


class Right(nn.Module):
    """The loss at a temperature that is learned."""

    def __init__(self, init_temperature: float = 0.07) -> None:
        super().__init__()
        self.log_temperature = nn.Parameter(torch.tensor(math.log(init_temperature)))

    @property
    def temperature(self) -> Tensor:
        return self.log_temperature.exp()

    def forward(self, features: Tensor) -> Tensor:
        return two_views.info_nce(features, self.temperature)


def at_a_temperature(InfoNCE, features, log_temperature, training=True):
    both = nn.Module()
    both.one = InfoNCE().to(features).train(training)
    both.forward = lambda x: {"loss": both.one(x), "temperature": both.one.temperature}
    return torch.func.functional_call(both, {"one.log_temperature": log_temperature}, features)


def a_new_one(InfoNCE, **init):
    one = InfoNCE(**init).float()
    names = [name if parameter.requires_grad else f"{name} (frozen)" for name, parameter in one.named_parameters()]
    return {"parameters": ", ".join(names), "log_temperature": one.log_temperature, "temperature": one.temperature}


def trained(InfoNCE, features, log_temperature):
    one, other = InfoNCE().to(features), InfoNCE(0.5).to(features)
    at_first = {name: value.shape for name, value in one.state_dict().items()}
    other(features)
    with torch.no_grad():
        one.log_temperature.copy_(log_temperature)
    with torch.enable_grad():
        found = {"the loss of one pair requires grad": one(features[:2]).requires_grad}
    for step in range(3):
        one.train(step == 0)  # a temperature that eval mode keeps is old at the second step there
        with torch.enable_grad():
            loss = one(features)
            (gradient,) = torch.autograd.grad(loss, one.log_temperature)
        with torch.no_grad():
            one.log_temperature -= 0.3 * gradient
        found[f"step {step}"] = {"loss": loss, "gradient": gradient, "temperature": one.temperature}
    now = {name: value.shape for name, value in one.state_dict().items()}
    found["state_dict has the names and shapes it had at first"] = now == at_first
    other.load_state_dict(one.state_dict())
    found["loaded into another"] = {"loss": other(features), "temperature": other.temperature}
    for more in (0, 1):
        with torch.no_grad():
            found[f"called with {more} more"] = torch.func.functional_call(
                other, {"log_temperature": log_temperature + more}, features
            )
    return found


def batches(InfoNCE, features, start):
    one = InfoNCE().to(features)
    with torch.no_grad():
        one.log_temperature.copy_(start)  # a default rounded to float32 is as welcome as one in float64
    return [one(features[:rows]) for rows in (4, 8, 6)]  # what is kept of the first batch is too small for the second


def given(features: Tensor, temperature: float, **mode: bool) -> Arguments:
    return {"features": features, "log_temperature": torch.tensor(math.log(temperature), dtype=torch.float64), **mode}


def at(*temperatures: float, D: int = 5, scale: float = 1.0, **mode: bool) -> Inputs:
    return lambda draw: [given(two_views.views(draw, 4, D, scale=scale), one, **mode) for one in temperatures]


def far_temperatures(draw: Draw) -> list[Arguments]:
    """In a pair of opposite views the only logit is −10,000, and the loss is 0."""
    return [*at(0.003, 1e-4, 150.0, 1e4)(draw), given(two_views.mirrored(draw.normal(1, 5)), 1e-4)]


def sizes(draw: Draw) -> list[Arguments]:
    """With one feature the cosines are ±1, and the features' gradient is 0. The last rows are short."""
    several = [two_views.views(draw, *size, scale=30.0) for size in ((2, 3), (3, 6), (5, 10), (7, 2), (48, 33))]
    made = [given(features, 0.4) for features in (two_views.one_feature(draw), *several, several[1] / 1e4)]
    return [*made, given(two_views.views(draw, *draw.shape(2), scale=30.0), draw.number(0.2, 2))]


def special_angles(draw: Draw) -> list[Arguments]:
    """Views that are equal, opposite, or orthogonal; equal rows give log(2N − 1), and one pair 0, at any τ."""
    x, basis = draw.normal(4, 5), torch.linalg.qr(draw.normal(6, 6)).Q
    opposite = two_views.mirrored(x)
    listed = [x.repeat(2, 1), opposite, basis, x[:1].repeat(8, 1), x[:2]]
    return [*(given(one, t) for one in listed for t in (0.1, 1.0)), given(opposite, 1e-3), given(opposite[::4], 1e-3)]


def shaped(*shapes: tuple[int, ...]) -> Inputs:
    return lambda draw: [given(draw.normal(*shape), 0.5) for shape in shapes]


def refused(_: Draw) -> list[Arguments]:
    return [{"init_temperature": temperature} for temperature in (0, 0.0, -0.07, -2)]


def inits(*temperatures: float) -> Inputs:
    return lambda draw: [{"init_temperature": one} for one in (*temperatures, draw.number(0.1, 3))]


SINGLE = (torch.float32,)  # the dtype that a parameter is made in
asked = partial(Case, scenario=at_a_temperature)
robust = partial(asked, category="robustness")
BUDGET = Budget(
    "many_samples",
    sizes={"samples": (64, 384), "features": (16, 64)},
    inputs=lambda draw, samples, features: given(two_views.views(draw, samples, features), 0.1),
    scenario=at_a_temperature,
    written=10,  # some masks and copies of all similarities are welcome
    peak=12,
    hints=two_views.HINTS,
)
CASES = (
    asked("eight_by_five", at(0.5)),
    Case("default_start", lambda _: {}, scenario=a_new_one, dtypes=SINGLE, gradients="none"),
    Case("other_starts", inits(0.5, 1, 2.5, 0.004, 1e-6, 1e4), scenario=a_new_one, dtypes=SINGLE, gradients="none"),
    Case("trained", at(0.4, 2.0), scenario=trained, gradients="none"),
    Case("other_sizes_later", lambda draw: {"features": draw.normal(8, 5), "start": draw.normal()}, scenario=batches),
    asked("temperatures", at(0.02, 0.05, 0.07, 0.2, 1.0, 2.0, 7.0, training=False)),
    # A cosine's rounding error counts ten thousand times.
    asked(
        "far_temperatures",
        far_temperatures,
        dtypes=(torch.float64,),
        tolerance=two_views.THOUSANDFOLD,
        core=False,
    ),
    asked("sizes", sizes),
    asked("special_angles", special_angles, tolerance=two_views.THOUSANDFOLD, core=False),
    robust("small_temperature", at(1e-3), tolerance=two_views.THOUSANDFOLD),
    robust(
        "small_temperature_in_half", at(0.05), gradients="finite", dtypes=HALF, tolerance=two_views.rounded_at(0.05, 4)
    ),
    # The gradient of the temperature does not fit float16 there.
    robust("tiny_temperature_in_half", at(1e-3), gradients="none", dtypes=HALF, tolerance=two_views.rounded_at(1e-3)),
    # The norms are about 700, their squares about 500 000: beyond the 65 504 of float16.
    robust("norm_fits_float16", at(0.5, D=64, scale=60.0), dtypes=(torch.float16,)),
    Case("temperature_not_above_0", refused, scenario=a_new_one, raises=ValueError),
    asked("other_ranks", shaped((), (8,), (5,), (4, 2, 3), (2, 4, 3), (2, 2, 2, 2), (3, 2, 4)), raises=ValueError),
    asked("odd_number_of_rows", shaped((5, 3), (1, 3), (3, 4)), raises=ValueError),
)
GRADER = Grader(
    answers=(
        Answer(
            "class InfoNCE(init_temperature=0.07)",
            methods=("forward(features)",),
            oracle=Right,
            differentiable=("features", "log_temperature"),
            tolerance=two_views.rounded_at(0.5, 4),
            budgets=(BUDGET,),
            cases=CASES,
        ),
    ),
)
