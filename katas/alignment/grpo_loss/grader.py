"""What is checked of group_advantages and grpo_loss."""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor

from graders.kata import FULL, TOLERANCES, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Tolerance

EXACTLY_ZERO = {dtype: Tolerance(TOLERANCES[dtype].relative, 0.0, 0.0) for dtype in FULL}  # where 0 is expected
FAR = {torch.float32: Tolerance(0.0, 0.0, 0.01)}  # there the mean itself is rounded to about 0.001
OTHER_SHAPES = ((1, 6), (4, 1), (6,), (4,), (1,), (6, 4), (4, 5), (3, 6), (4, 6, 1))  # where (4, 6) would be right


def advantages_of(rewards: Tensor, eps: float = 1e-6, scale: bool = True) -> Tensor:
    rows = []
    for row in rewards:
        centred = row - row.mean()
        if bool((row == row[0]).all()):
            centred = torch.zeros_like(row)
        rows.append(centred / (row.std() + eps) if scale else centred)
    return torch.stack(rows)


def loss(
    logp: Tensor,
    old_logp: Tensor,
    advantages: Tensor,
    mask: Tensor,
    ref_logp: Tensor | None = None,
    clip_eps: float = 0.2,
    kl_coef: float = 0.0,
    aggregate: str = "sequence",
) -> Tensor:
    """One sequence after the other, of real tokens alone."""
    rows = []
    for n, real in enumerate(mask):
        new, A = logp[n][real], advantages[n].detach()
        ratio = (new - old_logp[n][real].detach()).exp()
        bound = ratio.clamp(max=1 + clip_eps) if A > 0 else ratio.clamp(min=1 - clip_eps)
        rows.append(-A * bound)
        if ref_logp is not None:
            delta = ref_logp[n][real].detach() - new
            rows[-1] = rows[-1] + kl_coef * (delta.expm1() - delta)
    return torch.cat(rows).mean() if aggregate == "token" else torch.stack([row.mean() for row in rows]).mean()


def rewards(draw: Draw, B: int = 4, G: int = 6, std: float = 1, mean: float = 0.5, **options: Any) -> Arguments:
    """Groups whose means and spreads differ; no spread is so small that a float32 cannot tell it from the mean."""
    spread = draw.uniform(B, 1, low=0.3, high=2) * std
    noise = draw.normal(B, G)
    if G > 1:
        noise = (noise - noise.mean(1, keepdim=True)) / noise.std(1, keepdim=True)
    return {"rewards": noise * spread + mean + draw.normal(B, 1).clamp(-1.5, 1.5) * std, **options}


def of_sizes(*sizes: tuple[int, int], **options: Any) -> Inputs:
    return lambda draw: [rewards(draw, *size, **options) for size in sizes]


def every_size(draw: Draw, B: int, G: int) -> list[Arguments]:
    return [rewards(draw, *size) for size in ((1, G), (B, 2), (1, 2), (B, B), (B, G))]


def other_eps(draw: Draw) -> list[Arguments]:
    return [rewards(draw, eps=draw.number(0.2, 0.9)), rewards(draw, std=1e-5, mean=0, eps=1e-5)]


def right_or_wrong(draw: Draw) -> list[Arguments]:
    """Rewards of 0 and 1, as verifiers give them; never all alike."""
    made = (draw.uniform(5, 8) < 0.4).double()
    made[:, 0], made[:, 1] = 0, 1
    return [{"rewards": made}, {"rewards": made, "scale": False}]


def equal_rewards(draw: Draw) -> list[Arguments]:
    """Groups of equal rewards, of any size, beside one that differs.

    The mean of 15 times 0.7 is one rounding off in float32.
    """
    made = []
    for G, value in ((15, 0.7), (15, 0.1), (11, 0.3), (7, 0.9), (15, -0.7), (4, 0.0), (2, 1.0)):
        for scale in (True, False):
            one = torch.full((4, G), value, dtype=torch.float64)
            one[1] = draw.uniform(G, low=1, high=2) * torch.tensor([1.0, -1.0]).repeat(G)[:G]  # none near the mean
            one[2:] = draw.normal(2, 1) * torch.tensor([[1e3], [1e9]])
            made.append({"rewards": one, "scale": scale})
    return made


def far_rewards(draw: Draw) -> list[Arguments]:
    """The squares' mean less the mean's square loses the spread there."""
    return [rewards(draw, std=3, mean=mean) for mean in (1e4, -2e4)]


