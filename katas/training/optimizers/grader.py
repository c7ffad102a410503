"""What is checked of SGD, Adam and AdamW."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs, bans


class Right:
    """Keeps all gradients of each parameter, and finds every moment anew as a sum over them."""

    decoupled = False

    def __init__(self, params: Iterable[Tensor], lr: float = 1e-3, **options: Any) -> None:
        self.params, self.lr, self.options = [*params], lr, options
        self.past: list[list[Tensor]] = [[] for _ in self.params]

    def step(self) -> None:
        decay = self.options.get("weight_decay", 0.01 * self.decoupled)
        for parameter, past in zip(self.params, self.past, strict=True):
            if parameter.grad is not None:
                p = parameter.data
                past.append(parameter.grad + (0 if self.decoupled else decay) * p)
                p.mul_(1 - self.lr * decay * self.decoupled).sub_(self.lr * self.direction(past))

    def direction(self, past: list[Tensor], betas: tuple[float, float] = (0.9, 0.999)) -> Tensor:
        """With the corrections, a moment is a mean of the gradients, weighted by their age."""
        first, second = self.options.get("betas", betas)
        return weighted(past, first) / (weighted([g**2 for g in past], second).sqrt() + self.options.get("eps", 1e-8))

    def zero_grad(self) -> None:
        for p in self.params:
            p.grad = None


def weighted(past: list[Tensor], beta: float) -> Tensor:
    weights = [beta**age for age in reversed(range(len(past)))]
    return sum((w * g for w, g in zip(weights, past, strict=True)), torch.zeros_like(past[0])) / sum(weights)


class RightSGD(Right):
    """The buffer is a sum over the gradients as well."""

    def direction(self, past: list[Tensor]) -> Tensor:  # type: ignore[override]
        momentum = self.options.get("momentum", 0)
        buffer = sum((momentum**age * g for age, g in enumerate(reversed(past))), torch.zeros_like(past[0]))
        return past[-1] + momentum * buffer if self.options.get("nesterov") else buffer


class RightAdamW(Right):
    """The decay is no part of the gradients."""

    decoupled = True


def trained(
    SGD,
    Adam,
    AdamW,
    name,
    start,
    gradients,
    rates=(),
    without=(),
    form="a list",
    names=("matrix", "bias", "twin", "scalar"),
    **options,
):
    """Each step finds its gradients in .grad, in the same memory as those before; some steps have no gradient."""
    params = [p.clone().requires_grad_() for p in (start[:-2].mT, start[-2], start[-1], start[0, 0])]
    forms = {"a list": params, "a tuple": (*params,), "a generator": (p for p in params)}
    optimizer = {"SGD": SGD, "Adam": Adam, "AdamW": AdamW}[name](forms[form], **options)
    found = {one: [] for one in names}
    for t, now in enumerate(gradients):
        for one, p, g in zip(names, params, (now[:-2].mT, now[-2], now[-1], now[0, 0]), strict=True):
            if without and one in without[t]:
                p.grad = None
            elif p.grad is None:
                p.grad = g.clone()
            else:
                p.grad.copy_(g)
        if rates:
            optimizer.lr = rates[t]
        optimizer.step()
        for one, p in zip(names, params, strict=True):
            found[one].append(p.detach().clone())
    return {f"{one} after each step": torch.stack(values) for one, values in found.items()}


def what_is_left(SGD, Adam, AdamW, name, start, gradients, **options):
    """Steps as in a training loop, while gradients are recorded; a second parameter has no gradient.

    At last, a new optimizer takes a step with the same parameters. A parameter's node in the graph lives on with the
    mark that it is given here only if some graph of it is kept, wherever that is.
    """
    p, unused = start.clone().requires_grad_(), start.clone().requires_grad_()
    view, kept = p.detach(), []
    with torch.enable_grad():
        optimizer = {"SGD": SGD, "Adam": Adam, "AdamW": AdamW}[name]([p, unused], **options)
        for g in gradients:
            p.grad = g.clone()
            optimizer.step()
            kept.append(p.grad.detach().clone())
            optimizer.zero_grad()
        on = torch.is_grad_enabled()
        torch.autograd.graph.get_gradient_edge(p).node.metadata["marked"] = True
        graph = "marked" in torch.autograd.graph.get_gradient_edge(p).node.metadata
        p.grad = gradients[0].clone()
        {"SGD": SGD, "Adam": Adam, "AdamW": AdamW}[name]([p, unused], **options).step()
    return {
        "a view of the parameter, made before the steps": view,
        "the parameter's .grad after each step": torch.stack(kept),
        "the parameter is a leaf that requires gradients": p.is_leaf and p.requires_grad,
        "gradients are recorded afterwards": on,
        "the optimiser keeps a graph of its steps": graph,
        "a parameter without a gradient": unused.detach(),
        "the .grad of that parameter is still None": unused.grad is None,
    }


def many_steps(SGD, Adam, AdamW, start, steps):
    found = {}
    for name, make in {"SGD": SGD, "Adam": Adam, "AdamW": AdamW}.items():
        p = start.clone().requires_grad_()
        optimizer = make([p], lr=0.01, weight_decay=0.1, **{"momentum": 0.9} if name == "SGD" else {})
        for t in range(steps):
            p.grad = start / (1 + t)
            optimizer.step()
        found[name] = p.detach()
    return found


def zeroed(SGD, Adam, AdamW, name, start, **options):
    params = [start.clone().requires_grad_() for _ in range(3)]
    params[0].grad, params[2].grad = start.clone(), start.cos()
    optimizer = {"SGD": SGD, "Adam": Adam, "AdamW": AdamW}[name](params, **options)
    optimizer.zero_grad()
    return {"sum of |.grad| after zero_grad()": [0.0 if p.grad is None else float(p.grad.abs().sum()) for p in params]}


def refused(SGD, Adam, AdamW, name, start, form, **options):
    params = {"one": [start.clone().requires_grad_()], "none": [], "an empty generator": (p for p in [])}
    {"SGD": SGD, "Adam": Adam, "AdamW": AdamW}[name](params[form], **options)


def run(
    draw: Draw, steps: int, rows: int = 5, columns: int = 4, size: float = 1.0, still: tuple[int, ...] = (), **more: Any
) -> Arguments:
    """Gradients of sizes from 0.1 to 10, times `size`, or 0 in steps that are `still`; every parameter has some."""
    sizes = size * 10 ** draw.uniform(rows, columns, low=-1, high=1)
    gradients = draw.normal(steps, rows, columns) * sizes
    gradients[[*still]] = 0
    return {"start": draw.normal(rows, columns), "gradients": gradients, **more}


def runs(*changes: Arguments, steps: int = 5, **options: Any) -> Inputs:
    return lambda draw: [run(draw, **{"steps": steps} | options | change) for change in changes]


def sized(draw: Draw, rows: int, columns: int, given: Arguments) -> Arguments:
    """Of a shape, a number of steps and options that the seed draws."""
    own = {"momentum": draw.number(0.1, 0.95)} if given["name"] == "SGD" else {"eps": draw.number(1e-3, 0.5)}
    if given["name"] != "SGD":
        own["betas"] = [draw.number(0.1, 0.95), draw.number(0.5, 0.99)]
    steps = draw.size(4, 9)
    options = {"rates": [draw.number(0.01, 0.2) for _ in range(steps)], "weight_decay": draw.number(0.01, 0.5)}
    return run(draw, steps, rows, columns, **given | own | options)


def starts(*changes: Arguments, **options: Any) -> Inputs:
    return lambda draw: [{"start": draw.normal(3, 2), **options, **change} for change in changes]


FALLING = [0.1 * 0.8**t for t in range(12)]
JUMPING = [0.1, 0.0, 0.3, 0.01, 0.1]
FORMS = [{"form": form} for form in ("a tuple", "a generator")]
WITHOUT = (
    ["bias", "", "bias twin", "scalar", ""],  # one starts late, others pause
    ["", "matrix bias twin scalar", "matrix", "", ""],
)
NOBODY = [{"form": form} for form in ("none", "an empty generator")]


def answer(signature: str, oracle: Callable[..., Any], least: Arguments, bad: list[Arguments], **asked: Any) -> Answer:
    """`least` is what the constructor needs beside params; `asked` names the options, each with its calls."""
    name = signature.partition("(")[0]
    short, budgets = name.lower(), asked.pop("budgets", ())
    given = {"name": name, **least}
    alone = partial(Case, dtypes=(torch.float64,), scenario=trained)
    moving = {"momentum": 0.9} if name == "SGD" else {}
    rates = ({"rates": FALLING, "steps": 12}, {"rates": JUMPING})
    missing = [{"without": each} | moving for each in WITHOUT] + [{"still": (1, 3), "weight_decay": 0.1} | moving]
    return Answer(
        f"class {signature}",
        oracle=oracle,
        methods=("step()", "zero_grad()"),
        half=False,
        budgets=budgets,
        cases=(
            Case(f"{short}_defaults", runs({}, steps=12, **given), scenario=trained),
            *(alone(f"{short}_{option}", runs(*calls, **given)) for option, calls in asked.items()),
            alone(f"{short}_changed_rate", runs(*rates, **given | moving)),
            alone(f"{short}_missing_gradients", runs(*missing, **given)),
            alone(f"{short}_drawn_sizes", partial(sized, given=given), sizes={"rows": (3, 9), "columns": (2, 8)}),
            alone(f"{short}_zero_grad", starts({}, **given), scenario=zeroed),
            alone(f"{short}_any_iterable", runs(*FORMS, steps=2, **given), core=False),
            alone(
                f"{short}_what_is_left",
                runs({"weight_decay": 0.1} | moving, {}, steps=3, **given),
                scenario=what_is_left,
                category="robustness",
            ),
            Case(
                f"{short}_bad_arguments",
                starts(*({"form": "one"} | one for one in bad), *NOBODY, **given),
                scenario=refused,
                raises=ValueError,
            ),
        ),
    )


DECAYS = [{"weight_decay": 0.1}, {"weight_decay": 0.0}, {"weight_decay": 2, "lr": 0.8}]
BETAS = [{"betas": betas} for betas in ((0.5, 0.9), (0.99, 0.9), (0.0, 0.99), (0.9, 0.0))]
EPS = [{"eps": 0.1, "lr": 0.1}, {"eps": 3.0, "lr": 2.0}, {"size": 1e-7}, {"eps": 0.0}, {"lr": 0.0}]
BAD = [{"lr": -0.1}, {"weight_decay": -0.1}]
BAD_ADAM = [*BAD, {"eps": -1e-8}, *({"betas": b} for b in ((-0.1, 0.9), (0.9, -0.1), (1.0, 0.9), (0.9, 1.0), (2, 0.5)))]
BUDGET = Budget(
    "large_parameters",
    sizes={"rows": (16, 64), "columns": (8, 128)},
    inputs=lambda draw, rows, columns: run(draw, 2, rows, columns, name="Adam"),
    asks=("loops",),
    scenario=trained,
    hints=dict.fromkeys(("rows", "columns"), "take all numbers of a parameter at once"),
)
STEPS = Budget(
    "many_steps",
    sizes={"steps": (4, 44)},
    inputs=lambda draw, steps: {"start": draw.normal(256, 64), "steps": steps},
    asks=("memory",),
    peak=2,
    written=40,  # what stays alive is asked here
    scenario=many_steps,
    hints={"steps": "keep one buffer, or two moments, of each parameter, and no past gradients"},
)
ADAM = "(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay={})"
GRADER = Grader(
    answers=(
        answer(
            "SGD(params, lr, momentum=0.0, weight_decay=0.0, nesterov=False)",
            RightSGD,
            {"lr": 0.05},
            [*BAD, {"momentum": -0.9}, {"nesterov": True}, {"nesterov": True, "momentum": -0.9}],
            momentum=[{"momentum": 0.9}, {"momentum": 0.5}, {"momentum": 1.5, "lr": 2.0}],
            nesterov=[{"momentum": 0.9, "nesterov": True}, {"momentum": 0.2, "nesterov": True, "weight_decay": 0.1}],
            weight_decay=[*DECAYS, {"momentum": 0.9, "weight_decay": 0.1}, {"lr": 0.0}],
        ),
        answer(
            "Adam" + ADAM.format("0.0"),
            Right,
            {},
            BAD_ADAM,
            betas=BETAS,
            eps=EPS,
            weight_decay=DECAYS,
            budgets=(BUDGET, STEPS),
        ),
        answer("AdamW" + ADAM.format("0.01"), RightAdamW, {}, BAD_ADAM, betas=BETAS, eps=EPS, weight_decay=DECAYS),
    ),
    banned=(*bans.OPTIMIZERS, "foreach"),
)
