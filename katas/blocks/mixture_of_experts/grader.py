"""What is checked of MixtureOfExperts."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, last_places


class Right(nn.Module):
    """Every expert maps every token; those that were not chosen have the weight 0."""

    def __init__(self, embed_dim: int, hidden_dim: int, num_experts: int, top_k: int = 2) -> None:
        super().__init__()
        assert top_k in range(1, num_experts + 1)
        self.top_k = top_k
        self.router = nn.Linear(embed_dim, num_experts, bias=False)
        layers = [(nn.Linear(embed_dim, hidden_dim), nn.Linear(hidden_dim, embed_dim)) for _ in range(num_experts)]
        self.experts = nn.ModuleList([nn.Sequential(one, nn.GELU(), other) for one, other in layers])

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        logits = self.router(x)
        least = logits.sort(-1, descending=True).values[..., self.top_k - 1, None]
        chosen = logits >= least
        weights = logits.masked_fill(~chosen, -torch.inf).softmax(-1)
        out = torch.einsum("...e,...ed->...d", weights, torch.stack([expert(x) for expert in self.experts], -2))
        f = chosen.flatten(0, -2).double().mean(0) / self.top_k
        return out, len(f) * (f * logits.softmax(-1).flatten(0, -2).mean(0)).sum()


# Scenarios


def routed(MixtureOfExperts, x, router, w1, b1, w2, b2, training=True, **options):
    experts, hidden, size = w1.shape
    layer = MixtureOfExperts(size, hidden, experts, **options).to(x).train(training)
    own = {"router.weight": router}
    for e in range(experts):
        own |= {f"experts.{e}.0.weight": w1[e], f"experts.{e}.0.bias": b1[e]}
        own |= {f"experts.{e}.2.weight": w2[e], f"experts.{e}.2.bias": b2[e]}
    out, aux_loss = torch.func.functional_call(layer, own, x)
    return {"out": out, "aux_loss": aux_loss}


def a_new_layer(MixtureOfExperts, embed_dim, hidden_dim, num_experts, **options):
    layer = MixtureOfExperts(embed_dim, hidden_dim, num_experts, **options)
    shapes = {name: list(one.shape) for name, one in layer.named_parameters()}
    kinds = [type(one).__name__ for one in layer.experts[0]]
    return {
        "is an nn.Module": isinstance(layer, nn.Module),
        "parameters": dict(sorted(shapes.items())),
        "expert": kinds,
    }


# Inputs


def layer(draw: Draw, D: int, hidden: int, E: int) -> Arguments:
    return {
        "router": draw.normal(E, D),
        "w1": draw.normal(E, hidden, D, std=D**-0.5),
        "b1": draw.normal(E, hidden, std=0.5),
        "w2": draw.normal(E, D, hidden, std=hidden**-0.5),
        "b2": draw.normal(E, D, std=0.5),
    }


def tokens(draw: Draw, *axes: int, hidden: int, E: int, k: int = 2, name: bool = True, **more: Any) -> Arguments:
    """Of each token, the k-th logit is well above the next, so that rounding changes no choice."""
    *lead, D = axes
    N, x = torch.Size(lead).numel(), torch.empty(0)
    while len(x) < N:  # where experts are nearly alike, few tokens are clear
        made, drawn = layer(draw, D, hidden, E), draw.normal(40 * N + 40, D)
        ranked = (drawn @ made["router"].T).sort(-1, descending=True).values
        x = drawn[ranked[:, k - 1] - ranked[:, k] > 0.2] if k < E else drawn
    return made | {"x": x[:N].reshape(axes)} | ({"top_k": k} if name else {}) | more


def any_size(draw: Draw, B: int, S: int, D: int, hidden: int, E: int) -> list[Arguments]:
    return [tokens(draw, B, S, D, hidden=hidden, E=E, k=k) for k in (2, 3)]


def one_choice(draw: Draw) -> list[Arguments]:
    return [tokens(draw, 2, 4, 3, hidden=5, E=draw.size(3, 6), k=1, training=mode) for mode in (True, False)]


def all_chosen(draw: Draw) -> list[Arguments]:
    E = draw.size(2, 5)
    return [tokens(draw, 2, 3, 4, hidden=3, E=E, k=E), tokens(draw, 2, 3, 4, hidden=3, E=1, k=1)]


def axes(draw: Draw) -> list[Arguments]:
    """Two to four, each of which may be 1, with B = E; the same tokens again and again."""
    sizes = [(7, 3), (2, 3, 2, 4), (1, 5), (1, 1, 1), (3, 4, 3), (3, 1, 4)]
    made = [tokens(draw, *one, hidden=4, E=3, k=2, training=False) for one in sizes]
    made[4]["x"] = made[4]["x"][:1, :1].expand(3, 4, 3).clone()
    return made


def idle_experts(draw: Draw) -> list[Arguments]:
    """All tokens go to the first expert, or to the last two; some experts in between get none."""
    made = []
    for E, k, wanted in ((4, 1, [0]), (5, 2, [3, 4]), (5, 2, [0, 2])):
        one = tokens(draw, 2, 3, 4, hidden=3, E=E, k=k)
        one["router"][:, 0] = -6.0
        one["router"][wanted, 0] = torch.linspace(6, 8, len(wanted)).double()
        one["x"] = 0.3 * one["x"]
        one["x"][..., 0] = 1
        made.append(one)
    return made


def new(draw: Draw, E: int, **top_k: int) -> Arguments:
    D, hidden = draw.shape(2)
    return {"embed_dim": D, "hidden_dim": hidden, "num_experts": E} | top_k


def many(draw: Draw, tokens: int, experts: int = 4) -> Arguments:
    """Tokens whose choices are clear, among as many."""
    made = layer(draw, 8, 128, experts)
    x = draw.normal(4 * tokens, 8)
    ranked = (x @ made["router"].T).sort(-1, descending=True).values
    return made | {"x": x[(ranked[:, 1] - ranked[:, 2]).argsort(descending=True)[:tokens]]}


case = partial(Case, scenario=routed)
GRADER = Grader(
    answers=(
        Answer(
            "class MixtureOfExperts(embed_dim, hidden_dim, num_experts, top_k=2)",
            methods=("forward(x)",),
            oracle=Right,
            differentiable=("x", "router", "w1", "b1", "w2", "b2"),
            tolerance=last_places(16, absolute=16),
            cases=(
                case("two_of_four", lambda draw: tokens(draw, 2, 5, 6, hidden=5, E=4, name=False)),
                case(
                    "sizes_of_the_seed",
                    any_size,
                    sizes={"B": (2, 5), "S": (2, 7), "D": (2, 8), "hidden": (2, 9), "E": (4, 8)},
                ),
                case("one_choice", one_choice),
                case("all_chosen", all_chosen),
                case("axes", axes, half=True),
                case("idle_experts", idle_experts),
                Case(
                    "a_new_layer",
                    lambda draw: [new(draw, draw.size(3, 6)), new(draw, 4, top_k=draw.size(1, 4))],
                    scenario=a_new_layer,
                    dtypes=(torch.float32,),
                    gradients="none",
                ),
                Case(
                    "top_k_that_cannot_be",
                    lambda draw: [new(draw, E, top_k=k) for E, k in ((4, 0), (4, 5), (4, -1), (3, 9), (1, 2))],
                    scenario=a_new_layer,
                    raises=ValueError,
                ),
            ),
            budgets=(
                Budget(
                    "many_tokens",
                    sizes={"tokens": (32, 256)},
                    inputs=many,
                    scenario=routed,
                    asks=("loops",),
                    hints={"tokens": "give an expert all of its tokens in one call"},
                ),
                Budget(
                    "many_experts",
                    sizes={"tokens": (64, 256), "experts": (4, 16)},
                    inputs=many,
                    scenario=routed,
                    asks=("memory",),
                    written=4,
                    peak=2,
                    hints={
                        "tokens": "an expert maps only the tokens that chose it",
                        "experts": "an expert maps only the tokens that chose it",
                    },
                ),
            ),
        ),
    ),
)
