"""What is checked of box_iou and nms."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from graders.kata import HALF, Answer, Arguments, Budget, Case, Draw, Grader

CLEAR = 1e-3  # no IoU is nearer to the threshold, unless it is equal
ONE_CLASS = torch.tensor([0])
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def with_one(box: Tensor, boxes: Tensor) -> Tensor:
    """The IoU of (4,) with each of (M, 4), or of each of (N, 1, 4)."""
    x1, y1, x2, y2 = boxes.unbind(-1)
    left, top, right, bottom = box.unbind(-1)
    width = (torch.minimum(right, x2) - torch.maximum(left, x1)).relu()
    height = (torch.minimum(bottom, y2) - torch.maximum(top, y1)).relu()
    shared = width * height
    union = (right - left) * (bottom - top) + (x2 - x1) * (y2 - y1) - shared
    return torch.where(union > 0, shared / union, 0.0)


def iou(a: Tensor, b: Tensor) -> Tensor:
    """One box of a after the other."""
    return torch.stack([with_one(box, b) for box in a]) if len(a) else a.new_zeros(0, len(b))


def greedy(boxes: Tensor, scores: Tensor, iou_threshold: float, classes: Tensor | None = None) -> Tensor:
    """By definition: a box is kept if no box that was kept before it, of its class, overlaps it too much."""
    table = with_one(boxes[:, None], boxes).tolist()
    kinds = [0] * len(boxes) if classes is None else classes.tolist()
    kept: list[int] = []
    for i in sorted(range(len(boxes)), key=scores.tolist().__getitem__, reverse=True):  # leaves equal ones in order
        if all(table[k][i] <= iou_threshold for k in kept if kinds[k] == kinds[i]):
            kept.append(i)
    return torch.tensor(kept, dtype=torch.int64)


# Inputs of box_iou


def placed(draw: Draw, N: int, least: float = 40, most: float = 120, within: float = 200, start: float = 0) -> Tensor:
    """(N, 4): boxes with sides from least to most, whose first corners lie in a square.

    By default no union is so small that an eps of 1e-6 shows: that is no matter of the core.
    """
    corner = draw.uniform(N, 2, low=start, high=start + within)
    return torch.cat([corner, corner + draw.uniform(N, 2, low=least, high=most)], 1)


def two_sets(draw: Draw, N: int, M: int, **more: float) -> Arguments:
    return {"a": placed(draw, N, **more), "b": placed(draw, M, **more)}


def apart(draw: Draw) -> Arguments:
    """No side lies on another box's, in half precision either: there minimum, maximum and clamp have a kink."""
    while True:
        made = two_sets(draw, 5, 7)
        for dtype in HALF:
            a, b = (one.to(dtype).unflatten(1, (2, 2)) for one in made.values())
            if (a[:, None, :, None] == b[:, None]).any():
                break
        else:
            return made


def beside_and_inside(draw: Draw) -> list[Arguments]:
    """Disjoint along one axis or both, in all eight directions; then boxes inside others."""
    a = placed(draw, 3, within=30)
    steps = torch.tensor([[x, y] for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0) if x or y]).double()
    around = torch.cat([shifted(placed(draw, 1, within=30), 160 * step + draw.normal(2)) for step in steps])
    margins = draw.uniform(3, 4, low=2, high=9) * torch.tensor([1, 1, -1, -1])
    return [{"a": a, "b": around}, {"a": around, "b": a}, {"a": a, "b": a + margins}, {"a": a + margins, "b": a}]


def shifted(boxes: Tensor, by: Tensor) -> Tensor:
    return boxes + torch.cat([by, by], -1)


def on_a_grid(draw: Draw, N: int, start: int = 0, within: int = 12, most: int = 12) -> Tensor:
    corner = draw.integers(N, 2, low=start, high=start + within)
    return torch.cat([corner, corner + draw.integers(N, 2, low=1, high=most + 1)], 1).double()


