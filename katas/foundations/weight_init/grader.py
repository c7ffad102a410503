"""What is checked of weight_init."""

import itertools
import math
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Submission, Tolerance, shown

NAMES = ("xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_")

# A right answer leaves a bound of `samples` with a probability of at most 1e-12, whatever the size of the sample. There
# are 64 samples with at most four such bounds each: it fails by chance in fewer than 3 of 10¹⁰ gradings.
L = math.log(2 / 1e-12)
# What rounding may add: draws in float32 are fine in float64, and half precision has coarse grids of its own.
SPARE = {"float64": 1e-6, "float32": 1e-6, "float16": 4e-3, "bfloat16": 3e-2}


def fills(xavier_uniform_, xavier_normal_, kaiming_uniform_, kaiming_normal_, name, tensor, view, learns, seed):
    whole, enabled = tensor.clone().requires_grad_(learns), torch.is_grad_enabled()
    whole.grad = grad = torch.ones_like(tensor)
    given = {"all of it": whole, "its transpose": whole.mT, "a part": whole[1:-1:2, 1::3]}[view]
    layout = given.data_ptr(), given.stride(), given.dtype
    result = locals()[name](given, generator=torch.Generator(tensor.device).manual_seed(seed))
    return {
        "whether the result is the argument": result is given,
        "whether memory, strides and dtype stayed": (given.data_ptr(), given.stride(), given.dtype) == layout,
        "which entries are new (new ones are below 20, old ones are not)": torch.lt(torch.abs(whole), 20),
        "whether the tensor requires grad": whole.requires_grad,
        "whether it is a leaf with its old .grad": whole.is_leaf
        and whole.grad is grad
        and torch.equal(grad, torch.ones_like(grad)),
        "whether gradients are switched on as before": torch.is_grad_enabled() == enabled,
    }


def draws(xavier_uniform_, xavier_normal_, kaiming_uniform_, kaiming_normal_, name, tensor, given, seed):
    fill, where = locals()[name], tensor.device
    generator, default = torch.Generator(where), torch.default_generator
    if where.type == "cuda":
        default = torch.cuda.default_generators[where.index]
    drawn, other, options = (generator, default, {"generator": generator}) if given else (default, generator, {})
    first, second, again, later = (tensor.clone() for _ in range(4))
    before, aside = drawn.manual_seed(seed).get_state(), other.manual_seed(1).get_state()
    fill(first, **options)
    after = drawn.get_state()
    fill(second, **options)
    kept = other.get_state()
    drawn.manual_seed(seed), other.manual_seed(2)
    fill(again, **options)
    drawn.manual_seed(seed), torch.rand(3, generator=drawn, device=where)
    fill(later, **options)
    return {
        "whether the generator that should draw moved on": not torch.equal(after, before),
        "whether the other generator stayed": torch.equal(kept, aside),
        "whether a second call gave other entries": not torch.equal(second, first),
        "whether the same seed gave the same entries": torch.equal(again, first),
        "whether drawing three numbers after the seed changed the entries": not torch.equal(later, first),
    }


def weights(
    xavier_uniform_, xavier_normal_, kaiming_uniform_, kaiming_normal_, name, shape, dtype, turned, calls, seed
):
    generator = torch.Generator().manual_seed(seed)
    made = [torch.full(shape, math.nan, dtype=getattr(torch, dtype)) for _ in range(calls)]
    for weight in made:
        locals()[name](weight.mT if turned else weight, generator=generator)
    return torch.stack(made)


# What the judge makes of the weights.


def summary(made: Tensor, name: str, sigma: float) -> Tensor:
    z = made.double().flatten() / sigma
    below = torch.special.ndtr(z) if "normal" in name else z / 12**0.5 + 0.5
    found = torch.histc(below, bins=1000, min=0, max=1).cumsum(0) / len(z)
    distance = (found - torch.linspace(0.001, 1, 1000, dtype=z.dtype)).abs().max()
    largest, some = (2 * below - 1).abs().max(), z.abs()[: 1 << 16]  # to sort all would take half a second
    differ = torch.tensor(len(some.unique()) / len(some))
    off = torch.stack([z.mean(), z.square().mean().sqrt() - 1, distance, largest - 1, differ - 1])
    return (off * scatter(len(z)))[: 5 if made.dtype.itemsize > 2 else 4]


def scatter(n: int) -> Tensor:
    """What the five numbers of a summary are multiplied by, so that those of two samples differ by a few at most."""
    return torch.tensor([n**0.5, n**0.5, n**0.5, n, n**0.5], dtype=torch.float64)


def sums(made: Tensor, sigma: float) -> Tensor:
    z = made.double() / sigma
    return torch.stack([z.sum(axes).square().sum() / z.numel() for axes in ((1, 2), 2, 1)])


def every(*shape: int, low: float = 50, names: tuple[str, ...] = NAMES, **options: object) -> Inputs:
    """The functions in turn, and old values that none of them draws."""

    def inputs(draw: Draw) -> list[Arguments]:
        larger = (size + draw.size(0, 6) for size in shape)
        tensor, seed = draw.uniform(*larger, low=low, high=90), int(draw.integers(1, high=1 << 31))
        return [{"name": name, "tensor": tensor, **options, "seed": seed} for name in names]

    return inputs


def case(name: str, *shape: int, low: float = 50, view: str = "all of it", learns: bool = False) -> Case:
    inputs = every(*shape, low=low, view=view, learns=learns)
    return Case(name, inputs, scenario=fills, category="robustness")


