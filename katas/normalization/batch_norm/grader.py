"""What is checked of batch_norm."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Submission, Tolerance, bans, last_places

ONE = (torch.float64,)


class Right(nn.BatchNorm1d):
    """What is below nn.BatchNorm1d takes inputs of any rank."""

    def _check_input_dim(self, _: Tensor) -> None: ...


def life(BatchNorm, modes, weight, bias, x, y=None, z=None, **options):
    norm = BatchNorm(len(weight), **options).to(x)
    own = {"weight": weight, "bias": bias}
    found = {name: list(getattr(norm, name).shape) for name in own}
    for mode, batch in zip(modes, (x, y, z), strict=False):
        getattr(norm, mode)()  # norm.train() or norm.eval()
        out = torch.func.functional_call(norm, own, batch)
        mean = norm.running_mean.detach().to(x.dtype, copy=True)
        var = norm.running_var.detach().to(x.dtype, copy=True)
        call = {"output": out, "running_mean": mean, "running_var": var}
        found[f"call {len(found) - 1}, {mode}"] = call
    return found


def a_new_layer(BatchNorm, x):
    norm = BatchNorm(x.shape[1]).to(x)
    buffers = [name for name, _ in norm.named_buffers() if name in ("running_mean", "running_var")]
    return {
        "is an nn.Module": isinstance(norm, nn.Module),
        "parameters": ", ".join(sorted(name for name, _ in norm.named_parameters())),
        "buffers": ", ".join(sorted(buffers)),
        **{name: getattr(norm, name) for name in ("weight", "bias", "running_mean", "running_var")},
    }


def in_a_model(BatchNorm, x, y):
    norm = BatchNorm(x.shape[1])
    model = nn.Sequential(norm).to(x)
    model(x)
    model.eval()
    first = {"output": model(y), "next output": model(2 * x), "running_mean": norm.running_mean.clone()}
    model.train()
    second = {"output": model(y), "running_mean": norm.running_mean.clone()}
    model.eval()
    return {"first evaluation": first, "second training": second, "output of second evaluation": model(y)}


def eight_calls(BatchNorm, x):
    norm, found = BatchNorm(x.shape[1]).to(x), {}
    for number in range(1, 9):
        norm.train(number % 4 > 0)  # the fourth and the eighth are in evaluation mode
        found[f"call {number}"] = norm(number * x)
    return found | {"running_mean": norm.running_mean.clone(), "running_var": norm.running_var.clone()}


def running_statistics_have_no_graph(BatchNorm, x):
    norm = BatchNorm(x.shape[1]).to(x)
    norm(x.clone().requires_grad_())
    return {f"{name}.requires_grad": getattr(norm, name).requires_grad for name in ("running_mean", "running_var")}


def saved_and_loaded(BatchNorm, x, y):
    norm, other = BatchNorm(x.shape[1]).to(x), BatchNorm(x.shape[1]).to(x)
    norm(x)
    other(y)
    other.eval()(y)
    saved = norm.state_dict()
    other.load_state_dict(saved)
    names = [name for name in ("weight", "bias", "running_mean", "running_var") if name in saved]
    return {"what is saved": ", ".join(names), "output": norm.eval()(y), "output when loaded": other(y)}


def refused(BatchNorm, C, mode, x):
    norm = BatchNorm(C).to(x)
    getattr(norm, mode)()  # norm.train() or norm.eval()
    norm(x)


def inherited_layers(BatchNorm):
    """By identity, since a class may be given any name; and read as no class of the submission's can change it."""
    bases_of = type.__dict__["__mro__"].__get__
    own = {id(base) for base in bases_of(BatchNorm)} - {id(base) for base in bases_of(nn.Module)}
    layers = {name: kind for name, kind in vars(nn).items() if "Norm" in name and isinstance(kind, type)}
    return [name for name, kind in layers.items() if not own.isdisjoint([id(base) for base in bases_of(kind)])]


def shapes_in(text: str) -> list[tuple[int, ...]]:
    return [tuple(map(int, word.split("x"))) for word in text.split()]


def called(draw: Draw, shapes: str, modes: str = "", std: float = 1, **more: Any) -> Arguments:
    """Calls with x, y and z of these shapes, the last in evaluation unless `modes` are given."""
    listed = shapes_in(shapes)
    chosen = modes.split() or [*["train"] * (len(listed) - 1), "eval"]
    weight, bias = draw.normal(2, listed[0][1], std=0.5)
    kinds = zip("xyz", listed, (2, 3, 1), (0.5, -1, 0), strict=False)
    batches = {name: draw.normal(*shape, std=a * std, mean=b * std) for name, shape, a, b in kinds}
    return {"modes": chosen, "weight": weight, "bias": bias, **batches, **more}


def lives(name: str, *several: str, how: tuple[dict[str, Any], ...] = ({},), **options: Any) -> Case:
    """Each of `several` in every way of `how`."""
    pairs = [*product(several, how)]
    return Case(name, lambda draw: [called(draw, shapes, **way) for shapes, way in pairs], scenario=life, **options)


def ranks_in_turn(draw: Draw) -> list[Arguments]:
    """In one life; then each rank by itself, in sizes of any kind."""
    made = [called(draw, shapes) for shapes in ("4x3x2x5 6x3 2x3x4", "2x3x4 3x3x2x2 2x3")]
    for axes, most in ((2, 20), (3, 12), (4, 7)):
        C, several = draw.size(6, 12), [draw.shape(axes, most=most) for _ in "xyz"]
        text = " ".join("x".join(map(str, (N, C, *rest))) for N, _, *rest in several)
        made.append(called(draw, text, eps=draw.number(0.05, 0.5), momentum=draw.number(0.2, 0.8)))
    return made


