"""What is checked of gae, ppo_policy_loss and ppo_value_loss."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs

OTHER_SHAPES = ((1, 6), (4, 1), (6,), (4,), (1,), (), (6, 4), (24,), (4, 5), (3, 6), (4, 6, 1))  # for (4, 6)
POLICY = ("logp", "old_logp", "advantages")
VALUE = ("values", "old_values", "returns")


def advantages_of(
    rewards: Tensor, values: Tensor, last_value: Tensor, dones: Tensor, gamma: float = 0.99, lam: float = 0.95
) -> tuple[Tensor, Tensor]:
    """Of each step the weighted sum over all later δ, until the episode ends."""
    rewards, values, last_value = rewards.detach(), values.detach(), last_value.detach()
    going_on = (dones == 0).double()
    after = torch.cat([values, last_value[:, None]], 1)[:, 1:]
    delta = rewards - values + gamma * going_on * after
    found = []
    for t in range(rewards.shape[1]):
        weights = torch.cat([torch.ones(len(rewards), 1).double(), gamma * lam * going_on[:, t:-1]], 1).cumprod(1)
        found.append((delta[:, t:] * weights).sum(1))
    return torch.stack(found, 1), torch.stack(found, 1) + values


def policy_loss(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, clip_eps: float = 0.2, mask: Tensor | None = None
) -> Tensor:
    """The sign of the advantage says which bound counts."""
    real = torch.ones_like(logp, dtype=torch.bool) if mask is None else mask
    new, old, A = logp[real], old_logp[real].detach(), advantages[real].detach()
    ratio = (new - old).exp()
    return -(A * torch.where(A > 0, ratio.clamp(max=1 + clip_eps), ratio.clamp(min=1 - clip_eps))).mean()


def value_loss(
    values: Tensor, old_values: Tensor, returns: Tensor, clip_eps: float = 0.2, mask: Tensor | None = None
) -> Tensor:
    """The farther of the two predictions counts."""
    real = torch.ones_like(values, dtype=torch.bool) if mask is None else mask
    new, old, R = values[real], old_values[real].detach(), returns[real].detach()
    near = torch.minimum(torch.maximum(new, old - clip_eps), old + clip_eps)
    return 0.5 * torch.where((new - R).abs() >= (near - R).abs(), new - R, near - R).square().mean()


def steps(draw: Draw, B: int = 4, T: int = 6, ends: float = 0.25, std: float = 1, **options: Any) -> Arguments:
    """Each step ends its episode with probability `ends`; some step does, and some does not."""
    dones = draw.uniform(B, T) < ends
    if ends and T > 1:
        dones[0, :2] = torch.tensor([True, False])[draw.permutation(2)]
    return {
        "rewards": draw.normal(B, T, std=std),
        "values": draw.normal(B, T, std=std),
        "last_value": draw.normal(B, std=std) + std,
        "dones": dones.double(),
        **options,
    }


def rates(*given: tuple[float | None, float | None]) -> Inputs:
    """γ and λ; None is drawn."""

    def inputs(draw: Draw) -> list[Arguments]:
        return [
            steps(draw, *draw.shape(2))
            | {"gamma": draw.number(0.3, 0.9) if gamma is None else gamma}
            | {"lam": draw.number(0.3, 0.9) if lam is None else lam}
            for gamma, lam in given
        ]

    return inputs


def every_size(draw: Draw, B: int, T: int) -> list[Arguments]:
    return [steps(draw, *size) for size in ((1, T), (B, 1), (1, 1), (B, B), (B, T), (T, B))]


def ends(draw: Draw) -> list[Arguments]:
    """At no step, at all, at the last one alone, and at all but the last."""
    made = [steps(draw, *draw.shape(2), ends=0) for _ in range(4)]
    for one, rows in zip(made, (slice(0), slice(None), slice(-1, None), slice(None, -1)), strict=True):
        one["dones"][:, rows] = 1
    return made


def kinds_of_dones(draw: Draw) -> list[Arguments]:
    made = [steps(draw, *draw.shape(2)) for _ in range(5)]
    kinds = (torch.bool, torch.int64, torch.uint8, torch.int8, torch.int32)
    return [one | {"dones": one["dones"].to(kind)} for one, kind in zip(made, kinds, strict=True)]


def long_episodes(draw: Draw) -> list[Arguments]:
    """(γλ)^T is 0 in every dtype; and nothing is discounted."""
    T = draw.size(200, 300)
    return [steps(draw, 2, T, ends=1 / 80, **one) for one in ({"gamma": 0.2, "lam": 0.1}, {"gamma": 1.0, "lam": 1.0})]


def learnt(gae, rewards, values, last_value, dones):  # type: ignore[no-untyped-def]
    """Whether the results require grad if the values do, and the results."""
    given = [x.detach().requires_grad_() for x in (values, last_value)]
    with torch.enable_grad():
        advantages, returns = gae(rewards, given[0], given[1], dones)
    found = {"advantages require grad": advantages.requires_grad, "returns require grad": returns.requires_grad}
    return {**found, "advantages": advantages.detach(), "returns": returns.detach()}


def other_steps(draw: Draw) -> list[Arguments]:
    """One of the four has another shape, of which some would broadcast; then three of them have three axes."""
    made = []
    for shape in OTHER_SHAPES:
        for name in ("rewards", "values", "dones"):
            other = draw.normal(*shape)
            made.append(steps(draw) | {name: (other > 0).double() if name == "dones" else other})
    made += [steps(draw) | {"last_value": draw.normal(*shape)} for shape in ((6,), (1,), (), (4, 1), (1, 4), (4, 6))]
    same = steps(draw)
    return [*made, same | {name: same[name][..., None] for name in ("rewards", "values", "dones")}]


def off_corners(drawn: Tensor, *corners: float, by: float = 0.02) -> Tensor:
    for corner in corners:
        off = drawn - corner
        drawn = drawn + torch.where(off.abs() < by, 2 * by * torch.where(off < 0, -1.0, 1.0), 0.0)
    return drawn


def tokens(draw: Draw, *shape: int, reach: float = 0, **options: Any) -> Arguments:
    """Half of the advantages are negative; ratios lie on both sides of both bounds, within e^±reach."""
    shape, clip_eps = shape or (4, 6), options.get("clip_eps", 0.2)
    reach = reach or min(max(0.7, 2 * clip_eps), 2.8)
    drawn = draw.uniform(*shape, low=-reach, high=reach)
    logp = -draw.uniform(*shape, low=0.05, high=4)
    signs = torch.where(torch.arange(math.prod(shape)) % 2 == 0, 1.0, -1.0)[draw.permutation(math.prod(shape))]
    return {
        "logp": logp,
        "old_logp": logp - off_corners(drawn, *(math.log(x) for x in (1 - clip_eps, 1 + clip_eps) if x > 0)),
        "advantages": signs.view(shape) * draw.uniform(*shape, low=0.3, high=2),
        **options,
    }


def predictions(draw: Draw, *shape: int, **options: Any) -> Arguments:
    """A third or so near the old ones; no return halfway between a prediction and the clipped one."""
    shape, clip_eps = shape or (4, 6), options.get("clip_eps", 0.2)
    old = draw.normal(*shape)
    moved = off_corners(draw.uniform(*shape, low=-3, high=3), -1, 1, by=0.05) * clip_eps
    values = old + moved
    halfway = old + (moved + moved.clamp(-clip_eps, clip_eps)) / 2
    ahead = off_corners(draw.uniform(*shape, low=-4, high=4) * max(clip_eps, 0.2), 0)
    return {"values": values, "old_values": old, "returns": halfway + ahead, **options}


def masked(draw: Draw, make: Callable[..., Arguments], **options: Any) -> Arguments:
    """Rows of different lengths, one with padding in front, and one in which all is padding."""
    one = make(draw, 5, 6, **options)
    lengths = torch.tensor([6, 4, 1, 3, 0])[draw.permutation(5)]
    rows = torch.arange(6) < lengths[:, None]
    return one | {"mask": torch.where(lengths[:, None] == 4, rows.flip(1), rows)}


def padded(make: Callable[..., Arguments]) -> Inputs:
    """Any real tokens of any shape: most, one alone, all of them, or no mask."""

    def inputs(draw: Draw, N: int, T: int) -> list[Arguments]:
        made = [masked(draw, make), masked(draw, make, clip_eps=draw.number(0.3, 0.6))]
        for shape in ((N + 1,), (2, N, T)):
            real = draw.uniform(*shape) < 0.6
            real.view(-1)[:2] = torch.tensor([True, False])
            made.append(make(draw, *shape) | {"mask": real})
        alone, full = (torch.zeros(N * T, dtype=torch.bool) for _ in range(2))
        alone[draw.size(0, N * T - 1)], full[:] = True, True
        made += [make(draw, N, T) | {"mask": mask.view(N, T)} for mask in (alone, full)]
        return made + [make(draw, *shape) for shape in ((N,), (1,), (1, T), (N, 1), (N, N), (2, N, T))]

    return inputs


def clips(draw: Draw, make: Callable[..., Arguments]) -> list[Arguments]:
    return [make(draw, clip_eps=eps) for eps in (0.05, draw.number(0.25, 0.4), 0.5, 1.5, 1)]


def wild(make: Callable[..., Arguments]) -> Inputs:
    """exp overflows in the padding, or what it holds is no number."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = []
        names = [*make(draw)]
        for chosen in (*([name] for name in names), names):
            for value in (3000.0, -3000.0, torch.inf, -torch.inf, torch.nan):
                one = masked(draw, make)
                made.append(one | {name: one[name].masked_fill(~one["mask"], value) for name in chosen})
        return made

    return inputs


