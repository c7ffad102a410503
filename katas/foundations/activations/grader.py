"""What is checked of the five activations and their backward passes."""

from typing import Any

import torch
import torch.nn.functional as F

from graders.kata import (
    TOLERANCES,
    Answer,
    Arguments,
    Budget,
    Case,
    Draw,
    Grader,
    Inputs,
    Submission,
    Tolerance,
    close,
    last_places,
)

LARGE = [5.5, 12, 20, 30, 40]  # whose exponentials fit into float32, those of 2 x as well
FAR = [*LARGE, 89, 100, 500, 750, 1000]
SMALL = 10.0 ** -torch.arange(1, 7)  # where an approximation for small x would begin
ZEROS = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.0])
CLASSES = ("Sigmoid", "Tanh", "ReLU", "LeakyReLU", "ELU")
# A slope that is computed from an output near 1 or -1 is as far off as that was rounded.
IN_HALF = last_places(12, absolute=1)
FUNCTIONS = ("sigmoid", "tanh", "relu", "leaky_relu", "elu")


def everywhere(draw: Draw) -> list[Arguments]:
    """All of it in half precision, too."""
    # Beside nothing but tiny slopes, those that are computed from the output would be far off in half precision.
    made = [draw.normal(3, 4, std=2.0), *[draw.uniform(*of, low=-1.0) for of in ((), (1,), (2, 3, 4), (4, 1, 3))]]
    large = torch.cat([torch.tensor(LARGE), draw.normal(12).abs()])
    grid = torch.cat([torch.linspace(-30, 30, 241), SMALL, -SMALL])
    made += [ZEROS, grid, torch.cat([large, -large]), large, -large]
    made += [draw.normal(*draw.shape(axes, most=most), std=2.0) for axes, most in ((1, 40), (3, 9))]
    return [{"x": x.double()} for x in made]


