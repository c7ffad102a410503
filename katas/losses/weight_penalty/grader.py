"""What is checked of weight_penalty."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from graders.kata import HALF, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, bans

STRENGTHS = (0.3, 0, 0.0, 12, 1e-7, 2.5)
FORMS = [{"form": form} for form in ("a list", "a tuple", "a generator", "the values of a dict")]
FEWER = [{"form": form} for form in ("one matrix", "one number", "one scalar", "one frozen", "parts of one tensor")]
WITHOUT = [{"without": names} for names in ("weight", "kernel bias", "scale", "weight kernel bias scale")]
FROZEN = [{"frozen": names, "without": "bias"} for names in ("weight", "bias", "kernel scale")]


def penalised(l1_penalty, l2_penalty, name, weight, kernel, bias, scale, form, strength):
    tensors = [weight, kernel, bias, scale]
    params = {
        "a list": tensors,
        "a tuple": (*tensors,),
        "a generator": (w for w in tensors),
        "the values of a dict": dict(enumerate(tensors)).values(),
        "one matrix": [weight],
        "one number": [bias[:1]],
        "one scalar": [scale],
        "one frozen": [weight, kernel.detach(), bias, scale],
        "parts of one tensor": [weight[:1], weight[1:], bias],
        "312 numbers more": [weight, *kernel.flatten().repeat(13)],
    }
    return locals()[name](params[form], strength)


def decayed(add_weight_decay_, weight, kernel, bias, scale, form, strength, without, frozen):
    named = {"weight": weight.mT, "kernel": kernel, "bias": bias, "scale": scale}
    named = {name: w.detach().clone() for name, w in named.items()}
    for name, w in named.items():
        w.requires_grad_(name not in frozen)
        w.grad = None if name in without else w.detach().cos() * (name != "scale")  # a gradient of 0 is one
    params = {"a list": [*named.values()], "a tuple": (*named.values(),), "a generator": (w for w in named.values())}
    add_weight_decay_(params.get(form, named.values()), strength)
    kept = {"require no gradients": [name for name, w in named.items() if not w.requires_grad]}
    return {f"{name}.grad": w.grad for name, w in named.items()} | named | kept


def kept(add_weight_decay_, weight, kernel, bias, scale, form, strength, gradients):
    params = [w.detach().clone().requires_grad_() for w in (weight, kernel, bias, scale)]
    for w in params:
        w.grad = w.detach().cos() if gradients else None
    enabled = torch.is_grad_enabled()
    add_weight_decay_(params, strength)
    return {
        "a .grad requires gradients": any(w.grad.requires_grad for w in params if gradients),
        "a .grad cannot be changed outside inference mode": any(w.grad.is_inference() for w in params if gradients),
        "the parameters are leaves that require gradients": all(w.is_leaf and w.requires_grad for w in params),
        "the parameters are written to": any(w._version for w in params),
        "autograd is on or off as before": torch.is_grad_enabled() == enabled,
    }


def model(draw: Draw, rows: int = 4, columns: int = 3, std: float = 1.0, **options: Any) -> Arguments:
    """Numbers of both signs, none of them near 0."""
    shapes = {"weight": (rows, columns), "kernel": (2, 3, 2, 2), "bias": (3,), "scale": ()}
    tensors = {name: draw.normal(*shape) for name, shape in shapes.items()}
    made = {name: std * (w + 0.5 * w.sign()) for name, w in tensors.items()}
    return made | {"form": "a list", "strength": 0.3} | options


def each(changes: list[Arguments], **options: Any) -> Inputs:
    return lambda draw: [model(draw, **options | change) for change in changes]


def of_a_model(**options: Any) -> Inputs:
    """At each strength, then of another size."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = [model(draw, strength=strength, **options) for strength in STRENGTHS]
        rows, columns = draw.shape(2)
        return [*made, model(draw, rows, columns, strength=draw.number(0.1, 2), **options)]

    return inputs


def large(about: str, scenario: Callable[..., Any], **options: Any) -> Budget:
    return Budget(
        f"{about}_of_many",
        sizes={"rows": (16, 64), "columns": (8, 128)},
        inputs=lambda draw, rows, columns: model(draw, rows, columns, **options),
        scenario=scenario,
        hints=dict.fromkeys(("rows", "columns"), "take all numbers of a parameter at once"),
    )


def penalty(name: str, of_each: Callable[[Tensor], Tensor], *stds: float) -> Answer:
    """With each of `stds` the sum does not fit float16, nor does 1e-8, and in 312 steps a sum there stands still."""

    def oracle(params: Iterable[Tensor], strength: float) -> Tensor:
        return strength * torch.stack([of_each(w).sum() for w in params]).sum()

    def case(about: str, inputs: Inputs, **options: Any) -> Case:
        return Case(f"{name[:2]}_{about}", inputs, scenario=penalised, **options)

    overflow = [{"std": std, "strength": 0.005} for std in stds] + [{"std": stds[-1], "strength": 1e-7}]
    overflow += [{"rows": rows, "columns": 24, "form": "312 numbers more"} for rows in (20, 140)]
    overflow += [{"rows": 250, "columns": 400, "strength": 1e-8}]
    cases = (
        case("of_a_model", of_a_model(name=name)),
        case("of_any_iterable", each(FORMS + FEWER, name=name)),
        case("zeros", each([{"std": 0.0}], name=name)),
        case("large_sums", each(overflow, name=name), dtypes=HALF, category="robustness"),
    )
    tensors = ("weight", "kernel", "bias", "scale")
    return Answer(f"{name}(params, strength)", oracle, cases, tensors, budgets=(large(name, penalised, name=name),))


def decay_by_definition(params: Iterable[Tensor], strength: float) -> None:
    """As torch.optim.SGD does, which takes seconds to import all that it needs."""
    for w in params:
        if w.grad is not None:
            w.grad += strength * w.detach()


ALL = {"without": "", "frozen": ""}
DECAY = (
    Case("decay_of_a_model", of_a_model(**ALL), scenario=decayed),
    Case("decay_leaves_no_graph", each([{"gradients": True}, {"gradients": False}]), scenario=kept),
    Case("decay_of_any_iterable", each(FORMS, **ALL), scenario=decayed),
    Case("decay_goes_by_gradients", each(WITHOUT + FROZEN, **ALL), scenario=decayed),
)
GRADER = Grader(
    answers=(
        penalty("l1_penalty", torch.abs, 3e3, 6e3),
        penalty("l2_penalty", torch.square, 60.0, 250.0),
        Answer(
            "add_weight_decay_(params, strength)", decay_by_definition, DECAY, budgets=(large("decay", decayed, **ALL),)
        ),
    ),
    banned=bans.OPTIMIZERS,
)