def far_ratios(draw: Draw) -> list[Arguments]:
    """Up to e³ = 20 and down to e⁻³; each ratio is 1, as at the first step, and some advantages are 0."""
    made = [tokens(draw, reach=2.9), masked(draw, tokens, reach=2.9), tokens(draw), masked(draw, tokens)]
    made[2]["advantages"][1:3] = 0
    return made[:2] + [one | {"old_logp": one["logp"].clone()} for one in made[2:]]


def far_predictions(draw: Draw) -> list[Arguments]:
    """With other bounds. Then the value model was far off, or did not move, or its prediction is the return."""
    made = [predictions(draw), predictions(draw), predictions(draw)]
    made[0]["returns"] = made[0]["returns"] + 20 * draw.normal(4, 6).sign()
    made[1]["old_values"] = made[1]["values"].clone()
    made[2]["returns"] = made[2]["values"].clone()
    return [*clips(draw, predictions), *made]


def policy_gradients(ppo_policy_loss, logp, old_logp, advantages, mask):  # type: ignore[no-untyped-def]
    """The gradients with respect to all of them, zeros where there is none."""
    given = [x.detach().requires_grad_() for x in (logp, old_logp, advantages)]
    with torch.enable_grad():
        return torch.autograd.grad(ppo_policy_loss(*given, mask=mask), given, materialize_grads=True)


