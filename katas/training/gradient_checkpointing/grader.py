"""What is checked of checkpoint."""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, last_places


def by_hooks(function: Callable[..., Any], *args: Any) -> Any:
    """A number stands for each tensor that autograd would keep. The first that is needed has the function run again."""
    state, numbers = torch.get_rng_state(), itertools.count()
    kept: list[Tensor] = []

    def keep(tensor: Tensor) -> None:
        kept.append(tensor.detach())

    def needed(number: int) -> Tensor:
        if not kept:
            with torch.random.fork_rng(devices=[]), torch.enable_grad(), saved_tensors_hooks(keep, lambda none: none):
                torch.set_rng_state(state)
                function(*args)
        return kept[number]

    with saved_tensors_hooks(lambda tensor: next(numbers), needed):
        return function(*args)


# Scenarios


def two_layers(checkpoint, x, w1, w2):
    calls = []
    x, w1, w2 = (one.clone().requires_grad_() for one in (x, w1, w2))

    def block(x, w1, w2):
        calls.append("a call")
        return (x @ w1).tanh() @ w2

    out = checkpoint(block, x, w1, w2)
    forward = len(calls)
    out.square().sum().backward()
    counts = {"calls in forward": forward, "calls with backward": len(calls)}
    return counts | {"out": out.detach(), "x.grad": x.grad, "w1.grad": w1.grad, "w2.grad": w2.grad}


def weights_inside(checkpoint, x, w1, w2):
    """No argument requires grad."""
    calls = []
    w1, w2 = nn.Parameter(w1.clone()), nn.Parameter(w2.clone())

    def block(x):
        calls.append("a call")
        return (x @ w1).tanh() @ w2

    out = checkpoint(block, x)
    out.square().sum().backward()
    return {"calls": len(calls), "out": out.detach(), "w1.grad": w1.grad, "w2.grad": w2.grad}


def some_learn(checkpoint, x, w1, w2, learn):
    given = {"x": x.clone(), "w1": w1.clone(), "w2": w2.clone()}
    for name in learn:
        given[name].requires_grad_()
    out = checkpoint(lambda x, w1, w2: (x @ w1).tanh() @ w2, *given.values())
    if learn:
        out.square().sum().backward()
    return {"out": out.detach()} | {f"{name}.grad": one.grad for name, one in given.items()}


def after_others(checkpoint, x, w1, w2):
    """x has a graph of its own and is used twice; w1 has a gradient already; one matrix is both w2 and its factor."""
    leaf, w1, w2 = (one.clone().requires_grad_() for one in (x, w1, w2))
    w1.grad = torch.ones_like(w1)
    x = leaf.sin()

    def block(x, w1, power, w2, again):
        return ((x @ w1).tanh() @ w2).exp() * again.mean() ** power

    out = checkpoint(block, x, w1, 2, w2, w2)
    (out.square().sum() + x.square().sum()).backward()
    return {"out": out.detach(), "leaf.grad": leaf.grad, "w1.grad": w1.grad, "w2.grad": w2.grad}


def outputs(checkpoint, x, w, used):
    calls = []
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()

    def block(x, w):
        calls.append("a call")
        hidden = (x @ w).sigmoid()
        return hidden.exp(), hidden.square().sum(0), (hidden * x.mean()).sin()

    made = checkpoint(block, x, w)
    sum((i + 2) * made[i].square().sum() for i in used).backward()
    found = {"kind": type(made).__name__, "calls": len(calls), "out": [one.detach() for one in made]}
    return found | {"x.grad": x.grad, "w.grad": w.grad}


def other_outputs(checkpoint, x, w):
    """A tuple of one; whole numbers, and a tensor without a graph; an argument that comes back."""
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    one = checkpoint(lambda x, w: ((x @ w).tanh(),), x, w)
    several = checkpoint(lambda x, w: ((x @ w).argmax(1), (x @ w).exp(), x.detach().cos()), x, w)
    back, sine = checkpoint(lambda x, w: (x, (x @ w).sin()), x, w)
    (one[0].square().sum() + several[1].sum() + several[2].sum() + back.square().sum() + sine.sum()).backward()
    kinds = [type(one).__name__, len(one), type(several).__name__, len(several)]
    made = [each.detach() for each in (*one, *several, back, sine)]
    return {"kinds": kinds, "out": made, "x.grad": x.grad, "w.grad": w.grad}


