"""What is checked of sequence_logp and dpo_loss."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import HALF, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, far

LOG_PROBABILITIES = ("policy_chosen", "policy_rejected", "ref_chosen", "ref_rejected")
REDUCTIONS = ("mean", "sum", "none")


def logp(logits: Tensor, labels: Tensor, ignore_index: int = -100) -> Tensor:
    return -F.cross_entropy(logits[:, :-1].mT, labels[:, 1:], ignore_index=ignore_index, reduction="none").sum(1)


def loss(
    policy_chosen: Tensor,
    policy_rejected: Tensor,
    ref_chosen: Tensor,
    ref_rejected: Tensor,
    beta: float = 0.1,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    z = beta * (policy_chosen - ref_chosen.detach() - policy_rejected + ref_rejected.detach())
    zero = torch.zeros_like(z)
    losses = (1 - label_smoothing) * torch.logaddexp(zero, -z) + label_smoothing * torch.logaddexp(zero, z)
    return losses if reduction == "none" else {"mean": losses.mean, "sum": losses.sum}[reduction]()


def batch(draw: Draw, B: int = 3, S: int = 6, V: int = 7, std: float = 2, **options: Any) -> Arguments:
    return {"logits": draw.normal(B, S, V, std=std), "labels": draw.integers(B, S, high=V), **options}


def masked(draw: Draw, ignored: int = -100, std: float = 2) -> Arguments:
    """A prompt in front, padding behind, an ignored label in between; one sequence has no label that counts."""
    one = batch(draw, B=5, std=std) | ({} if ignored == -100 else {"ignore_index": ignored})
    labels = torch.where(one["labels"] == ignored, (ignored + 1) % 7, one["labels"])
    rows = [[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0], [1, 1, 0, 1, 1, 0], [0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0]]
    return one | {"labels": torch.where(torch.tensor(rows) == 1, labels, ignored)}


def sizes_of_one(draw: Draw, B: int, S: int, V: int) -> list[Arguments]:
    """The last label of the first sequence is ignored."""
    made = [batch(draw, *sizes) for sizes in ((1, S, V), (B, 2, V), (B, S, 1), (B, S, V))]
    for one in made:
        one["labels"][0, -1] = -100
    return made


def far_apart(draw: Draw) -> list[Arguments]:
    """The softmax of some labels is 0 in float64; then all logits are far from 0."""
    return [masked(draw, std=600), masked(draw) | {"logits": draw.normal(5, 6, 7, std=3) + 1000}, batch(draw, std=60)]


def far_in_half(draw: Draw) -> list[Arguments]:
    """Each label has the largest logit, but for one where that is about 110: no sum overflows."""
    made = []
    for logits in far.rows(draw, 18, 7):
        labels = logits.argmax(1).view(3, 6).roll(1, 1)
        made.append({"logits": logits.view(3, 6, 7), "labels": labels})
    made[0]["labels"][0, 1] = made[0]["logits"][0, 0].topk(2).indices[1]
    return made


def other_ignored(draw: Draw) -> list[Arguments]:
    """A number below the tokens, among them, and above."""
    return [masked(draw, index) for index in (-1, 0, draw.size(1, 6), 7, draw.size(8, 300))]


def no_such_token(draw: Draw) -> list[Arguments]:
    """One bad label among good ones, −100 included where another label is ignored."""
    made = []
    for label, ignored in ((7, -100), (-1, -100), (-7, -100), (1000, -100), (-99, -100), (-100, -1), (7, 255), (-1, 2)):
        made.append(masked(draw, ignored))
        made[-1]["labels"][int(draw.integers(high=5)), int(draw.integers(low=1, high=6))] = label
    return made


def pairs(draw: Draw, pairs: int = 6, **options: Any) -> Arguments:
    """Answers of about 20 to 40 nats, on which policy and reference differ by some."""
    made: Arguments = {name: draw.normal(pairs, std=4, mean=-30) for name in LOG_PROBABILITIES[2:]}
    policy = {f"policy_{which}": made[f"ref_{which}"] + draw.normal(pairs, std=2) for which in ("chosen", "rejected")}
    return {**policy, **made, **options}


def with_each(*options: Arguments) -> Inputs:
    return lambda draw: [pairs(draw, **one) for one in options]


def betas(draw: Draw, B: int) -> list[Arguments]:
    """With one pair at z = −13 each, where 1e-12 inside the logarithm shows."""
    made = [pairs(draw, B, beta=beta) for beta in (0.01, draw.number(0.2, 0.9), 1, draw.number(1.2, 2))]
    for one in made:
        reference = one["ref_chosen"][0] - one["ref_rejected"][0]
        one["policy_chosen"][0] = one["policy_rejected"][0] + reference - 13 / one["beta"]
    return made


def smoothed(draw: Draw, B: int) -> list[Arguments]:
    amounts = (draw.number(0.05, 0.2), draw.number(0.25, 0.45))
    return [pairs(draw, B, label_smoothing=one, reduction=how) for one in amounts for how in REDUCTIONS]


def margins(*sizes: float) -> Callable[[Draw], list[Arguments]]:
    """z of each size and sign, by the policy or by the reference."""

    def inputs(draw: Draw) -> list[Arguments]:
        z = torch.tensor([*sizes, *(-size for size in sizes)]).double()
        made = []
        for beta, name, label_smoothing, reduction in (
            (0.1, "policy_chosen", 0.0, "none"),
            (0.5, "policy_rejected", 0.0, "sum"),
            (0.1, "ref_chosen", 0.5, "none"),
            (1.0, "ref_rejected", 0.0, "mean"),
        ):
            one = dict.fromkeys(LOG_PROBABILITIES, torch.full_like(z, -20.0))
            one[name] = one[name] + z[draw.permutation(len(z))] / beta
            made.append(one | {"beta": beta, "label_smoothing": label_smoothing, "reduction": reduction})
        return made

    return inputs


def reference_gradients(dpo_loss, policy_chosen, policy_rejected, ref_chosen, ref_rejected):  # type: ignore[no-untyped-def]
    """The gradients with respect to the four, zeros where there is none."""
    given = [x.detach().requires_grad_() for x in (policy_chosen, policy_rejected, ref_chosen, ref_rejected)]
    with torch.enable_grad():
        return torch.autograd.grad(dpo_loss(*given, label_smoothing=0.3), given, materialize_grads=True)


def refused(name: str, *shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> Case:
    return Case(
        name,
        lambda draw: [{"logits": draw.normal(*z), "labels": draw.integers(*y, high=2)} for z, y in shapes],
        raises=ValueError,
    )


def of_other_shapes(draw: Draw) -> list[Arguments]:
    """One of the four at a time, then two."""
    made = []
    for shape in ((1,), (), (5,), (7,), (6, 1), (1, 6), (6, 6)):
        for names in (*((name,) for name in LOG_PROBABILITIES), LOG_PROBABILITIES[:2], LOG_PROBABILITIES[2:]):
            made.append(pairs(draw) | {name: draw.normal(*shape) for name in names})
    return made


robust = partial(Case, category="robustness")
TOKENS = dict.fromkeys(("sequences", "positions"), "log_softmax and gather take all tokens at once")

GRADER = Grader(
    answers=(
        Answer(
            "sequence_logp(logits, labels, ignore_index=-100)",
            oracle=logp,
            differentiable=("logits",),
            cases=(
                Case("three_sequences", batch),
                Case("prompts_and_padding", masked, half=True),
                Case("other_ignore_index", other_ignored),
                Case("sizes_of_one", sizes_of_one, sizes={"B": (2, 6), "S": (3, 9), "V": (2, 9)}),
                Case("one_token", lambda draw: [batch(draw, B, 1, V) for B, V in ((4, 5), (1, 3))], core=False),
                robust("far_logits", far_apart),
                robust("far_logits_in_half", far_in_half, gradients="none", dtypes=HALF),
                refused(
                    "labels_of_another_shape",
                    *[((3, 4, 5), y) for y in ((3, 3), (3, 5), (2, 4), (1, 4), (3, 1), (4, 3), (4,), (12,), (3, 4, 1))],
                    *[((4, 5), y) for y in ((4,), (4, 5))],
                ),
                Case("no_such_token", no_such_token, raises=ValueError),
            ),
            budgets=(
                Budget(
                    "many_tokens",
                    sizes={"sequences": (8, 32), "positions": (8, 32)},
                    inputs=lambda draw, sequences, positions: batch(draw, sequences, positions, 16),
                    hints=TOKENS,
                ),
                Budget(
                    "large_vocabulary",
                    sizes={"vocabulary": (500, 5000)},
                    inputs=lambda draw, vocabulary: batch(draw, 4, 8, vocabulary),
                    asks=("memory",),
                    hints={"vocabulary": "pick the label's entry instead of making a table of V by V"},
                ),
            ),
        ),
        Answer(
            "dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, "
            'beta=0.1, label_smoothing=0.0, reduction="mean")',
            oracle=loss,
            differentiable=LOG_PROBABILITIES[:2],
            cases=(
                Case("six_pairs", pairs),
                Case("reductions", with_each(*({"reduction": how} for how in REDUCTIONS)), half=True),
                Case("betas", betas, sizes={"B": (2, 9)}),
                Case("smoothed", smoothed, sizes={"B": (2, 9)}),
                Case("one_pair", lambda draw: [pairs(draw, 1, reduction=how) for how in REDUCTIONS]),
                Case("moderate_margins", margins(0.0, 2.0, 8.0, 12.0, 17.0), core=False),
                robust("far_margins", margins(45.0, 120.0, 5000.0)),
                robust("reference_gets_no_gradient", pairs, scenario=reference_gradients, gradients="none"),
                Case("other_shapes", of_other_shapes, raises=ValueError),
                Case("beta_not_above_0", with_each(*({"beta": beta} for beta in (0, 0.0, -0.1))), raises=ValueError),
                Case(
                    "smoothing_out_of_range",
                    with_each(*({"label_smoothing": one} for one in (-0.1, 0.51, 0.6, 1, 1.5))),
                    raises=ValueError,
                ),
                Case(
                    "unknown_reduction",
                    with_each(*({"reduction": word} for word in ("average", "Mean", "NONE", ""))),
                    raises=ValueError,
                ),
            ),
            budgets=(
                Budget(
                    "many_pairs",
                    sizes={"pairs": (256, 4096)},
                    inputs=pairs,
                    hints={"pairs": "logsigmoid takes all pairs at once"},
                ),
            ),
        ),
    ),
)