def value_gradients(ppo_value_loss, values, old_values, returns, mask):  # type: ignore[no-untyped-def]
    """The gradients with respect to all of them, zeros where there is none."""
    given = [x.detach().requires_grad_() for x in (values, old_values, returns)]
    with torch.enable_grad():
        return torch.autograd.grad(ppo_value_loss(*given, mask=mask), given, materialize_grads=True)


def of_other_shapes(make: Callable[..., Arguments]) -> Inputs:
    def inputs(draw: Draw) -> list[Arguments]:
        made = []
        for shape in OTHER_SHAPES:
            for name in [*make(draw)]:
                made.append(make(draw) | {name: draw.uniform(*shape, low=-1, high=0)})
            made.append(make(draw) | {"mask": torch.ones(shape, dtype=torch.bool)})
        return made

    return inputs


def not_above_0(make: Callable[..., Arguments]) -> Inputs:
    return lambda draw: [make(draw, clip_eps=eps) for eps in (0, 0.0, -0.2, -1)]


def out_of_range(draw: Draw) -> list[Arguments]:
    return [steps(draw) | {name: value} for value in (-0.01, 1.01, -1, 2, 99.0) for name in ("gamma", "lam")]


robust = partial(Case, category="robustness")
VECTORS = "exp, clamp and minimum take all tokens at once"
SQUARES = "clamp, square and maximum take all tokens at once"

