"""What is checked of silu, gelu and SwiGLUMLP."""

from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, last_places

FAR = torch.tensor([1000.0, -1000, 5000, -5000, 300, -150, 40, -90]).double()
UNKNOWN = ("erf", "exact", "sigmoid", "tan", "Tanh", "tanh ", "tanhh", "None", " none", "")
SHAPES = ((3, 4), (7,), (2, 3, 4), (2, 1, 3, 5), (1,), (1, 1))


def block(own: dict[str, Tensor], embed_dim: int, hidden_dim: int, x: Tensor) -> Tensor:
    gate, up = (torch.einsum("...d,hd->...h", x, own[f"{name}_proj.weight"]) for name in ("gate", "up"))
    return torch.einsum("...h,dh->...d", F.silu(gate) * up, own["down_proj.weight"])


def parameters(embed_dim: int, hidden_dim: int) -> dict[str, tuple[int, ...]]:
    wide = {f"{name}_proj.weight": (hidden_dim, embed_dim) for name in ("gate", "up")}
    return {**wide, "down_proj.weight": (embed_dim, hidden_dim)}


def everywhere(draw: Draw, reach: float = 24, **more: Any) -> list[Arguments]:
    """Of one to four axes, of drawn sizes, and up to ±reach in small steps.

    One alone is positive: half precision loses gelu(−4).
    """
    made = [draw.normal(*shape, std=2.0) for shape in (*SHAPES, (draw.size(2, 9), draw.size(10, 40)))]
    made = [*(x.abs() if x.numel() == 1 else x for x in made), torch.linspace(-reach, reach, 193).double()]
    return [{"x": x, **more} for x in made]


def named_forms(draw: Draw) -> list[Arguments]:
    """Where e^(−2u), in place of tanh(u), does not overflow in float32: that is robustness."""
    return [*everywhere(draw, reach=8, approximate="tanh"), *everywhere(draw, approximate="none")[:1]]


def far(draw: Draw, **more: Any) -> list[Arguments]:
    """Where exp overflows, and where the square of float16 does; with and without small numbers; 0-d and empty."""
    return [{"x": x, **more} for x in (FAR, torch.cat([FAR, draw.normal(6)]), FAR[:2], FAR[0], FAR[:0])]


def unknown(draw: Draw) -> list[Arguments]:
    return [{"x": draw.normal(3), "approximate": word} for word in UNKNOWN]


def far_from_0(name: str, **more: Any) -> Case:
    return Case(f"{name}_far_from_0", partial(far, **more), category="robustness", half=True)


def budget(name: str, **more: Any) -> Budget:
    return Budget(
        f"{name}_of_many",
        sizes={"entries": (512, 8192)},
        inputs=lambda draw, entries: {"x": draw.normal(entries), **more},
        hints={"entries": "torch's operators take all entries at once"},
    )


def sized(embed_dim: int, hidden_dim: int, **other: int) -> dict[str, int]:
    return {"embed_dim": embed_dim, "hidden_dim": hidden_dim}


def mlp(name: str, embed_dim: int, hidden_dim: int, *shapes: tuple[int, ...], std: float = 1.0, **more: Any) -> Case:
    def inputs(draw: Draw) -> list[Arguments]:
        return [{"x": draw.normal(*shape, embed_dim, std=std)} for shape in shapes]

    return Case(name, inputs, init={"embed_dim": embed_dim, "hidden_dim": hidden_dim}, **more)


GRADER = Grader(
    answers=(
        Answer(
            "silu(x)",
            oracle=lambda x: F.silu(x),
            differentiable=("x",),
            cases=(Case("silu_everywhere", everywhere), far_from_0("silu")),
            budgets=(budget("silu"),),
        ),
        Answer(
            'gelu(x, approximate="none")',
            oracle=lambda x, approximate="none": F.gelu(x, approximate=approximate),
            differentiable=("x",),
            tolerance=last_places(6),  # a gradient is a sum of two terms, which may cancel
            cases=(
                Case("gelu_everywhere", everywhere),
                Case("named_forms", named_forms, half=True),
                far_from_0("gelu"),
                far_from_0("tanh_form", approximate="tanh"),
                Case("unknown_form", unknown, raises=ValueError),
            ),
            budgets=(budget("gelu"), budget("tanh_form", approximate="tanh")),
        ),
        Answer(
            "SwiGLUMLP(embed_dim, hidden_dim)",
            forward="forward(x)",
            oracle=block,
            parameters=parameters,
            differentiable=("x",),
            cases=(
                mlp("two_by_three_tokens", 6, 10, (2, 3)),
                mlp("every_number_of_axes", 4, 7, (), (5,), (1, 3), (2, 1, 3)),
                mlp("narrow_inside", 6, 2, (3, 2)),
                mlp("one_channel", 1, 1, (4,), (1, 1)),
                Case(
                    "any_sizes",
                    lambda draw, a, b, c, embed_dim, hidden_dim: {"x": draw.normal(a, b, c, embed_dim)},
                    init=sized,
                    sizes={"a": (2, 3), "b": (2, 4), "c": (2, 9), "embed_dim": (6, 30), "hidden_dim": (3, 60)},
                ),
                mlp("far_gates", 5, 8, (2, 3), std=1000.0, category="robustness"),
            ),
            budgets=(
                Budget(
                    "many_tokens",
                    sizes={"batch": (4, 32), "tokens": (8, 64), "hidden": (8, 64)},
                    inputs=lambda draw, batch, tokens, hidden: {"x": draw.normal(batch, tokens, 8)},
                    init=lambda hidden, **sizes: {"embed_dim": 8, "hidden_dim": hidden},
                    hints=dict.fromkeys(("batch", "tokens", "hidden"), "a linear map takes all axes in front at once"),
                ),
            ),
        ),
    ),
    banned=("silu", "gelu", "glu"),
)