def random_numbers(checkpoint, x, w, seed):
    """Drawn twice inside, once between forward and backward, and once after it."""
    torch.manual_seed(seed)
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()

    def block(x, w):
        mask = (torch.rand(x.shape, dtype=torch.float64) < 0.6).to(x)
        return ((x * mask) @ w).tanh() * torch.randint(2, 9, (1,)).to(x)

    out = checkpoint(block, x, w) + checkpoint(block, x, w).exp()
    between = torch.rand(2, dtype=torch.float64).to(x)
    out.square().sum().backward()
    later = {"drawn before backward": between, "drawn after backward": torch.rand(2, dtype=torch.float64).to(x)}
    return {"out": out.detach(), "x.grad": x.grad, "w.grad": w.grad} | later


def other_arguments(checkpoint, x, table, index, scale, name):
    """A tensor of whole numbers, a number, a text, None, and tensors within a list and a dict."""
    x, table = x.clone().requires_grad_(), table.clone().requires_grad_()
    factors = [torch.full_like(x, 1.5).requires_grad_(), torch.full_like(x, 0.5)]
    more = {"bias": torch.ones_like(x[0]).requires_grad_()}

    def block(name, x, scale, table, factors, index, more, nothing):
        y = getattr(torch, name)(x) * scale + table[index]
        for factor in factors:
            y = (y * factor).tanh()
        return (y + more["bias"]).exp() if nothing is None else y

    out = checkpoint(block, name, x, scale, table, factors, index, more, None)
    out.square().sum().backward()
    learnt = {"x": x, "table": table, "factors[0]": factors[0], "factors[1]": factors[1], "more['bias']": more["bias"]}
    return {"out": out.detach()} | {f"{name}.grad": one.grad for name, one in learnt.items()}


def in_a_row(checkpoint, x, w):
    leaf, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    x = leaf
    for one in w.unbind():
        x = x + checkpoint(lambda x, one: (x @ one).tanh().square(), x, one)
    x.square().sum().backward()
    return {"out": x.detach(), "x.grad": leaf.grad, "w.grad": w.grad}


def nested(checkpoint, x, w):
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    first, second, third = w.unbind()

    def inner(x, one):
        return (x @ one).tanh().square()

    def outer(x, first, second):
        return checkpoint(inner, checkpoint(inner, x, first).sin(), second).exp()

    out = checkpoint(outer, checkpoint(inner, x, third), first, second)
    out.square().sum().backward()
    return {"out": out.detach(), "x.grad": x.grad, "w.grad": w.grad}


def without_gradients(checkpoint, x, w):
    calls = []
    w = nn.Parameter(w.clone())

    def block(x):
        calls.append(torch.is_grad_enabled())
        return (x @ w).tanh()

    with torch.no_grad():
        out = checkpoint(block, x.clone().requires_grad_())
    return {"out": out, "calls": len(calls), "requires grad": out.requires_grad}


def bit_for_bit(checkpoint, x, w1, w2):
    def block(x, w1, w2):
        return ((x @ w1).tanh() @ w2).softmax(-1).log()

    found = []
    for run in (lambda function, *args: function(*args), checkpoint):
        given = [one.clone().requires_grad_() for one in (x, w1, w2)]
        out = run(block, *given)
        out.square().sum().backward()
        found.append([out.detach(), *(one.grad for one in given)])
    names = ("out", "x.grad", "w1.grad", "w2.grad")
    return {name: torch.equal(one, other) for name, one, other in zip(names, *found, strict=True)}


def interrupted(checkpoint, x, w, at):
    """The function's call of this number raises. After that, all works as before."""
    raised, calls = KeyError("no such key"), []
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()

    def block(x, w):
        calls.append("a call")
        if len(calls) == at:
            raise raised
        return (x @ w).tanh().square()

    try:
        checkpoint(block, x, w).sum().backward()
        came = "no error"
    except Exception as caught:
        came = "the function's error" if caught is raised else f"another {type(caught).__name__}"
    found = {"what came out": came, "calls": len(calls), "gradients are on": torch.is_grad_enabled()}
    x.grad = w.grad = None
    checkpoint(block, x, w).sum().backward()
    return found | {"x.grad": x.grad, "w.grad": w.grad}


def blocks(checkpoint, x, w1, w2):
    leaves = x, w1, w2 = [one.clone().requires_grad_() for one in (x, w1, w2)]
    for one, other in zip(w1.unbind(), w2.unbind(), strict=True):
        x = checkpoint(lambda x, one, other: F.gelu(x @ one) @ other, x, one, other)
    x.sum().backward()
    return [one.grad for one in leaves]