GRADER = Grader(
    answers=(
        Answer(
            "gae(rewards, values, last_value, dones, gamma=0.99, lam=0.95)",
            oracle=advantages_of,
            half=False,
            cases=(
                Case("four_episodes", steps),
                Case("every_size", every_size, sizes={"B": (2, 5), "T": (3, 9)}),
                Case("rates", rates((None, None), (1, 1), (1, None), (0, None), (None, 0), (None, 1))),
                Case("ends", ends),
                Case("kinds_of_dones", kinds_of_dones, core=False),
                robust("long_episodes", long_episodes),
                robust("no_graph", steps, scenario=learnt),
                Case("other_shapes_of_steps", other_steps, raises=ValueError),
                Case("rates_out_of_range", out_of_range, raises=ValueError),
            ),
            budgets=(
                Budget(
                    "many_episodes",
                    sizes={"episodes": (128, 1024)},
                    inputs=lambda draw, episodes: steps(draw, episodes, 8),
                    hints={"episodes": "loop over the steps alone, each time with all episodes"},
                ),
            ),
        ),
        Answer(
            "ppo_policy_loss(logp, old_logp, advantages, clip_eps=0.2, mask=None)",
            oracle=policy_loss,
            differentiable=("logp",),
            half=False,
            cases=(
                Case("four_answers", tokens),
                Case("policy_clips", lambda draw: clips(draw, tokens)),
                Case("policy_mask", padded(tokens), sizes={"N": (2, 6), "T": (3, 9)}),
                Case("ratios", far_ratios),
                robust("policy_padding", wild(tokens)),
                robust(
                    "policy_constants",
                    lambda draw: masked(draw, tokens),
                    scenario=policy_gradients,
                    gradients="none",
                ),
                Case("other_shapes_of_tokens", of_other_shapes(tokens), raises=ValueError),
                Case("policy_clip_not_above_0", not_above_0(tokens), raises=ValueError),
            ),
            budgets=(
                Budget(
                    "many_tokens",
                    sizes={"answers": (8, 64), "positions": (8, 64)},
                    inputs=lambda draw, answers, positions: (
                        tokens(draw, answers, positions) | {"mask": draw.uniform(answers, positions) < 0.8}
                    ),
                    hints=dict.fromkeys(("answers", "positions"), VECTORS),
                ),
            ),
        ),
        Answer(
            "ppo_value_loss(values, old_values, returns, clip_eps=0.2, mask=None)",
            oracle=value_loss,
            differentiable=("values",),
            half=False,
            cases=(
                Case("four_predictions", predictions),
                Case("value_clips", far_predictions),
                Case("value_mask", padded(predictions), sizes={"N": (2, 6), "T": (3, 9)}),
                robust("value_padding", wild(predictions)),
                robust(
                    "value_constants",
                    lambda draw: masked(draw, predictions),
                    scenario=value_gradients,
                    gradients="none",
                ),
                Case("other_shapes_of_values", of_other_shapes(predictions), raises=ValueError),
                Case("value_clip_not_above_0", not_above_0(predictions), raises=ValueError),
            ),
            budgets=(
                Budget(
                    "many_values",
                    sizes={"answers": (8, 64), "positions": (8, 64)},
                    inputs=lambda draw, answers, positions: (
                        predictions(draw, answers, positions) | {"mask": draw.uniform(answers, positions) < 0.8}
                    ),
                    hints=dict.fromkeys(("answers", "positions"), SQUARES),
                ),
            ),
        ),
    ),
)