def touching(draw: Draw) -> list[Arguments]:
    """Equal boxes, and boxes with a side or a corner in common; whole numbers, so that nothing is rounded."""
    a = 32 * on_a_grid(draw, 5, start=-6)
    width, height = (a[:, 2:] - a[:, :2]).unbind(1)
    none = torch.zeros_like(width)
    beside = [shifted(a, torch.stack(by, 1)) for by in ((width, none), (none, -height), (-width, height))]
    return [{"a": a, "b": a.clone()}, {"a": a, "b": torch.cat(beside)}]


def without_area(draw: Draw) -> list[Arguments]:
    """Points and lines, which meet themselves, each other, and boxes with an area."""
    full = on_a_grid(draw, 4)
    point = full[:, [0, 1, 0, 1]]
    line, column = full[:, [0, 1, 0, 3]], full[:, [0, 1, 2, 1]]
    inside = (full[:, :2] + full[:, 2:]).repeat(1, 2) / 2
    empty = torch.cat([point, line, column, inside, torch.zeros(1, 4)])
    return [{"a": empty, "b": empty.clone()}, {"a": full, "b": empty}, {"a": empty, "b": full}]


def no_boxes(draw: Draw) -> list[Arguments]:
    return [two_sets(draw, N, M) for N, M in ((0, 3), (3, 0), (0, 0), (1, 1))]


def small(draw: Draw) -> list[Arguments]:
    """So small that anything added to an area shows."""
    return [two_sets(draw, 4, 5, least=side, most=3 * side, within=2 * side) for side in (1e-2, 1e-4, 1e-6)]


def not_of_four(*names: str, **more: Any) -> Callable[[Draw], list[Arguments]]:
    """As many numbers in one row, another number of columns, boxes in columns, and a batch of boxes."""
    shapes = ((4,), (6, 5), (6, 3), (4, 6), (2, 3, 4), (6, 1))

    def inputs(draw: Draw) -> list[Arguments]:
        right = {name: placed(draw, 6) for name in names}
        return [right | {name: draw.uniform(*shape), **more} for name in names for shape in shapes]

    return inputs


# Inputs of nms