def log_ratios(draw: Draw, N: int, T: int, clip_eps: float, low: float, high: float) -> Tensor:
    """A third or so inside the clip's bounds; none within 2% of a bound or of 1."""
    drawn = draw.uniform(N, T, low=low, high=high)
    for corner in (1 - clip_eps, 1 + clip_eps, 1.0):
        if corner > 0:
            off = drawn - math.log(corner)
            drawn = drawn + torch.where(off.abs() < 0.02, 0.04 * torch.where(off < 0, -1.0, 1.0), 0.0)
    return drawn


def tokens(draw: Draw, N: int = 4, T: int = 6, kl: bool = False, **options: Any) -> Arguments:
    """Answers of 1 to T tokens, of which the first is the longest; half of the advantages are negative."""
    logp = -draw.uniform(N, T, low=0.05, high=4)
    lengths = torch.cat([torch.tensor([T]), draw.integers(N - 1, low=1, high=T + 1)])
    signs = torch.where(torch.arange(N) % 2 == 0, 1.0, -1.0)[draw.permutation(N)]
    clip_eps = options.get("clip_eps", 0.2)
    reach = min(max(0.7, 2 * clip_eps), 2.9)  # beyond both bounds
    made: Arguments = {
        "logp": logp,
        "old_logp": logp - log_ratios(draw, N, T, clip_eps, low=-reach, high=reach),
        "advantages": signs * draw.uniform(N, low=0.3, high=2),
        "mask": torch.arange(T) < lengths[:, None],
    }
    if kl:
        made["ref_logp"] = logp + draw.uniform(N, T, low=-1.5, high=1.5)
    return made | options


def with_each(*options: Arguments, kl: bool = False) -> Inputs:
    return lambda draw: [tokens(draw, kl=kl, **one) for one in options]


def clips(draw: Draw) -> list[Arguments]:
    return [tokens(draw, clip_eps=eps) for eps in (0.05, draw.number(0.25, 0.4), 0.5, 1.5)]


def kl(draw: Draw) -> list[Arguments]:
    """The last without a weight: the reference changes nothing."""
    return [tokens(draw, kl=True, kl_coef=beta) for beta in (0.04, draw.number(0.2, 0.8), 1, 0)]


def sizes(draw: Draw, N: int, T: int) -> list[Arguments]:
    return [
        tokens(draw, *size, kl=True, kl_coef=draw.number(0.05, 0.2))
        for size in ((1, T), (N, 1), (1, 1), (N, N), (N, T))
    ]


def gaps(draw: Draw) -> list[Arguments]:
    """Padding in front, in between, and behind."""
    rows = torch.tensor([[0, 0, 1, 1, 1, 1], [1, 0, 1, 1, 0, 1], [1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1]]).bool()
    return [tokens(draw, kl=True, kl_coef=0.1, aggregate=how) | {"mask": rows} for how in ("sequence", "token")]


def on_policy(draw: Draw) -> list[Arguments]:
    """Each ratio is 1, as at the first step, and the gradient is 0 only in the last call, whose rewards were equal."""
    made = [tokens(draw, aggregate=how) for how in ("sequence", "token", "sequence")]
    made[2]["advantages"][:] = 0
    return [one | {"old_logp": one["logp"].clone()} for one in made]


def large_ratios(draw: Draw) -> list[Arguments]:
    """Up to e³ = 20 and down to e⁻³, with an advantage of 0 among the others, and KL terms above 14."""
    made = [tokens(draw, aggregate=how, kl=True, kl_coef=0.1) for how in ("sequence", "token")]
    for one in made:
        one["old_logp"] = one["logp"] - log_ratios(draw, 4, 6, 0.2, low=-3, high=2.9)
        one["advantages"][1] = 0
        one["ref_logp"][:, 0] = one["logp"][:, 0] + draw.uniform(4, low=2.9, high=3)
    return made


def wild_padding(draw: Draw) -> list[Arguments]:
    """exp overflows there, or ∞ − ∞ is NaN."""
    made = []
    for names in (("logp",), ("old_logp",), ("ref_logp",), ("logp", "old_logp", "ref_logp")):
        for value in (3000.0, -3000.0, -torch.inf):
            one = tokens(draw, kl=True, kl_coef=0.1, aggregate=("sequence", "token")[len(made) % 2])
            made.append(one | {name: one[name].masked_fill(~one["mask"], value) for name in names})
    return made


