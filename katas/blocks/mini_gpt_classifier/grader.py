"""What is checked of MiniGPTClassifier."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import nn

from graders.kata import HALF, Answer, Arguments, Budget, Case, Draw, Grader, attention, bans, gpt


class Right(gpt.GPT):
    """Each text's mean is taken of its own states alone."""

    def __init__(self, vocab_size, context, dim, heads, layers, classes):
        super().__init__(vocab_size, context, dim, heads, layers)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids, mask):
        states = self.states(ids, mask[:, None, None] != 0)
        means = [text[row != 0].mean(0) for text, row in zip(states, mask, strict=True)]
        return gpt.linear(torch.stack(means), self.head)


# Scenarios. `weights` has all parameters one after the other, in one row; `layout` has the name and shape of each.


def classified(MiniGPTClassifier, ids, mask, weights, layout, sizes, training=True):
    model = MiniGPTClassifier(*sizes).to(weights).train(training)
    parts = zip(layout, weights[0].split([math.prod(shape) for _, *shape in layout]), strict=True)
    own = {name: part.reshape(shape) for (name, *shape), part in parts}
    return torch.func.functional_call(model, own, (ids, mask))


def in_turn(MiniGPTClassifier, ids, mask, weights, layout, sizes, parts):
    """Of one model: so many texts, cut to so many tokens, in each call; the first calls are in inference mode."""
    model = MiniGPTClassifier(*sizes).to(weights)
    several = zip(layout, weights[0].split([math.prod(shape) for _, *shape in layout]), strict=True)
    own = {name: part.reshape(shape) for (name, *shape), part in several}
    found = {}
    for number, (texts, tokens) in enumerate(parts, start=1):
        with torch.inference_mode(number < 3):
            made = torch.func.functional_call(model, own, (ids[:texts, :tokens], mask[:texts, :tokens]))
        found[f"call {number}"] = made.clone()
    return found


def a_new_model(MiniGPTClassifier, sizes, names):
    model = MiniGPTClassifier(*sizes)
    found = dict(sorted(model.named_parameters(remove_duplicate=False)))
    return {
        "is an nn.Module": isinstance(model, nn.Module),
        "parameters": [f"{name} {list(p.shape)}" for name, p in found.items() if name in names],
        "other parameters": [f"{name} {list(p.shape)}" for name, p in found.items() if name not in names],
    }


def refused(MiniGPTClassifier, ids, mask, sizes):
    return MiniGPTClassifier(*sizes).to(ids.device)(ids, mask)


# Inputs


def real(lengths: Sequence[int], S: int) -> torch.Tensor:
    return torch.arange(S) < torch.tensor(lengths)[:, None]


def batch(draw: Draw, lengths: Sequence[int], S: int, *sizes: int, **scales: float) -> Arguments:
    """Texts of these lengths, and padding of any ids up to S; sizes are V, C, D, H, L and K."""
    return {
        "ids": draw.integers(len(lengths), S, high=sizes[0]),
        "mask": real(lengths, S),
        **gpt.model(draw, *sizes, kind=Right, **scales),
    }


def calm(draw: Draw) -> Arguments:
    """Logits in half precision are far less than 8 units off: with some weights roundings grow."""
    while rounding(given := batch(draw, (6, 3, 1, 4), 6, *USUAL), HALF, logits) > 2.5:
        pass
    return given


def steady(draw: Draw, lengths: Sequence[int], S: int, *sizes: int) -> Arguments:
    """As `batch`; norms of few channels make the roundings of 1 draw in 20 grow, which is drawn again."""
    while rounding(given := batch(draw, lengths, S, *sizes), [torch.float32], gradients) > 25:
        pass
    return given