def falling(draw: Draw, N: int) -> Tensor:
    """Distinct scores, negative ones also, exact in half precision."""
    return (draw.permutation(N) - N // 3).double() / 16


def crowd(draw: Draw, N: int, start: int = 0, classes: int = 0) -> Arguments:
    """Boxes in groups of about five, of whole numbers that half precision holds."""
    centres = draw.integers(math.ceil(N / 5), 2, low=0, high=160)[draw.integers(N, high=math.ceil(N / 5))]
    corner = start + centres + draw.integers(N, 2, high=12)
    boxes = torch.cat([corner, corner + draw.integers(N, 2, low=24, high=64)], 1).double()
    made = {"boxes": boxes, "scores": falling(draw, N), "iou_threshold": draw.number(0.3, 0.6)}
    return made | ({"classes": draw.integers(N, high=classes)} if classes else {})


def clear(made: Arguments) -> bool:
    """No rounding decides, boxes that are suppressed would suppress others, and classes matter if there are any."""
    order = made["scores"].argsort(descending=True, stable=True)
    ranked = made["boxes"][order]
    table = with_one(ranked[:, None], ranked)
    if not ((table - made["iou_threshold"]).abs() > CLEAR).all():
        return False
    over = (table > made["iou_threshold"]).triu(1)
    kept = greedy(**made)
    if "classes" in made:
        over &= made["classes"][order, None] == made["classes"][order]
        if torch.equal(kept, greedy(**made | {"classes": None})):
            return False
    return bool((~over.any(0)).sum() < len(kept) < len(order))


def searched(draw: Draw, make: Callable[[Draw], Arguments]) -> Arguments:
    for _ in range(2000):
        if clear(made := make(draw)):
            return made
    raise RuntimeError("no such boxes in 2000 draws")


def crowds(draw: Draw, *numbers: int, **more: int) -> list[Arguments]:
    return [searched(draw, partial(crowd, N=N, **more)) for N in numbers]


def chains(draw: Draw) -> list[Arguments]:
    """In a row of boxes each overlaps the next one; every second is kept, and where two are covered every third."""
    made = []
    for N, step, along in ((3, 3, 0), (4, 3, 1), (5, 3, 0), (9, 3, 1), (7, 2, 0), (10, 2, 1)):
        side = draw.size(10, 14)  # one step of 3 leaves an IoU of at least 0.53, two at most 0.4
        corner = torch.zeros(N, 2).double()
        corner[:, along] = step * torch.arange(N)
        boxes = torch.cat([corner, corner + side], 1)[(order := draw.permutation(N))]
        threshold = 0.45 if step == 3 else round((side - 5) / (side + 5), 3)
        made.append({"boxes": boxes, "scores": -order.double(), "iou_threshold": threshold})
    return made


def on_the_threshold(draw: Draw) -> list[Arguments]:
    """IoUs of exactly ½, ¼ and ¾ (and more of other numbers), at thresholds that equal them."""
    made = []
    for cut, of, threshold in ((3, 6, 0.5), (4, 8, 0.5), (2, 8, 0.25), (6, 8, 0.75), (9, 12, 0.75)):
        box = on_a_grid(draw, 1, start=-20)[0]
        parts = box.repeat(4, 1) * of
        sides = parts[0, 2:] - parts[0, :2]
        parts[1, 2] = parts[0, 0] + sides[0] * cut / of  # the left part of the first
        parts[2, 1] = parts[0, 3] - sides[1] * (cut + 0.25) / of  # the lower part, and a little more
        parts[3] = shifted(parts[0], torch.stack([4 * sides[0], -3 * sides[1]]))  # far away
        made.append({"boxes": parts, "scores": -torch.arange(4).double(), "iou_threshold": threshold})
    return made


def zero_and_one(draw: Draw) -> list[Arguments]:
    """At 0 what only touches is kept; at 1 everything is, even equal boxes. As whole numbers also."""
    boxes = on_a_grid(draw, 14)
    boxes = torch.cat([boxes, boxes[:5], boxes[:, [2, 1, 2, 3]] + torch.tensor([0, 0, 5, 0])])
    made = {"boxes": boxes, "scores": falling(draw, len(boxes))}
    return [made | {"iou_threshold": threshold} for threshold in (0.0, 1.0, 0, 1)]


def of_classes(draw: Draw) -> list[Arguments]:
    """Crowds of two to four classes; and equal boxes, one of each class."""
    made = [crowds(draw, draw.size(20, 40), classes=C)[0] for C in (2, 3, 4)]
    N = draw.size(8, 14)
    alike = {"boxes": on_a_grid(draw, 1).repeat(N, 1), "scores": falling(draw, N), "iou_threshold": 0.5}
    alike["classes"] = draw.permutation(N) % 5
    return [*made, alike]


def class_ids(draw: Draw) -> list[Arguments]:
    """In every integer dtype, negative or far apart, and as large as 32 bits allow: float32 sees equal ones."""
    made = []
    for dtype in INTEGERS:
        least, most = (getattr(torch.iinfo(dtype), end) for end in ("min", "max"))
        ids = torch.tensor([min(most, 2**31 - 1), max(least, -(2**31)), min(most, 2**31 - 1) - 1, 3]).to(dtype)
        crowded = crowds(draw, 30, classes=4)[0]
        made.append(crowded | {"classes": ids[crowded["classes"]]})
    return made


def below_zero(draw: Draw) -> list[Arguments]:
    """Of which the largest coordinate is −1, so that 1 more is 0; all below 0; and around 0."""
    made = []
    for start in (None, -270, -110):
        crowded = crowds(draw, 30, classes=3)[0]
        boxes = crowded["boxes"]
        made.append(crowded | {"boxes": boxes - (boxes.max() + 1 if start is None else -start)})
    return made


def far_apart(draw: Draw) -> list[Arguments]:
    """So far that a constant number of pixels for each class brings other classes' boxes onto each other."""
    made = []
    for pixels in (1_000, 4_096, 7_680, 10_000):
        boxes, classes = on_a_grid(draw, 6).repeat(3, 1), torch.arange(18) // 6
        boxes = boxes - pixels * classes[:, None]
        made.append({"boxes": boxes, "scores": falling(draw, 18), "iou_threshold": 0.9, "classes": classes})
    return made


def equal_scores(draw: Draw) -> list[Arguments]:
    """Two, three or one distinct scores of many boxes."""
    made = []
    for N, levels, classes in ((24, 2, 0), (40, 3, 0), (64, 2, 3), (100, 3, 0), (30, 1, 0)):

        def leveled(draw: Draw, N: int = N, levels: int = levels, classes: int = classes) -> Arguments:
            crowded = crowd(draw, N, classes=classes)
            return crowded | {"scores": draw.integers(N, high=levels).double() / 4}

        made.append(searched(draw, leveled))
    return made


def few_boxes(draw: Draw) -> list[Arguments]:
    none = {"boxes": torch.zeros(0, 4).double(), "scores": torch.zeros(0).double(), "iou_threshold": 0.5}
    one = {"boxes": on_a_grid(draw, 1), "scores": falling(draw, 1), "iou_threshold": 0.5}
    return [none, none | {"classes": ONE_CLASS[:0]}, one, one | {"classes": ONE_CLASS}]


def repeated_empty(draw: Draw) -> list[Arguments]:
    """Equal points and lines have a union of 0, so they all stay."""
    full = on_a_grid(draw, 6)
    empty = torch.cat([full[:2, [0, 1, 0, 1]], full[2:4, [0, 1, 0, 3]], full[4:, [0, 1, 2, 1]]]).repeat(3, 1)
    made = {"boxes": torch.cat([empty, full]), "scores": falling(draw, 24)}
    return [made | {"iou_threshold": threshold} for threshold in (0.0, 0.4)]


def large(draw: Draw) -> list[Arguments]:
    """Areas that float16 cannot hold."""
    made = crowds(draw, 20, 30)
    return [crowded | {"boxes": crowded["boxes"] * 16} for crowded in made]


def near_the_threshold(draw: Draw) -> list[Arguments]:
    """Pairs with an IoU of 0.5 ± 0.0015, which bfloat16 rounds to 0.5: the one is suppressed, the other is not."""
    sides = torch.arange(180, 250)[:, None].double()
    shifts = torch.arange(55, 90).double()
    table = (sides - shifts) / (sides + shifts) - 0.5
    made = []
    for off in (table, -table):
        found = ((off > 0.0012) & (off < 0.0018)).nonzero()
        for n in draw.permutation(len(found))[:4]:
            side, shift = sides[found[n, 0], 0], shifts[found[n, 1]]
            left, zero = torch.stack([-128 + 0 * shift, shift - 128]), torch.zeros(2)
            boxes = torch.stack([left, zero, left + side, zero + 64], 1)
            made.append({"boxes": boxes, "scores": torch.tensor([2.0, 1.0]).double(), "iou_threshold": 0.5})
    return made


def lengths_differ(draw: Draw) -> list[Arguments]:
    made = crowd(draw, 6, classes=2)
    scores, classes = made["scores"], made["classes"]
    bare = {name: made[name] for name in ("boxes", "scores", "iou_threshold")}
    wrong = [{"scores": one} for one in (scores[:5], scores[:1], scores[:, None], scores[None], scores[:0])]
    kinds = [{"classes": one} for one in (classes[:5], classes[:1], classes[:, None], classes[None], classes[:0])]
    return [*(bare | one for one in wrong), *(bare | one for one in kinds), *(made | one for one in wrong[:2])]


def thresholds_refused(draw: Draw) -> list[Arguments]:
    return [crowd(draw, 6) | {"iou_threshold": number} for number in (-0.1, 1.1, 50, -1, 1.0001)]


def many_pairs(draw: Draw, overlaps: int) -> Arguments:
    """Groups of 41 boxes around a place, which all overlap each other: 820 pairs a group, of few different IoUs."""
    groups = overlaps // 820
    places = 200 * torch.stack([torch.arange(groups) // 6, torch.arange(groups) % 6], 1)
    corner = places.repeat(41, 1)[draw.permutation(41 * groups)] + 5 * draw.integers(41 * groups, 2, high=10)
    boxes = torch.cat([corner, corner + 64], 1).double()
    return {"boxes": boxes, "scores": draw.permutation(41 * groups).double(), "iou_threshold": 0.5}


robust = partial(Case, category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "box_iou(a, b)",
            oracle=iou,
            differentiable=("a", "b"),
            cases=(
                Case("five_with_seven", apart),
                Case(
                    "any_number",
                    lambda draw, N, M: [two_sets(draw, N, M, start=start) for start in (-150, -500)],
                    sizes={"N": (2, 12), "M": (2, 12)},
                ),
                Case("beside_and_inside", beside_and_inside),
                Case("touching", touching, gradients="finite"),
                Case("no_boxes", no_boxes, gradients="none", core=False),
                robust("small_boxes", small),
                robust("without_area", without_area, gradients="finite"),
                robust(
                    "large_areas",
                    lambda draw: two_sets(draw, 6, 7, least=300, most=1500, within=1500),
                    dtypes=(torch.float16,),
                    gradients="finite",
                ),
                Case("not_of_four", not_of_four("a", "b"), raises=ValueError),
            ),
            budgets=(
                Budget(
                    "many_with_many",
                    sizes={"boxes": (32, 192), "others": (32, 192)},
                    inputs=lambda draw, boxes, others: two_sets(draw, boxes, others, within=600),
                    hints=dict.fromkeys(("boxes", "others"), "broadcast (N, 1, 4) against (1, M, 4)"),
                ),
            ),
        ),
        Answer(
            "nms(boxes, scores, iou_threshold, classes=None)",
            oracle=greedy,
            cases=(
                Case("thirty_boxes", lambda draw: crowds(draw, 30)),
                Case("drawn_number", lambda draw, N: crowds(draw, N), sizes={"N": (14, 50)}),
                Case("chains", chains),
                Case("on_the_threshold", on_the_threshold),
                Case("of_classes", of_classes),
                Case("zero_and_one", zero_and_one, core=False),
                Case("few_boxes", few_boxes, core=False),
                robust("class_ids", class_ids),
                robust("below_zero", below_zero),
                robust("far_apart", far_apart),
                robust("equal_scores", equal_scores),
                robust("repeated_empty", repeated_empty),
                robust("large_boxes", large, dtypes=(torch.float16,)),
                robust("near_the_threshold", near_the_threshold, dtypes=(torch.bfloat16,)),
                Case(
                    "boxes_not_of_four",
                    not_of_four("boxes", scores=torch.arange(6).double(), iou_threshold=0.5),
                    raises=ValueError,
                ),
                Case("lengths_differ", lengths_differ, raises=ValueError),
                Case("thresholds_refused", thresholds_refused, raises=ValueError),
            ),
            budgets=(
                Budget(
                    "many_boxes",
                    sizes={"overlaps": (3 * 820, 15 * 820)},
                    inputs=many_pairs,
                    operators=20,  # a loop over boxes is welcome, the IoU of each with all others inside it
                    hints={"overlaps": "loop over boxes alone, and take all others at once"},
                ),
            ),
        ),
    ),
)
