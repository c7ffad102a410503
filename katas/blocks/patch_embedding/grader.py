"""What is checked of PatchEmbedding."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Submission, Tolerance, bans, close, last_places

Side = int | tuple[int, int]

# Images that are not 6 × 9: as many pixels, as many patches of 3 × 3, one side right, multiples of both sides.
OTHER_SIZES = (
    *((9, 6), (18, 3), (3, 18), (2, 27), (54, 1), (1, 54), (6, 6), (3, 9), (6, 12), (9, 9), (7, 9), (6, 10)),
    *((5, 9), (6, 8), (8, 11), (12, 18), (6, 18), (12, 9)),
)
SIZES = {"B": (2, 5), "P": (2, 5), "rows": (2, 7), "columns": (2, 7), "C": (2, 6), "D": (3, 16)}
OTHER_CHANNELS = (1, 2, 4, 6, 27)


def embedded(
    own: dict[str, Tensor], image_size: Side, patch_size: int, in_channels: int, embed_dim: int, x: Tensor
) -> Tensor:
    kernels = own["proj.weight"].reshape(embed_dim, in_channels, patch_size, patch_size)
    grid = F.conv2d(x, kernels, own["proj.bias"], stride=patch_size)  # (B, D, H/P, W/P)
    tokens = torch.cat([own["cls_token"].expand(len(x), 1, embed_dim), grid.flatten(2).mT], dim=1)
    return tokens + own["pos_embed"]


def patches_of(image_size: Side, patch_size: int) -> int:
    height, width = (image_size, image_size) if isinstance(image_size, int) else image_size
    return height // patch_size * (width // patch_size)


def parameters(image_size: Side, patch_size: int, in_channels: int, embed_dim: int) -> dict[str, tuple[int, ...]]:
    return {
        "proj.weight": (embed_dim, in_channels * patch_size**2),
        "proj.bias": (embed_dim,),
        "cls_token": (1, 1, embed_dim),
        "pos_embed": (1, patches_of(image_size, patch_size) + 1, embed_dim),
    }


def made(image_size: Side, patch_size: int, in_channels: int = 3, embed_dim: int = 5) -> dict[str, Any]:
    names = ("image_size", "patch_size", "in_channels", "embed_dim")
    return dict(zip(names, (image_size, patch_size, in_channels, embed_dim), strict=True))


def case(name: str, *batches: int, **more: Any) -> Case:
    """Of so many images in each call; the rest makes the module."""
    init = made(**more)
    size = init["image_size"]
    sides = (size, size) if isinstance(size, int) else size
    return Case(name, lambda draw: [{"x": draw.normal(B, init["in_channels"], *sides)} for B in batches], init=init)


def of_any_size(P: int, rows: int, columns: int, C: int, D: int, **others: int) -> dict[str, Any]:
    return made((rows * P, columns * P), P, C, D)


def any_size(draw: Draw, B: int, P: int, rows: int, columns: int, C: int, D: int) -> Arguments:
    return {"x": draw.normal(B, C, rows * P, columns * P)}


def others(draw: Draw) -> list[Arguments]:
    return [{"x": draw.normal(2, 3, *size)} for size in OTHER_SIZES]


def other_channels(draw: Draw) -> list[Arguments]:
    return [{"x": draw.normal(2, C, 6, 9)} for C in OTHER_CHANNELS]


def many(draw: Draw, batch: int, rows: int, columns: int) -> Arguments:
    return {"x": draw.normal(batch, 12, 2 * rows, 2 * columns)}


GRADER = Grader(
    answers=(
        Answer(
            "PatchEmbedding(image_size, patch_size, in_channels, embed_dim)",
            forward="forward(x)",
            oracle=embedded,
            parameters=parameters,
            differentiable=("x",),
            tolerance=last_places(8),  # a token is a sum of 27 products, a bias and a position
            cases=(
                case("six_by_nine", 2, 4, image_size=(6, 9), patch_size=3),
                case("on_its_side", 3, image_size=(9, 6), patch_size=3),
                case("one_number_for_both_sides", 2, image_size=8, patch_size=2, in_channels=2, embed_dim=7),
                Case(
                    "any_size",
                    any_size,
                    init=of_any_size,
                    sizes=SIZES,
                ),
                case("one_patch", 1, 3, image_size=4, patch_size=4, in_channels=2, embed_dim=3),
                case("patches_of_one_pixel", 2, image_size=(3, 4), patch_size=1),
                case("one_column_of_patches", 2, image_size=(12, 4), patch_size=4, in_channels=1, embed_dim=6),
                case("sizes_of_one", 3, 1, image_size=1, patch_size=1, in_channels=1, embed_dim=1),
                Case("images_of_another_size", others, init=made((6, 9), 3), raises=ValueError),
                Case("other_channels", other_channels, init=made((6, 9), 3), raises=ValueError),
                *(
                    Case(f"{what}_not_divided", None, init=made(size, P), raises=ValueError)
                    for what, size, P in (
                        ("height", (7, 9), 3),
                        ("width", (6, 10), 3),
                        ("area_alone", (4, 9), 6),
                        ("square", 10, 4),
                        ("large_patch", (4, 6), 12),
                    )
                ),
            ),
            budgets=(
                Budget(
                    "many_patches",
                    sizes={"batch": (4, 16), "rows": (4, 16), "columns": (4, 16)},
                    inputs=many,
                    init=lambda rows, columns, **others: made((2 * rows, 2 * columns), 2, 12, 32),
                    hints={
                        "batch": "a linear layer takes all axes in front at once",
                        "rows": "reshape and permute cut all patches at once",
                        "columns": "reshape and permute cut all patches at once",
                    },
                ),
            ),
        ),
    ),
    banned=bans.CONVOLUTIONS,
)


def numbers(PatchEmbedding, heights, widths, sides):
    """Of patches; a square image is made from one number."""
    sizes = [(H, W) if H != W else H for H, W in zip(heights, widths, strict=True)]
    return [int(PatchEmbedding(size, P, 2, 3).num_patches) for size, P in zip(sizes, sides, strict=True)]


def test_number_of_patches(submission: Submission, draw: Draw) -> None:
    grids = [(2, 3, 3), (3, 2, 3), (1, 1, 4), (1, 5, 2), (4, 1, 1), (2, 2, 3)]
    grids += [(draw.size(2, 9), draw.size(10, 20), draw.size(2, 5)), (*[draw.size(3, 9)] * 2, draw.size(2, 5))]
    heights, widths, sides = [rows * P for rows, _, P in grids], [n * P for _, n, P in grids], [P for *_, P in grids]
    wanted = [rows * columns for rows, columns, _ in grids]
    got = submission.run(numbers, heights=heights, widths=widths, sides=sides, like=wanted)
    assert len(got) == len(wanted), (
        f"num_patches: should be one number for each of {len(wanted)} modules, got {len(got)}"
    )
    for H, W, P, right, one in zip(heights, widths, sides, wanted, got, strict=True):
        size = (H, W) if H != W else H
        assert one == right, f"num_patches of image_size {size} and patch_size {P}: should be {right}, got {one}"


def loaded(PatchEmbedding, x, **own):
    """By a layer that was called before, and by a new one from its state."""
    one, other = (PatchEmbedding((4, 6), 2, 2, 3).to(x).eval() for _ in range(2))
    with torch.no_grad():
        one(x)
        one.load_state_dict(own, strict=False)
        first = one(x)
        other.load_state_dict(one.state_dict())
        for parameter in one.parameters():
            parameter.zero_()
        return [first, other(x), one(x)]


@pytest.mark.robustness
def test_loaded_parameters(submission: Submission, draw: Draw) -> None:
    made_as = made((4, 6), 2, 2, 3)
    own = {name: draw.normal(*shape) for name, shape in parameters(**made_as).items()}
    x = draw.normal(2, 2, 4, 6)
    right = embedded(own, **made_as, x=x)
    wanted = [right, right, torch.zeros_like(right)]
    words = ("once a state is loaded", "of a new module with this state", "once all parameters are 0")
    for what, one, other in zip(words, submission.run(loaded, like=wanted, x=x, **own), wanted, strict=True):
        close(f"the result {what}", one, other, Tolerance(1e-9, 1e-11, 1e-12))