def rounding(given: Arguments, dtypes: Sequence[torch.dtype], of: Callable[..., torch.Tensor]) -> float:
    """How far torch's own layers are off, in units in the last place of the largest number."""
    units = []
    for dtype in dtypes:
        got, right = (of(gpt.right(given, dtype, Right).to(one), given).double() for one in (dtype, torch.float64))
        units.append(float((got - right).abs().max() / right.abs().max() / torch.finfo(dtype).eps))
    return max(units)


def logits(model: nn.Module, given: Arguments) -> torch.Tensor:
    return model(given["ids"], given["mask"]).detach()


def gradients(model: nn.Module, given: Arguments) -> torch.Tensor:
    """Of a weighted sum of the logits."""
    made = model(given["ids"], given["mask"])
    factors = torch.linspace(-1, 2, made.numel(), dtype=made.dtype).view_as(made)
    found = torch.autograd.grad((made * factors).sum(), [*model.parameters()])
    return torch.cat([one.flatten() for one in found])


def every_size(draw: Draw) -> list[Arguments]:
    return [
        steady(draw, (1,), 1, 5, 4, 6, 2, 1, 3),
        steady(draw, (1, 4, 2), 4, 9, 4, 7, 1, 3, 2),  # S = C and one head
        steady(draw, (5, 6), 6, 3, 8, 5, 5, 1, 4),  # heads of one channel
        steady(draw, (2, 1), 3, 1, 3, 4, 2, 1, 1),  # one word, one class
    ]


def any_sizes(draw: Draw) -> list[Arguments]:
    made = []
    for _ in range(2):
        B, S, V, C, D, H, L = gpt.any_sizes(draw)
        made.append(steady(draw, [draw.size(1, S) for _ in range(B)], S, V, C, D, H, L, draw.size(2, 7)))
    return made


def whole_numbers(draw: Draw) -> list[Arguments]:
    """0 and 1; then also other numbers than 1 for real tokens."""
    given = batch(draw, (2, 5, 3), 6, *USUAL)
    return [given | {"mask": given["mask"].long()}]


def other_numbers(draw: Draw) -> list[Arguments]:
    given = batch(draw, (2, 5, 3), 6, *USUAL)
    numbers = draw.integers(3, 6, low=2, high=9) * (1 - 2 * draw.integers(3, 6, high=2))
    return [given | {"mask": given["mask"] * one} for one in (numbers, 256, 1 << 32)]


def long_text(draw: Draw) -> Arguments:
    C = draw.size(257, 320)
    return batch(draw, (C, C - 200), C, 5, C, 4, 2, 1, 2)


def large_scores(draw: Draw, size: float) -> list[Arguments]:
    """Texts of one or two tokens, for 24 heads: in some, all that a token sees is far below 0."""
    return [batch(draw, (1, 2, 1, 1, 2, 1, 1, 1), 3, *USUAL, q_linear=size / 2)]


def made_of(*sizes: int) -> Arguments:
    return gpt.made_of(*sizes, kind=Right)


def bad_masks(draw: Draw) -> list[Arguments]:
    shapes = ((3, 4), (3, 6), (1, 5), (3, 1), (2, 5), (5,), (3, 5, 1), (5, 3))
    return [{"ids": draw.integers(3, 5, high=7), "mask": torch.ones(*shape).bool(), "sizes": SMALL} for shape in shapes]


def without_a_token(draw: Draw) -> list[Arguments]:
    masks = [real(lengths, 5) for lengths in ((0, 3), (5, 0), (0, 0))]
    return [
        {"ids": draw.integers(2, 5, high=7), "mask": mask, "sizes": SMALL}
        for one in masks
        for mask in (one, one.long())
    ]


