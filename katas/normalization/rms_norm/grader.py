"""What is checked of rms_norm and rms_norm_backward."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import HALF, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, bans, normalized


def forward(x: Tensor, weight: Tensor | None = None, eps: float = 1e-6) -> Tensor:
    return F.rms_norm(x, x.shape[-1:], weight, eps)


def backward(
    grad_output: Tensor, x: Tensor, weight: Tensor | None = None, eps: float = 1e-6
) -> tuple[Tensor, Tensor | None]:
    given = [tensor.detach().requires_grad_() for tensor in (x, weight) if tensor is not None]
    found = torch.autograd.grad((forward(*given, eps=eps) * grad_output).sum(), given)
    return found[0], None if weight is None else found[1]


def sizes(text: str) -> tuple[int, ...]:
    """ "4x5" is (4, 5), "()" is ()."""
    return tuple(int(size) for size in text.strip("()").split("x") if size)


def called(draw: Draw, text: str, back: bool = False, std: float = 2, mean: float = 1, **more: Any) -> Arguments:
    """ "3x4x5 5": the shapes of x, of weight where there is one, and of grad_output where it is not that of x."""
    x, weight, grad_output = (*text.split(), "-", "-")[:3]
    made: Arguments = {"grad_output": draw.normal(*sizes(x if grad_output == "-" else grad_output))} if back else {}
    made["x"] = draw.normal(*sizes(x), std=std, mean=mean)
    return made | ({} if weight == "-" else {"weight": draw.normal(*sizes(weight))}) | more


def calls(*texts: str, **more: Any) -> Inputs:
    return lambda draw: [called(draw, text, **more) for text in texts]


def every_number_of_axes(draw: Draw, **more: Any) -> list[Arguments]:
    """The last has five to seven."""
    texts = ("5", "5 5", "7x7 7", "2x3x5 5", "4x4x4 4", "2x3x2x4 4", "2x1x2x3x2x3 3")
    deep = "x".join(str(draw.size(1, 4)) for _ in range(draw.size(4, 6)))
    return [called(draw, text, **more) for text in (*texts, f"{deep}x6 6")]


def other_eps(draw: Draw, N: int, M: int, D: int, **more: Any) -> list[Arguments]:
    texts = (f"{N}x{D} {D}", f"{M}x{N}x{D}")
    return [called(draw, text, eps=draw.number(0.2, 0.9), **more) for text in texts]


def zero_rows(draw: Draw, **more: Any) -> list[Arguments]:
    """The last with the weights that a new model has."""
    made = [called(draw, text, **more) for text in ("4x5 5", "2x3x5")] + [called(draw, "3x5 5", eps=0.04, **more)]
    for one in made:
        one["x"][0] = 0
    made[2]["weight"][:] = 1
    return made


def weighted(draw: Draw, **more: Any) -> list[Arguments]:
    """The second with weights of 0 alone."""
    made = [called(draw, text, **more) for text in ("5x7 7", "4x5 5")]
    made[1]["weight"][:] = 0
    return made


def weights_of_zero(draw: Draw) -> list[Arguments]:
    made = [called(draw, text, back=True) for text in ("4x5 5", "2x3x5 5")]
    made[0]["weight"][1], made[1]["weight"][:] = 0, 0
    return made


def tiny_eps(draw: Draw, **more: Any) -> list[Arguments]:
    """The mean square is about eps, so that each other eps shows."""
    made = [called(draw, "4x5 5", std=3e-5, mean=0, eps=1e-9, **more), called(draw, "4x5 5", std=1e-3, mean=0, **more)]
    return [*made, called(draw, "2x3x5", std=3e-5, mean=0, eps=1e-9, **more)]


def beyond_half(draw: Draw, **more: Any) -> list[Arguments]:
    """Squares of the first overflow float16, and those of the second vanish in it."""
    return [called(draw, "3x8 8", std=1e3, mean=0, **more), called(draw, "3x8", std=2e-4, mean=0, eps=1e-9, **more)]


def cases(kind: Callable[[str], str], back: bool) -> tuple[Case, ...]:
    """What is tested alike of the function and of its backward pass."""

    def ask(name: str, inputs: Callable[..., Any], **more: Any) -> Case:
        return Case(kind(name), partial(inputs, back=back), **more)

    def given(name: str, *texts: str, eps: float | None = None, **more: Any) -> Case:
        return Case(kind(name), calls(*texts, back=back, **({} if eps is None else {"eps": eps})), **more)

    return (
        given("three_by_four_by_six", "3x4x6"),
        ask("weighted", weighted, half=True),
        ask("every_number_of_axes", every_number_of_axes),
        ask("other_eps", other_eps, sizes={"N": (2, 7), "M": (2, 7), "D": (3, 12)}),
        given("sizes_of_one", "3x1", "3x1 1", "1 1", "1x5 5", "1x1x4 4", eps=0.5),
        given("empty_batch", "0x5", "0x5 5", "2x0x5 5", core=False),
        ask("tiny_eps", tiny_eps, category="robustness"),
        ask("zero_rows", zero_rows, category="robustness"),
        ask("beyond_half", beyond_half, category="robustness", dtypes=HALF),
        given("other_weight", *(f"3x4x5 {shape}" for shape in OTHERS), raises=ValueError),
    )


def budget(name: str, shape: str, hint: str, back: bool, **sizes: tuple[int, int]) -> Budget:
    def inputs(draw: Draw, rows: int, features: int) -> Arguments:
        return called(draw, f"{shape.format(rows)}x{features} {features}", back=back)

    return Budget(name, sizes, inputs, hints={"rows": hint, "features": hint})


def budgets(kind: Callable[[str], str], back: bool) -> tuple[Budget, ...]:
    rows, features = "mean(-1) takes all rows at once", "mean(-1) takes any number of features, each once"
    return (
        budget(kind("many_rows"), "{0}x1", rows, back, rows=(96, 1536), features=(8, 32)),
        budget(kind("many_features"), "1x{0}", features, back, rows=(4, 16), features=(128, 1024)),
    )


OTHERS = ("()", "1", "4", "6", "1x5", "5x1", "4x5", "3x4x5", "1x1x5")  # where (5,) would be right
OTHER_GRADS = ("5", "1x5", "4x5", "1x4x5", "3x1x5", "3x4x1", "4x3x5", "3x20", "60", "1x3x4x5", "2x3x4x5")
GRADER = Grader(
    answers=(
        Answer(
            "rms_norm(x, weight=None, eps=1e-6)",
            oracle=forward,
            differentiable=("x", "weight"),
            tolerance=normalized.ROUNDED,
            cases=cases("{}".format, back=False),
            budgets=budgets("{}".format, back=False),
        ),
        Answer(
            "rms_norm_backward(grad_output, x, weight=None, eps=1e-6)",
            oracle=backward,
            tolerance=normalized.ROUNDED,
            cases=(
                *cases("{}_backward".format, back=True),
                Case("weights_of_zero", weights_of_zero),
                Case(
                    "other_grad_output",
                    calls(*(f"3x4x5 {w} {shape}" for shape in OTHER_GRADS for w in ("-", "5")), back=True),
                    raises=ValueError,
                ),
            ),
            budgets=budgets("{}_backward".format, back=True),
        ),
    ),
    banned=("autograd", *bans.NORMS),
)
