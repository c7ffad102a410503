"""What is checked of LoRALinear."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Submission


class Right(nn.Module):
    """Multiplies by the one matrix W₀ + (α / r) B A."""

    def __init__(self, in_features: int, out_features: int, rank: int, alpha: float = 1.0, bias: bool = True) -> None:
        super().__init__()
        assert rank in range(1, 1 + min(in_features, out_features))
        self.linear = nn.Linear(in_features, out_features, bias).requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(rank, in_features))
        self.lora_B = nn.Parameter(torch.zeros(out_features, rank))
        self.scale = alpha / rank

    def weight(self) -> Tensor:
        return self.linear.weight + self.scale * torch.einsum("or,ri->oi", self.lora_B, self.lora_A)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.einsum("...i,oi->...o", x, self.weight())
        return y if self.linear.bias is None else y + self.linear.bias

    def merged(self) -> nn.Linear:
        new = nn.Linear(*self.linear.weight.T.shape, self.linear.bias is not None)
        new.weight = nn.Parameter(self.weight().detach())
        if self.linear.bias is not None:
            new.bias = nn.Parameter(self.linear.bias.detach().clone())
        return new


def layer(draw: Draw, *x: int, out: int, rank: int, bias: bool = True, **options: Any) -> Arguments:
    made = {"x": draw.normal(*x), "weight": draw.normal(out, x[-1], std=x[-1] ** -0.5)}
    made |= {"lora_A": draw.normal(rank, x[-1]), "lora_B": draw.normal(out, rank)}
    return made | ({"bias": draw.normal(out)} if bias else {}) | options


def of(*x: int, out: int, rank: int, **options: Any) -> Inputs:
    return lambda draw: layer(draw, *x, out=out, rank=rank, **options)


def both_modes(draw: Draw) -> list[Arguments]:
    return [layer(draw, 4, 6, out=5, rank=2, training=mode) for mode in (True, False)]


def alphas(draw: Draw) -> list[Arguments]:
    """Whole ones also, which the rank need not divide. In the last call lora_B is 0, as at the start."""
    made = [layer(draw, 4, 6, out=5, rank=rank, alpha=alpha) for rank, alpha in ((3, 16), (2, 2.5), (4, 0.5), (3, 1))]
    made[-1]["lora_B"][:] = 0
    return made


def shapes(draw: Draw) -> list[Arguments]:
    """Any number of axes, of which each may be 1; the rank as large as it may be."""
    asked = [((5,), 3, 2), ((2, 3, 4), 6, 2), ((2, 1, 3, 4), 4, 4), ((3, 1), 4, 1), ((3, 4), 1, 1), ((1, 1), 1, 1)]
    asked += [((2, 4), 6, 4), ((2, 6), 4, 4)]
    return [layer(draw, *x, out=out, rank=rank, alpha=2.0) for x, out, rank in asked]


def any_sizes(draw: Draw, batch: int, heads: int, tokens: int, size: int, out: int, rank: int) -> Arguments:
    return layer(draw, batch, heads, tokens, size, out=out, rank=rank, alpha=draw.number(0.5, 20))


def to_merge(draw: Draw) -> list[Arguments]:
    asked = [(6, 5, 3, True), (4, 4, 2, True), (3, 7, 1, False)]
    asked.append((draw.size(9, 12), draw.size(5, 8), draw.size(2, 4), True))
    return [layer(draw, 2, size, out=out, rank=r, alpha=4, bias=bias) for size, out, r, bias in asked]


def call(LoRALinear, x, weight, lora_A, lora_B, bias=None, training=True, **options):
    (out, size), own = weight.shape, {"linear.weight": weight, "lora_A": lora_A, "lora_B": lora_B}
    layer = LoRALinear(size, out, len(lora_A), bias=bias is not None, **options).to(x).train(training)
    return torch.func.functional_call(layer, own if bias is None else own | {"linear.bias": bias}, x)


def a_new_layer(LoRALinear, x, out, rank):
    layer = LoRALinear(x.shape[1], out, rank).to(x)
    named = dict(layer.named_parameters())
    return {
        "linear is an nn.Linear": isinstance(layer.linear, nn.Linear),
        "parameters that learn": sorted(name for name in named if named[name].requires_grad),
        "parameters that are frozen": sorted(name for name in named if not named[name].requires_grad),
        "shapes of lora_A and lora_B": [list(layer.lora_A.shape), list(layer.lora_B.shape)],
        "output equals linear's": torch.allclose(layer(x), layer.linear(x), atol=1e-12),
        "a merged layer has its own weight": layer.merged().weight.data_ptr() != layer.linear.weight.data_ptr(),
        "lora_A is zero": not torch.count_nonzero(layer.lora_A).item(),
        "lora_B is zero": not torch.count_nonzero(layer.lora_B).item(),
    }


def merge(LoRALinear, x, weight, lora_A, lora_B, bias=None, **options):
    (out, size), own = weight.shape, {"linear.weight": weight, "lora_A": lora_A, "lora_B": lora_B}
    layer = LoRALinear(size, out, len(lora_A), bias=bias is not None, **options).to(x)
    layer.load_state_dict(own if bias is None else own | {"linear.bias": bias}, strict=False)
    inputs = x.clone().requires_grad_()
    with torch.enable_grad():
        before = layer(inputs).sum()
    new = layer.merged()
    found = {"an nn.Linear": isinstance(new, nn.Linear), "weight": new.weight.detach().clone()}
    found["gradient of x, from a call before"] = torch.autograd.grad(before, [inputs])[0]
    found["numbers of linear's weight that have changed"] = int((layer.linear.weight != weight).sum())
    found["parameters of the new layer"] = sorted(name for name, _ in new.named_parameters())
    found |= {"bias": None if new.bias is None else new.bias.detach().clone(), "output": new(x).detach()}
    found["output of the layer, afterwards"] = layer(x).detach()
    with torch.no_grad():
        for one in new.parameters():
            one.fill_(9.0)
    found["output of the layer, once the new one is changed"] = layer(x).detach()
    found["weight of linear, afterwards"] = layer.linear.weight.clone()
    with torch.no_grad():
        layer.lora_B.mul_(2)
    found["weight, merged again after lora_B has changed"] = layer.merged().weight.detach().clone()
    found["weight of the new layer, changed and then merged again"] = new.weight.detach().clone()
    with torch.no_grad():
        layer.lora_A.mul_(3)
    found["output in evaluation, after lora_A has changed"] = layer.eval()(x).detach()
    return found | {"what learns": sorted(name for name, one in layer.named_parameters() if one.requires_grad)}


def saved_and_loaded(LoRALinear, x, weight, lora_A, lora_B, bias):
    own = {"linear.weight": weight, "linear.bias": bias, "lora_A": lora_A, "lora_B": lora_B}
    one, other, new = (LoRALinear(weight.shape[1], len(weight), len(lora_A), alpha=3).to(x) for _ in range(3))
    one.load_state_dict(own, strict=False)
    found = {"output": one(x).detach()}
    other.eval()(x)
    other.load_state_dict(one.state_dict())
    new.load_state_dict(one.state_dict())
    found |= {"output in evaluation, when loaded": other(x).detach(), "output of a new layer": new(x).detach()}
    return found | {"output in training, when loaded": other.train()(x).detach()}


def make(LoRALinear, in_features, out_features, rank):
    LoRALinear(in_features, out_features, rank)


def drawn(LoRALinear, seeds):
    """A row for each seed: lora_A of two layers, and the next random number."""
    found = []
    for seed in seeds:
        torch.manual_seed(seed)
        numbers = [LoRALinear(9, 7, 5).lora_A.detach().flatten() for _ in range(2)]
        found.append(torch.cat([*numbers, torch.rand(1)]))
    return torch.stack(found)


def bad_ranks(draw: Draw) -> list[Arguments]:
    names = ("in_features", "out_features", "rank")
    asked = [(4, 6, 0), (4, 6, -1), (4, 6, 5), (6, 4, 5), (4, 4, 5), (1, 3, 2), (4, 6, 7)]
    return [dict(zip(names, one, strict=True)) for one in asked]


BUDGET = Budget(
    "wide_layer",
    sizes={"features": (128, 1024)},
    inputs=lambda draw, features: layer(draw, 4, features, out=features, rank=4, training=False),
    asks=("memory",),
    written=2,  # the frozen weight is made once: another matrix of its size is too much
    peak=2,
    scenario=call,
    hints={"features": "multiply x by A first, then by B: both are small"},
)
SIZES = {"batch": (6, 9), "heads": (2, 5), "tokens": (3, 7), "size": (10, 30), "out": (10, 30), "rank": (5, 9)}
ONE = partial(Case, dtypes=(torch.float64,), gradients="none")
GRADER = Grader(
    answers=(
        Answer(
            "class LoRALinear(in_features, out_features, rank, alpha=1.0, bias=True)",
            methods=("forward(x)", "merged()"),
            oracle=Right,
            differentiable=("x", "lora_A", "lora_B"),
            budgets=(BUDGET,),
            cases=(
                Case("rank_two", both_modes, scenario=call),
                Case("alphas", alphas, scenario=call),
                Case("without_bias", of(4, 6, out=5, rank=2, bias=False), scenario=call),
                Case("shapes", shapes, scenario=call),
                Case("any_sizes", any_sizes, scenario=call, sizes=SIZES),
                ONE(
                    "a_new_layer",
                    lambda draw, out, rank: {"x": draw.normal(3, 6), "out": out, "rank": rank},
                    scenario=a_new_layer,
                    sizes={"out": (4, 12), "rank": (2, 4)},
                ),
                Case("merged_layers", to_merge, scenario=merge, gradients="none", dtypes=(torch.float32,)),
                ONE("merged_in_float64", to_merge, scenario=merge, core=False),
                ONE("saved_and_loaded", of(3, 6, out=5, rank=2), scenario=saved_and_loaded),
                ONE("rank_out_of_range", bad_ranks, scenario=make, raises=ValueError),
            ),
        ),
    ),
)


def judged(rows: Tensor) -> dict[str, bool]:
    """What is true of random numbers; 45 of float32's repeat half of the time in less than 1e-9 of all draws."""
    one, other, same = rows
    return {
        "lora_A is not zero": bool(one[:45].any()),
        "lora_A is random": len(one[:45].unique()) > 22,
        "lora_A differs in a second layer": not one[:45].equal(one[45:90]),
        "lora_A differs with another seed": not one[:45].equal(other[:45]),
        "the random generator is not seeded inside": bool(one[-1] != other[-1]),
        "lora_A is the same with the same seed": one.equal(same),
    }


def test_lora_a_is_random(submission: Submission) -> None:
    facts = submission.run(drawn, summary=judged, seeds=[1, 2, 1])
    wrong = next((fact for fact, true in facts.items() if not true), None)
    assert wrong is None, f"{wrong}: should be true, got false"