def steps(checkpoint, x, w1, w2, count):
    w1, w2 = w1.clone().requires_grad_(), w2.clone().requires_grad_()
    for _ in range(count):
        checkpoint(lambda x, one, other: F.gelu(x @ one) @ other, x, w1, w2).sum().backward()
    return [w1.grad, w2.grad]


# Inputs


def layers(draw: Draw, N: int, D: int, hidden: int, out: int) -> Arguments:
    return {"x": draw.normal(N, D), "w1": draw.normal(D, hidden, std=0.5), "w2": draw.normal(hidden, out, std=0.5)}


def any_layers(draw: Draw) -> list[Arguments]:
    return [layers(draw, *draw.shape(4)), layers(draw, 1, 1, 1, 1)]


def some(draw: Draw) -> list[Arguments]:
    learn = [["x"], ["w1"], ["w2"], ["x", "w2"], ["w1", "w2"], []]
    return [layers(draw, *draw.shape(4)) | {"learn": names} for names in learn]


def matrix(draw: Draw, **more: Any) -> Arguments:
    N, D = draw.shape(2)
    return {"x": draw.normal(N, D), "w": draw.normal(D, D, std=0.5)} | more


def uses(draw: Draw) -> list[Arguments]:
    return [matrix(draw, used=used) for used in ([0, 1, 2], [1], [2], [2, 0])]


def seeded(draw: Draw) -> list[Arguments]:
    return [matrix(draw, seed=draw.size(1, 10**6)) for _ in range(2)]


def with_others(draw: Draw) -> list[Arguments]:
    N, D, rows = draw.shape(3)
    made = {"x": draw.normal(N, D), "table": draw.normal(rows, D), "index": draw.integers(N, high=rows)}
    return [made | {"scale": draw.number(0.5, 2), "name": name} for name in ("sin", "cos")]


def three(draw: Draw) -> Arguments:
    N, D = draw.shape(2)
    return {"x": draw.normal(N, D), "w": draw.normal(3, D, D, std=0.5)}


def eight(draw: Draw, rows: int, channels: int) -> Arguments:
    sizes = (8, channels, 4 * channels)
    w1, w2 = draw.normal(*sizes, std=channels**-0.5), draw.normal(*sizes, std=channels**-0.5)
    return {"x": draw.normal(rows, channels), "w1": w1, "w2": w2.mT.contiguous()}


robust = partial(Case, category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "checkpoint(function, *args)",
            oracle=by_hooks,
            records=True,
            inference=False,
            tolerance=last_places(16, absolute=16),
            cases=(
                Case("both_layers", lambda draw: layers(draw, 5, 4, 6, 3), scenario=two_layers),
                Case("sizes_of_the_seed", any_layers, scenario=two_layers),
                Case("weights_inside", any_layers, scenario=weights_inside),
                Case("some_require_grad", some, scenario=some_learn),
                Case("after_others", lambda draw: layers(draw, *draw.shape(4)), scenario=after_others),
                Case("several_outputs", uses, scenario=outputs),
                Case("random_numbers", seeded, scenario=random_numbers),
                Case("other_arguments", with_others, scenario=other_arguments),
                Case("in_a_row", three, scenario=in_a_row),
                robust("nested", three, scenario=nested),
                robust("other_outputs", matrix, scenario=other_outputs),
                robust("without_gradients", matrix, scenario=without_gradients),
                robust("bit_for_bit", lambda draw: layers(draw, *draw.shape(4)), scenario=bit_for_bit),
                robust("function_raises", lambda draw: [matrix(draw, at=at) for at in (1, 2)], scenario=interrupted),
            ),
            budgets=(
                Budget(
                    "eight_blocks",
                    sizes={"rows": (512, 2048), "channels": (4, 16)},
                    inputs=eight,
                    scenario=blocks,
                    asks=("memory",),
                    peak=1.8,
                    hints={"rows": "keep only the arguments until backward", "channels": "keep only the arguments"},
                ),
                Budget(
                    "many_steps",
                    sizes={"steps": (8, 32)},
                    inputs=lambda draw, steps: layers(draw, 1024, 8, 32, 32) | {"count": steps},
                    scenario=steps,
                    asks=("memory",),
                    peak=3,
                    hints={"steps": "keep nothing once backward is through"},
                ),
            ),
        ),
    ),
    banned=("checkpoint",),
)
