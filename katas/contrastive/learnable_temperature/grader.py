"""What is checked of learnable_temperature."""

import math
from functools import partial

import torch
from torch import Tensor, nn

from graders.kata import HALF, TOLERANCES, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Tolerance


class Right(nn.Module):
    """The definition, in which each row has 2N − 1 candidates."""

    def __init__(self, init_temperature: float = 0.07) -> None:
        super().__init__()
        self.log_temperature = nn.Parameter(torch.tensor(math.log(init_temperature)))

    @property
    def temperature(self) -> Tensor:
        return self.log_temperature.exp()

    def forward(self, features: Tensor) -> Tensor:
        N = len(features) // 2
        unit = features / features.square().sum(1, keepdim=True).sqrt()
        logits = unit @ unit.mT / self.temperature
        others = logits[~torch.eye(2 * N, dtype=torch.bool)].view(2 * N, 2 * N - 1)
        positive = torch.cat([logits.diagonal(N), logits.diagonal(-N)])
        return (others.logsumexp(1) - positive).mean()


def at_a_temperature(InfoNCE, features, log_temperature):
    both = nn.Module()
    both.one = InfoNCE().to(features.dtype)
    both.forward = lambda x: {"loss": both.one(x), "temperature": both.one.temperature}
    return torch.func.functional_call(both, {"one.log_temperature": log_temperature}, features)


def a_new_one(InfoNCE, **init):
    one = InfoNCE(**init).float()
    names = ", ".join(name for name, parameter in one.named_parameters() if parameter.requires_grad)
    return {"parameters": names, "log_temperature": one.log_temperature, "temperature": one.temperature}


def trained(InfoNCE, features, log_temperature):
    one, other = InfoNCE().to(features.dtype), InfoNCE(0.5).to(features.dtype)
    other(features)
    with torch.no_grad():
        one.log_temperature.copy_(log_temperature)
    found = {}
    for step in range(3):
        with torch.enable_grad():
            loss = one(features)
            (gradient,) = torch.autograd.grad(loss, one.log_temperature)
        with torch.no_grad():
            one.log_temperature -= 0.3 * gradient
        found[f"step {step}"] = {"loss": loss, "gradient": gradient, "temperature": one.temperature}
    other.load_state_dict(one.state_dict())
    return found | {"loaded into another": {"loss": other(features), "temperature": other.temperature}}


def given(features: Tensor, temperature: float) -> Arguments:
    return {"features": features, "log_temperature": torch.tensor(math.log(temperature), dtype=torch.float64)}


def views(draw: Draw, N: int, D: int, scale: float = 1.0) -> Tensor:
    """Two noisy views of N samples, in halves."""
    return (draw.normal(N, D).repeat(2, 1) + draw.normal(2 * N, D)) * scale


def at(*temperatures: float, D: int = 5, scale: float = 1.0) -> Inputs:
    return lambda draw: [given(views(draw, 4, D, scale), temperature) for temperature in temperatures]


def sizes(draw: Draw) -> list[Arguments]:
    """With one feature the cosines are ±1, and the features' gradient is 0."""
    one = draw.uniform(6, 1, low=0.5, high=2.0) * torch.tensor([[1.0], [-1.0], [1.0]]).double().repeat(2, 1)
    several = [views(draw, *size, scale=30.0) for size in ((2, 3), (3, 6), (5, 10), (7, 2), (48, 33))]
    return [given(features, 0.4) for features in (one, *several)]


def special_angles(draw: Draw) -> list[Arguments]:
    """Views that are equal, opposite, or orthogonal; equal rows give log(2N − 1), and one pair 0, at any τ."""
    x, basis = draw.normal(4, 5), torch.linalg.qr(draw.normal(6, 6)).Q
    opposite = torch.cat([x, -x])
    listed = [x.repeat(2, 1), opposite, basis, x[:1].repeat(8, 1), x[:2]]
    return [*(given(one, t) for one in listed for t in (0.1, 1.0)), given(opposite, 1e-3), given(opposite[::4], 1e-3)]


def shaped(*shapes: tuple[int, ...]) -> Inputs:
    return lambda draw: [given(draw.normal(*shape), 0.5) for shape in shapes]


def inits(*temperatures: float) -> Inputs:
    return lambda draw: [{"init_temperature": temperature} for temperature in temperatures]


def rounded_at(temperature: float) -> dict[torch.dtype, Tolerance]:
    """A cosine is off by half an epsilon, a logit by that over τ, and what nearly cancels by some of these."""
    off = {dtype: torch.finfo(dtype).eps / 2 / temperature * 4 for dtype in HALF}
    return {dtype: Tolerance(TOLERANCES[dtype].relative, off[dtype], off[dtype]) for dtype in HALF}


SINGLE = (torch.float32,)  # the dtype that a parameter is made in
THOUSANDFOLD = {torch.float32: Tolerance(1e-4, 2e-3, 2e-3)}  # a cosine's rounding error counts a thousand times
asked = partial(Case, scenario=at_a_temperature)
robust = partial(asked, category="robustness")
BUDGET = Budget(
    "many_samples",
    sizes={"samples": (64, 384), "features": (16, 64)},
    inputs=lambda draw, samples, features: given(views(draw, samples, features), 0.1),
    scenario=at_a_temperature,
    written=10,  # some masks and copies of all similarities are welcome
    peak=12,
    hints={"samples": "work on the whole (2N, 2N) matrix", "features": "multiply matrices, do not broadcast and sum"},
)
CASES = (
    asked("eight_by_five", at(0.5)),
    Case("default_start", lambda _: {}, scenario=a_new_one, dtypes=SINGLE, gradients="none"),
    Case("other_starts", inits(0.5, 1, 3.0, 0.004), scenario=a_new_one, dtypes=SINGLE, gradients="none"),
    Case("trained", at(0.4, 2.0), scenario=trained, gradients="none"),
    asked("temperatures", at(0.02, 0.05, 0.07, 0.2, 1.0, 2.0, 7.0)),
    asked("far_temperatures", at(0.003, 1e-4, 150.0, 1e4), dtypes=(torch.float64,)),
    asked("sizes", sizes),
    asked("special_angles", special_angles, tolerance=THOUSANDFOLD),
    robust("small_temperature", at(1e-3), tolerance=THOUSANDFOLD),
    robust("small_temperature_in_half", at(0.05), gradients="finite", dtypes=HALF, tolerance=rounded_at(0.05)),
    # The norms are about 700, their squares about 500 000: beyond the 65 504 of float16.
    robust("norm_fits_float16", at(0.5, D=64, scale=60.0), dtypes=(torch.float16,)),
    Case("temperature_not_above_0", inits(0, 0.0, -0.07, -2), scenario=a_new_one, raises=ValueError),
    asked("other_ranks", shaped((8,), (5,), (4, 2, 3), (2, 2, 2, 2), (3, 2, 4)), raises=ValueError),
    asked("odd_number_of_rows", shaped((5, 3), (1, 3), (3, 4)), raises=ValueError),
)
GRADER = Grader(
    answers=(
        Answer(
            "class InfoNCE(init_temperature=0.07)",
            methods=("forward(features)",),
            oracle=Right,
            differentiable=("features", "log_temperature"),
            tolerance=rounded_at(0.5),
            budgets=(BUDGET,),
            cases=CASES,
        ),
    ),
)