# Each case asks all four functions; with which of them it stands makes no difference.
CASES = {
    "xavier_uniform_": (case("result_is_the_argument", 6, 5, 3), case("old_values_do_not_count", 6, 5, low=math.nan)),
    "xavier_normal_": (case("part_of_a_larger_tensor", 9, 13, 2, view="a part"),),
    "kaiming_uniform_": (
        case("parameter", 6, 5, 3, learns=True),
        case("transposed_parameter", 6, 5, view="its transpose", learns=True),
    ),
    "kaiming_normal_": (
        Case("given_generator", every(8, 5, given=True), scenario=draws),
        Case("global_generator", every(8, 5, given=False), scenario=draws),
    ),
}


def answer(name: str) -> Answer:
    only = {"names": (name,), "view": "all of it", "learns": False}
    budget = Budget(
        f"{name}cost",
        sizes={"outputs": (16, 64), "inputs": (8, 32), "positions": (8, 32)},
        inputs=lambda draw, outputs, inputs, positions: every(outputs, inputs, positions, **only)(draw),
        scenario=fills,
        hints=dict.fromkeys(("outputs", "inputs", "positions"), "fill the whole tensor with one call"),
    )
    near = {torch.float64: Tolerance(0.15, 0, 5)}  # two samples' summaries, for the diagnosis
    call = f"{name}(tensor, generator=None)"
    return Answer(call, oracle=getattr(nn.init, name), cases=CASES[name], budgets=(budget,), tolerance=near)


GRADER = Grader(
    answers=tuple(map(answer, NAMES)),
    banned=(*(name[:-1] for name in NAMES), "calculate_gain", "calculate_fan_in_and_fan_out", "calculate_correct_fan"),
)


def samples(*shapes: tuple[int, ...], dtypes: tuple[str, ...] = ("float32",), calls: int = 1, turned: bool = False):
    """A test of the entries of many tensors of each shape, or of one, against the formula's distribution.

    The bounds are theorems for every n, and serve both distributions: sub-Gaussian tails for the mean, Hoeffding's and
    Laurent and Massart's for the squares, Dvoretzky, Kiefer and Wolfowitz's for the distance, (1 − d)ⁿ for the largest.
    """

    def test(submission: Submission, draw: Draw) -> None:
        for name, shape, dtype in itertools.product(NAMES, shapes, dtypes):
            n, spare = calls * math.prod(shape), SPARE[dtype]
            fan_in, fan_out = (math.prod(shape) // shape[axis] for axis in (0, 1))
            sigma = math.sqrt(2 / (fan_in if "kaiming" in name else fan_in + fan_out))
            bounds = {
                "mean": (sigma, 0, math.sqrt(2 * L / n)),
                "standard deviation": (sigma, 1, 1 - math.sqrt(1 - 3 * math.sqrt(L / 2 / n) - 2 * L / n)),
                "distance from the distribution function": (1, 0, math.sqrt(L / 2 / n)),
                "quantile of the largest entry's size": (1, 1, L / n),
                "share of distinct absolute values": (1, 1, 0.1),
            }
            given = {"name": name, "shape": list(shape[::-1] if turned else shape), "dtype": dtype, "turned": turned}
            seed, told = int(draw.integers(1, high=1 << 31)), partial(summary, name=name, sigma=sigma)
            like = torch.empty(calls, *given["shape"], dtype=getattr(torch, dtype))
            found = submission.run(weights, like=like, summary=told, **given, calls=calls, seed=seed)
            found = found / scatter(n)[: len(found)]
            message = f"entries of {name} for {shape}, which were NaN before: should be finite, got some that are not"
            assert found.isfinite().all(), message
            for off, (what, (unit, right, most)) in zip(found.tolist(), bounds.items(), strict=False):
                middle, width = right * unit, (most + spare) * unit
                message = f"{what} of {name} for {shape}: should be {middle:.3g} ± {width:.2g}"
                assert abs(off) <= most + spare, f"{message}, got {shown((right + off) * unit, middle, width)}"

    return test


test_matrices = samples((256, 64), (64, 256), dtypes=("float32", "float64"))
test_kernels = samples((80, 30, 7), (32, 15, 5, 7), (20, 8, 3, 5, 7), (350, 1, 7, 7), (1, 350, 7, 7))
test_transposed_view = samples((256, 64), turned=True)
test_many_small_tensors = samples((1, 1), (2, 1), (1, 2, 5, 1), calls=2000)
test_many_entries = samples((1000, 800))
test_half_precision = pytest.mark.robustness(samples((256, 64), dtypes=("float16", "bfloat16")))


def test_independent_entries(submission: Submission, draw: Draw) -> None:
    """A sum of k independent entries has k times their variance: Laurent and Massart's bound for 2000 squares."""
    calls, rows, columns = 2000, 8, 5
    most = 2 * math.sqrt(L / calls) + 2 * L / calls
    for name in NAMES:
        sigma = math.sqrt(2 / (columns if "kaiming" in name else rows + columns))
        given = {"name": name, "shape": [rows, columns], "dtype": "float32", "turned": False, "calls": calls}
        seed, told = int(draw.integers(1, high=1 << 31)), partial(sums, sigma=sigma)
        like = torch.empty(calls, rows, columns)
        found = submission.run(weights, like=like, summary=told, **given, seed=seed)
        for part, got in zip(("tensor", "row", "column"), found.tolist(), strict=True):
            what = f"variance of the sum of a {part} of {name}, in multiples of independent entries'"
            assert abs(got - 1) <= most, f"{what}: should be 1 ± {most:.2f}, got {shown(got, 1, most)}"