def with_each(number: str, *numbers: float) -> Inputs:
    """A function's number is each of these in turn."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = [torch.cat([draw.normal(9), ZEROS, torch.tensor([40, -300])]), torch.linspace(-30, 30, 241).double()]
        return [{"x": x, number: one} for x in made for one in (*numbers, draw.number(0.02, 0.9))]

    return inputs


def near_zero(draw: Draw) -> list[Arguments]:
    """Nothing but small x, for the scale of the others would count."""
    x = torch.tensor([sign * 10.0**-k for k in range(1, 14) for sign in (-1, 1)] + [-3e-12, -7e-6], dtype=torch.float64)
    return [{"x": x, "alpha": alpha} for alpha in (1.0, 0.3, 7.0)]


def far_of_each(draw: Draw) -> list[Arguments]:
    """Exponentials overflow, or vanish."""
    far = torch.cat([torch.tensor(FAR), draw.normal(12).abs()])
    made = [torch.cat([far, -far]), far, -far]
    return [{"function": name, "x": x.double()} for name in FUNCTIONS for x in made]


def of_each(draw: Draw) -> list[Arguments]:
    """For a scenario that is asked of one function after the other."""
    return [{"function": name} | {side: draw.normal(*draw.shape(2)) for side in "ab"} for name in FUNCTIONS]


def one_of_them(sigmoid, tanh, relu, leaky_relu, elu, function, x):
    return {"sigmoid": sigmoid, "tanh": tanh, "relu": relu, "leaky_relu": leaky_relu, "elu": elu}[function](x)


def shares_nothing(sigmoid, tanh, relu, leaky_relu, elu, function, a, b):
    f = {"sigmoid": sigmoid, "tanh": tanh, "relu": relu, "leaky_relu": leaky_relu, "elu": elu}[function]
    positive = b.detach().abs() + 1
    own = f(positive).data_ptr() != positive.data_ptr()
    return {"a + f(a)": a + f(a), "sum": f(b).sum(), "transposed": f(b).mT, "f(positive) has memory of its own": own}


def several_calls(sigmoid, tanh, relu, leaky_relu, elu, function, a, b):
    f = {"sigmoid": sigmoid, "tanh": tanh, "relu": relu, "leaky_relu": leaky_relu, "elu": elu}[function]
    number = {"leaky_relu": (0.5,), "elu": (3.0,)}.get(function, ())
    return {"f(a)": f(a), "f(b)": f(b, *number), "f(f(a))": f(f(a))}


def by_classes(Sigmoid, Tanh, ReLU, LeakyReLU, ELU, x):
    kinds = [issubclass(one, torch.autograd.Function) for one in (Sigmoid, Tanh, ReLU, LeakyReLU, ELU)]
    return kinds, [Sigmoid.apply(x), Tanh.apply(x), ReLU.apply(x), LeakyReLU.apply(x, 0.3), ELU.apply(x, 2.5)]


def with_forward_replaced(Sigmoid, Tanh, ReLU, LeakyReLU, ELU, sigmoid, tanh, relu, leaky_relu, elu, x):
    """The forwards give 3 x, 4 x, ... for a while."""

    def giving(times):
        return staticmethod(lambda *given: times * next(each for each in given if isinstance(each, torch.Tensor)))

    own = {one: one.forward for one in (Sigmoid, Tanh, ReLU, LeakyReLU, ELU)}
    try:
        for times, one in enumerate(own, start=3):
            one.forward = giving(times)
        return [f(x) for f in (sigmoid, tanh, relu, leaky_relu, elu)]
    finally:
        for one, forward in own.items():
            one.forward = staticmethod(forward)


def answer(signature: str, oracle: Any, *more: Case) -> Answer:
    name = signature.partition("(")[0]
    budget = Budget(
        f"{name}_of_many",
        sizes={"entries": (512, 2048)},
        inputs=lambda draw, entries: {"x": draw.normal(entries)},
        hints={"entries": "the slope of an entry is a number, so multiply entry by entry"},
    )
    differentiable = ("x", "a", "b") if any(case.scenario for case in more) else ("x",)
    cases = (Case(f"{name}_everywhere", everywhere), *more)
    return Answer(
        signature, oracle=oracle, differentiable=differentiable, cases=cases, tolerance=IN_HALF, budgets=(budget,)
    )


def in_float64(name: str, inputs: Inputs, **options: Any) -> Case:
    return Case(name, inputs, dtypes=(torch.float64,), **options)


GRADER = Grader(
    answers=(
        *(Answer(f"class {name}", oracle=None) for name in CLASSES),
        answer("sigmoid(x)", torch.sigmoid),
        answer("tanh(x)", torch.tanh),
        answer("relu(x)", torch.relu),
        answer(
            "leaky_relu(x, negative_slope=0.01)",
            lambda x, negative_slope=0.01: F.leaky_relu(x, negative_slope),
            # float32 has no 0.003, half cancels next to 0
            in_float64("negative_slopes", with_each("negative_slope", 0.003, 0.0, 1.0, 3.0), half=True),
        ),
        answer(
            "elu(x, alpha=1.0)",
            lambda x, alpha=1.0: F.elu(x, alpha),
            in_float64("alphas", with_each("alpha", 2.5, 0.1, 10.0), half=True),
            in_float64("elu_near_zero", near_zero, tolerance={torch.float64: Tolerance(1e-9, 0, 0)}, core=False),
            Case(
                "far_from_0",
                far_of_each,
                scenario=one_of_them,
                category="robustness",
                dtypes=(torch.float32,),
                half=True,
            ),
            # of all five: beside the last one, so that what one of them does wrong is said of that one first
            in_float64("several_calls", of_each, scenario=several_calls),
            in_float64("shares_nothing", of_each, scenario=shares_nothing),
        ),
    ),
    banned=(
        "sigmoid", "expit", "log_sigmoid", "tanh", "relu", "leaky_relu", "elu", "prelu", "rrelu",
        "threshold", "celu", "selu", "silu", "mish", "glu", "autograd",
    ),
)  # fmt: skip


def test_classes_give_what_functions_give(submission: Submission, draw: Draw) -> None:
    x = draw.normal(4, 5, std=2.0)
    kinds, results = submission.run(by_classes, x=x, like=([True] * 5, [x] * 5))
    numbers: list[dict[str, float]] = [{}, {}, {}, {"negative_slope": 0.3}, {"alpha": 2.5}]
    for name, kind, function, number, got in zip(CLASSES, kinds, FUNCTIONS, numbers, results, strict=True):
        assert kind, f"{name}: should be a subclass of torch.autograd.Function, got another class"
        wanted = submission.call(function, x=x, **number)
        close(f"values of {name}.apply, compared with {function}", got, wanted, TOLERANCES[torch.float64])


def test_functions_apply_the_classes(submission: Submission, draw: Draw) -> None:
    x = draw.normal(4, 5)
    found = zip(CLASSES, FUNCTIONS, submission.run(with_forward_replaced, x=x, like=[x] * 5), strict=True)
    for times, (name, function, got) in enumerate(found, start=3):
        subject = f"values of {function} while {name}.forward gives {times} x"
        close(subject, got, times * x, TOLERANCES[torch.float64])