USUAL = (7, 6, 12, 3, 2, 4)  # V, C, D, H, L and K
SMALL = [7, 6, 8, 2, 1, 3]
GRADER = Grader(
    answers=(
        Answer(
            "class MiniGPTClassifier(vocab_size, context, dim, heads, layers, classes)",
            methods=("forward(ids, mask)",),
            oracle=Right,
            differentiable=("weights",),
            tolerance=gpt.TOLERANCE,
            cases=(
                Case("texts_of_all_lengths", calm, scenario=classified, gradients="finite"),
                Case("every_size", every_size, scenario=classified),
                Case("any_sizes", any_sizes, scenario=classified),
                Case("whole_numbers", whole_numbers, scenario=classified),
                Case("other_numbers", other_numbers, scenario=classified, core=False),
                Case("long_text", long_text, scenario=classified),
                Case(
                    "in_eval_mode",
                    lambda draw: batch(draw, (4, 2, 5), 5, *USUAL) | {"training": False},
                    scenario=classified,
                ),
                Case(
                    "in_turn",
                    lambda draw: (
                        batch(draw, (4, 3, 6), 6, *USUAL) | {"parts": [[3, 6], [2, 4], [1, 6], [3, 6], [2, 5]]}
                    ),
                    scenario=in_turn,
                    category="robustness",
                    dtypes=(torch.float64,),
                    gradients="none",
                ),
                Case(
                    "a_new_model",
                    lambda draw: made_of(7, 5, 6, 2, 2, draw.size(2, 9)),
                    scenario=a_new_model,
                    dtypes=(torch.float32,),
                    gradients="none",
                ),
                attention.large_scores(large_scores, scenario=classified, gradients="none"),
                Case(
                    "heads_do_not_divide",
                    lambda draw: [made_of(*SMALL) | {"sizes": [7, 5, D, H, 1, 3]} for D, H in ((10, 4), (4, 8))],
                    scenario=a_new_model,
                    raises=ValueError,
                ),
                Case(
                    "longer_than_context",
                    lambda draw: [
                        {
                            "ids": draw.integers(2, S, high=7),
                            "mask": real((S, length), S),
                            "sizes": [7, C, 8, 2, 1, 3],
                        }
                        for S, C, length in ((7, 6, 2), (9, 4, 9))
                    ],
                    scenario=refused,
                    raises=ValueError,
                ),
                Case("mask_of_another_shape", bad_masks, scenario=refused, raises=ValueError),
                Case("no_real_token", without_a_token, scenario=refused, raises=ValueError),
                Case(
                    "outside_the_vocabulary",
                    lambda draw: [one | {"mask": real((5, 5), 5), "sizes": SMALL} for one in gpt.outside(draw)],
                    scenario=refused,
                    raises=(ValueError, IndexError),
                ),
            ),
            budgets=(
                Budget(
                    "many_small_heads",
                    sizes={"batch": (4, 24), "heads": (4, 24), "tokens": (4, 24)},
                    inputs=lambda draw, batch, heads, tokens: texts(
                        draw, batch, tokens, 8, tokens, 2 * heads, heads, 1, 3
                    ),
                    scenario=classified,
                    asks=("loops",),
                    hints=attention.LOOPS,
                ),
                Budget(
                    "long_texts",
                    sizes={"heads": (2, 8), "tokens": (32, 128), "channels": (4, 16)},
                    peak=3,
                    inputs=lambda draw, heads, tokens, channels: texts(
                        draw, 1, tokens, 8, tokens, heads * channels, heads, 1, 3
                    ),
                    scenario=classified,
                    asks=("memory",),
                    hints={"channels": "@ itself sums over the channels of a head"},
                ),
                Budget(
                    "large_vocabulary",
                    sizes={"words": (500, 5000), "tokens": (16, 64)},
                    peak=4,
                    inputs=lambda draw, words, tokens: texts(draw, 4, tokens, words, tokens, 4, 2, 1, 3),
                    scenario=classified,
                    asks=("memory",),
                    hints={"words": "look tokens up by their ids, and make no scores of words"},
                ),
            ),
        ),
    ),
    banned=bans.ATTENTION,
)


def texts(draw: Draw, B: int, S: int, *sizes: int) -> Arguments:
    return batch(draw, [draw.size(1, S) for _ in range(B)], S, *sizes)