def facts(scenario: Any) -> Case:
    def inputs(draw: Draw) -> Arguments:
        made = {"x": draw.normal(5, 4, std=2, mean=1), "y": draw.normal(6, 4)}
        return {name: made[name] for name in made if name in scenario.__code__.co_varnames}

    return Case(scenario.__name__, inputs, scenario=scenario, dtypes=ONE, gradients="none")


def constant_channels(draw: Draw) -> Arguments:
    made = called(draw, "4x3x5 2x3x5", eps=1e-3)
    made["x"][:, 1], made["x"][:, 2] = 0.5, 0
    return made


def large_means(draw: Draw) -> list[Arguments]:
    """Each channel has its own mean, between a million and two, the same one in all calls."""
    made = [called(draw, shapes, momentum=1.0) for shapes in ("16x4 12x4 9x4", "6x4x9 3x4x9 2x4x9")]
    far = torch.tensor([1e6, -1.5e6, -1e6, 2e6], dtype=torch.float64)
    for one, name in product(made, "xyz"):
        one[name] += far.reshape(4, *[1] * (one[name].dim() - 2))
    return made


def bad(name: str, shapes: str, C: int = 5, modes: tuple[str, ...] = ("train", "eval")) -> Case:
    def inputs(draw: Draw) -> list[Arguments]:
        return [{"C": C, "mode": mode, "x": draw.normal(*shape)} for shape, mode in product(shapes_in(shapes), modes)]

    return Case(name, inputs, scenario=refused, raises=ValueError)


def budget(name: str, hint: str, **sizes: tuple[int, int]) -> Budget:
    def inputs(draw: Draw, samples: int, channels: int = 8, positions: int = 2) -> Arguments:
        return called(draw, f"{samples}x{channels}x{positions} {samples}x{channels} {samples}x{channels}")

    return Budget(name, sizes, inputs, scenario=life, hints={name.removeprefix("many_"): hint})


# Right answers reach a hundredth of it there, and E[x²] − E[x]² misses it by a factor of 500.
LARGE = {torch.float64: Tolerance(1e-7, 1e-8, 1e-8)}
MOMENTA = ({"momentum": 0.7, "modes": "train eval train"}, {"momentum": 0}, {"momentum": 1.0})
CASES = (
    lives("five_channels", "16x5 12x5 3x5", how=({}, {"std": 0.1})),  # so little that a larger eps shows in bfloat16
    lives("lengths", "4x3x6 2x3x5 2x3x4"),
    lives("heights_and_widths", "4x3x2x5 2x3x5x4 2x3x4x3"),
    Case("ranks_in_turn", ranks_in_turn, scenario=life),
    lives("as_long_as_channels", "3x4x4 4x4x4x4 3x4x4", "4x4 3x4x4 4x4"),
    lives("one_channel", "5x1 3x1x4 2x1x1x3", "2x1x3x2 4x1 1x1"),
    lives("axes_of_length_one", "1x3x4 2x3x1 1x3x1", "1x3x1x5 1x3x2x1 1x3x1x1", "4x3x1x1 2x3 1x3", how=({"eps": 0.1},)),
    lives("other_momenta", "5x4 4x4 3x4", how=MOMENTA, gradients="none"),
    lives("large_eps", "5x4x3 3x4x3 2x4x3", how=({"eps": 0.5, "momentum": 0.3},)),
    *map(facts, (a_new_layer, in_a_model, eight_calls, running_statistics_have_no_graph, saved_and_loaded)),
    lives("small_variance", "5x4x3 3x4x3 2x4x3", how=({"std": 1e-3},), category="robustness"),
    Case("constant_channels", constant_channels, scenario=life, category="robustness"),
    Case("large_mean", large_means, scenario=life, tolerance=LARGE, dtypes=ONE, category="robustness"),
    bad("other_ranks", "5 3x5x2x2x2"),
    bad("other_channels", "3x4 3x6 4x6x3 4x4x2x2"),
    bad("one_channel_for_five", "4x1 3x1x4 3x1x2x2"),
    bad("three_channels_for_one", "4x3 4x3x2", C=1),
    bad("channels_last", "4x3x5 4x2x2x5"),
    bad("one_value", "1x5 1x5x1 1x5x1x1", modes=("train",)),
)
GRADER = Grader(
    answers=(
        Answer(
            "class BatchNorm(num_features, eps=1e-5, momentum=0.1)",
            methods=("forward(x)",),
            oracle=Right,
            differentiable=("x", "y", "z", "weight", "bias"),
            tolerance=last_places(9),  # a gradient of few samples is a small difference
            budgets=(
                budget("many_channels", "mean and var do all of them at once", channels=(256, 2048), samples=(4, 16)),
                budget("many_samples", "mean and var take several axes", samples=(64, 512), positions=(4, 16)),
            ),
            cases=CASES,
        ),
    ),
    banned=bans.NORMS,
)


@pytest.mark.rules
def test_no_layer_of_torch_is_inherited(submission: Submission) -> None:
    found = submission.run(inherited_layers)
    assert not found, (
        f"the bases of BatchNorm: should be none of torch's normalisation layers, got nn.{found[0]} or a base of it"
    )