def gradients(grpo_loss, logp, old_logp, advantages, mask, ref_logp, kl_coef):  # type: ignore[no-untyped-def]
    """The gradients with respect to all of them, zeros where there is none."""
    given = [x.detach().requires_grad_() for x in (logp, old_logp, advantages, ref_logp)]
    new, old, advantages, ref = given
    with torch.enable_grad():
        loss = grpo_loss(new, old, advantages, mask, ref_logp=ref, kl_coef=kl_coef)
        return torch.autograd.grad(loss, given, materialize_grads=True)


def of_other_shapes(draw: Draw) -> list[Arguments]:
    made = []
    for shape in OTHER_SHAPES:
        for name in ("old_logp", "mask", "ref_logp"):
            other = draw.uniform(*shape, low=-1, high=0)
            made.append(tokens(draw, kl=True, kl_coef=0.1) | {name: other > -2 if name == "mask" else other})
    for shape in ((6,), (1,), (), (4, 1), (1, 4), (4, 6)):
        made.append(tokens(draw) | {"advantages": draw.normal(*shape)})
    return made


def refused(name: str, *options: Arguments, kl: bool = True) -> Case:
    return Case(name, with_each(*options, kl=kl), raises=ValueError)


robust = partial(Case, category="robustness")
VECTORS = "minimum, clamp and exp take all tokens at once"

GRADER = Grader(
    answers=(
        Answer(
            "group_advantages(rewards, eps=1e-6, scale=True)",
            oracle=advantages_of,
            half=False,
            cases=(
                Case("four_prompts", rewards),
                Case("every_size", every_size, sizes={"B": (2, 6), "G": (3, 9)}),
                Case("not_scaled", of_sizes((4, 6), (3, 2), scale=False)),
                Case("other_eps", other_eps),
                Case("right_or_wrong", right_or_wrong),
                robust("equal_rewards", equal_rewards, tolerance=EXACTLY_ZERO),
                robust("far_rewards", far_rewards, tolerance=FAR),
                Case("one_answer", of_sizes((4, 1), (1, 1)), raises=ValueError),
                Case("one_answer_not_scaled", of_sizes((4, 1), scale=False), raises=ValueError),
            ),
            budgets=(
                Budget(
                    "many_groups",
                    sizes={"prompts": (64, 2048), "answers": (8, 64)},
                    inputs=lambda draw, prompts, answers: rewards(draw, prompts, answers),
                    hints=dict.fromkeys(("prompts", "answers"), "mean and std take all groups at once"),
                ),
            ),
        ),
        Answer(
            "grpo_loss(logp, old_logp, advantages, mask, ref_logp=None, "
            'clip_eps=0.2, kl_coef=0.0, aggregate="sequence")',
            oracle=loss,
            differentiable=("logp",),
            half=False,
            cases=(
                Case("four_answers", tokens),
                Case("over_all_tokens", with_each({"aggregate": "token"})),
                Case("clips", clips),
                Case("kl", kl),
                Case("gaps", gaps),
                Case("on_policy", on_policy),
                Case("large_ratios", large_ratios),
                Case("sizes", sizes, sizes={"N": (2, 6), "T": (3, 9)}),
                robust("wild_padding", wild_padding),
                robust(
                    "gradients_of_constants",
                    lambda draw: tokens(draw, kl=True, kl_coef=0.1),
                    scenario=gradients,
                    gradients="none",
                ),
                Case("other_shapes", of_other_shapes, raises=ValueError),
                refused("clip_eps_not_above_0", {"clip_eps": 0}, {"clip_eps": 0.0}, {"clip_eps": -0.2}),
                refused("kl_coef_below_0", {"kl_coef": -0.1}, {"kl_coef": -1}),
                refused("kl_without_reference", {"kl_coef": 0.1}, {"kl_coef": 1}, kl=False),
                refused("unknown_aggregate", *({"aggregate": word} for word in ("mean", "Token", "sequences", ""))),
            ),
            budgets=(
                Budget(
                    "many_tokens",
                    sizes={"answers": (8, 64), "positions": (8, 64)},
                    inputs=lambda draw, answers, positions: tokens(draw, answers, positions, kl=True, kl_coef=0.1),
                    hints=dict.fromkeys(("answers", "positions"), VECTORS),
                ),
            ),
        ),
    ),
)
