"""Known wrong answers to box_iou and nms."""

from graders.kata import Mistake

TWO_SETS = "p, q = a.to(dtype)[:, None], b.to(dtype)[None]"
LOW, HIGH = "low = torch.maximum(p[..., :2], q[..., :2])", "high = torch.minimum(p[..., 2:], q[..., 2:])"
OVERLAP = "(high - low).clamp(min=0)"
INTERSECTION = "intersection = width * height"
AREA = "(box[..., 2] - box[..., 0]) * (box[..., 3] - box[..., 1])"
UNION = "union = p_area + q_area - intersection"
QUOTIENT = "intersection / union.masked_fill(union == 0, 1)"
SAFE = f"({QUOTIENT.replace('== 0', '<= 0')}) * (union > 0)"
IOU = f"return ({QUOTIENT}).to(a.dtype)"
WIDE = "dtype = torch.promote_types(a.dtype, torch.float32)"

FOUR = "boxes.ndim != 2 or boxes.shape[1] != 4:\n"
OF_BOTH, OF_BOXES = f"        if {FOUR}", f"\n    if {FOUR}"
LENGTHS = "values is not None and values.shape != boxes.shape[:1]"
BOUNDS = "not 0 <= iou_threshold <= 1"
ORDER = "order = scores.argsort(descending=True, stable=True)"
RANKED = "ranked = ranked.to(torch.promote_types(ranked.dtype, torch.float32))"
OVER = "box_iou(ranked, ranked) > iou_threshold"
SAME, APPLIED = "same = classes[order, None] == classes[order]", "overlaps &= same"
KEPT = "kept = torch.ones_like(order, dtype=torch.bool)"
TURN = "        if kept[i]:\n            kept[i + 1 :] &= ~overlaps[i, i + 1 :]"
RESULT = "return order[kept]"
EXTENT, NUMBERED = "ranked.max() - ranked.min() + 1", "classes.unique(return_inverse=True)[1]"


def converted(parts: str) -> dict[str, str]:
    return {TWO_SETS: f"{TWO_SETS}\n    p, q = ({parts} for box in (p, q))"}


def moved(span: str, ids: str = "classes", boxes: str = "ranked", when: str = " and len(order)") -> dict[str, str]:
    """Each class is moved away from the others, in place of a comparison of classes."""
    far = f"{RANKED}\n    if classes is not None{when}:\n        ranked = {boxes}\n"
    return {RANKED: f"{far}        ranked = ranked + ({ids}[order] * ({span}))[:, None]", APPLIED: "pass"}


def repeated(rounds: int) -> dict[str, str]:
    return {
        KEPT: f"""{KEPT}
    for _ in range({rounds}):
        kept = ~(overlaps.triu(1) & kept[:, None]).any(0)""",
        TURN: "        pass",
    }


MISTAKES = (
    Mistake(
        "one_pixel_more",
        "sides are one pixel longer, as if x2 and y2 were the last pixels inside; coordinates are continuous, so a "
        "side is x2 − x1",
        {OVERLAP: "(high - low + 1).clamp(min=0)", AREA: AREA.replace("0])", "0] + 1)").replace("1])", "1] + 1)")},
        {OVERLAP: "(high - low + 1).clamp(min=0)"},
        {AREA: AREA.replace("0])", "0] + 1)").replace("1])", "1] + 1)")},
    ),
    Mistake(
        "sides_not_clamped",
        "the intersection of disjoint boxes has negative sides, and two of them give a positive area; clamp each side "
        "at 0 before you multiply",
        {OVERLAP: ["(high - low)", "(high - low).abs()"]},
        {OVERLAP: "(high - low)", INTERSECTION: "intersection = (width * height).clamp(min=0)"},
        {OVERLAP: "(high - low)", INTERSECTION: "intersection = (width * height).clamp(min=0)", QUOTIENT: SAFE},
        {OVERLAP: "(high - low)", QUOTIENT: SAFE},
    ),
    Mistake(
        "one_side_clamped",
        "only one side of the intersection is clamped at 0, so the area of disjoint boxes is negative; clamp both",
        {OVERLAP: "(high - low)", INTERSECTION: "intersection = width.clamp(min=0) * height"},
        {OVERLAP: "(high - low)", INTERSECTION: "intersection = width * height.clamp(min=0)"},
    ),
    Mistake(
        "intersection_counted_twice",
        "the union is the sum of both areas, which counts the intersection twice; take it off once",
        {UNION: "union = p_area + q_area + 0 * intersection"},
    ),
    Mistake(
        "other_denominator",
        "the intersection is divided by one box's area, by the smaller or larger of both, or by their mean; divide it "
        "by the area of the union",
        *({UNION: f"union = {other} + 0 * intersection"} for other in ("p_area", "q_area", "(p_area + q_area) / 2")),
        {UNION: ["union = torch.minimum(p_area, q_area)", "union = torch.maximum(p_area, q_area)"]},
    ),
    Mistake(
        "enclosing_box",
        "the smallest box around both stands in place of their union, or of their intersection; the intersection lies "
        "between the larger x1, y1 and the smaller x2, y2, and the union is both areas without it",
        {LOW: LOW.replace("maximum", "minimum"), HIGH: HIGH.replace("minimum", "maximum")},
        {
            UNION: "union = (torch.maximum(p[..., 2:], q[..., 2:]) - torch.minimum(p[..., :2], q[..., :2])).prod(-1)",
        },
    ),
    Mistake(
        "width_and_height_taken",
        "the last two numbers are taken as width and height; they are the corner x2, y2",
        converted("torch.cat([box[..., :2], box[..., :2] + box[..., 2:]], -1)"),
        converted("torch.cat([box[..., :2] - box[..., 2:] / 2, box[..., :2] + box[..., 2:] / 2], -1)"),
    ),
    Mistake(
        "columns_mixed_up",
        "the numbers are taken as x1, x2, y1, y2; they are x1, y1, x2, y2",
        converted("box[..., [0, 2, 1, 3]]"),
    ),
    Mistake(
        "rows_and_columns_swapped",
        "the table is (M, N); row n belongs to box n of a",
        {IOU: f"{IOU}.T"},
        {TWO_SETS: "p, q = a.to(dtype)[None], b.to(dtype)[:, None]"},
    ),
    Mistake(
        "whole_pixels",
        "coordinates are rounded to whole pixels; they are continuous",
        *(converted(f"box.{rounded}()") for rounded in ("floor", "round")),
    ),
    Mistake(
        "cut_at_zero",
        "coordinates below 0 are cut off at the border of an image; there is no image, and boxes may lie anywhere",
        converted("box.clamp(min=0)"),
    ),
    Mistake(
        "nothing_by_nothing",
        "0 is divided by 0 for two boxes without area; the IoU is 0 where the union is 0",
        {QUOTIENT: "intersection / union"},
        {QUOTIENT: "intersection / union", OVER: "~(box_iou(ranked, ranked) <= iou_threshold)"},
    ),
    Mistake(
        "empty_boxes_overlap",
        "two boxes without area have an IoU of 1 if they are equal, or always; it is 0 where the union is 0",
        {QUOTIENT: f"({QUOTIENT}).masked_fill(union == 0, 1)"},
        {QUOTIENT: f"({QUOTIENT}).masked_fill((p == q).all(-1), 1)"},
    ),
    Mistake(
        "gradient_of_nothing_by_nothing",
        "the result of 0 / 0 is replaced, but its gradient is still NaN or infinite; replace the union of 0 by 1 "
        "before you divide",
        {QUOTIENT: "torch.where(union > 0, intersection / union, 0.0)"},
        {QUOTIENT: "(intersection / union).masked_fill(union == 0, 0)"},
        {QUOTIENT: "(intersection / union).nan_to_num(0.0)"},
        {QUOTIENT: "intersection / union.clamp(min=torch.finfo(dtype).tiny)"},
    ),
    Mistake(
        "eps_in_the_union",
        "an eps is added to the union, or is its least value, which changes the IoU of small boxes; only a union of "
        "exactly 0 needs another number",
        {QUOTIENT: [f"intersection / (union + {eps})" for eps in ("1e-6", "1e-7", "1e-8", "1e-9", "1e-12", "1e-16")]},
        {QUOTIENT: [f"intersection / union.clamp(min={eps})" for eps in ("1.0", "1e-6", "1e-8", "1e-9")]},
    ),
    Mistake(
        "areas_in_half",
        "areas are calculated in float16, which ends at 65504: a box of 256 by 256 overflows; cast to float32 first",
        {WIDE: "dtype = a.dtype"},
        {WIDE: "dtype = a.dtype", RANKED: "pass"},
    ),
    Mistake(
        "rounded_before_compared",
        "IoUs are rounded to half precision before they are compared with the threshold; let nms cast the boxes to "
        "float32 first",
        {RANKED: "pass"},
    ),
    Mistake(
        "equal_to_the_threshold",
        "a box whose IoU equals the threshold is suppressed; only IoUs above it suppress",
        {OVER: OVER.replace(">", ">=")},
    ),
    Mistake(
        "threshold_turned_round",
        "a box is suppressed if its IoU is below the threshold, or above 1 minus it; it is suppressed if the IoU is "
        "above the threshold",
        {OVER: [OVER.replace(">", "<"), OVER.replace("iou_threshold", "1 - iou_threshold")]},
    ),
    Mistake(
        "suppressed_boxes_suppress",
        "boxes that were suppressed suppress others; only kept boxes do, so of a chain of three the first and the "
        "third stay",
        {"if kept[i]:": "if True:"},
    ),
    Mistake(
        "too_few_rounds",
        "suppression is repeated a fixed number of times, which is too few for long chains; repeat it until nothing "
        "changes, or go through the boxes in turn",
        *(repeated(rounds) for rounds in (2, 3)),
    ),
    Mistake(
        "last_kept_box_alone",
        "a box is compared only with the box that was kept last; compare it with all kept boxes",
        {TURN: "        if i:\n            kept[i] = ~overlaps[:i][kept[:i]][-1, i]"},
    ),
    Mistake(
        "suppresses_itself",
        "a box is compared with itself, and its IoU of 1 suppresses it; compare it with later boxes",
        {TURN: TURN.replace("i + 1 :", "i:")},
    ),
    Mistake(
        "positions_after_sorting",
        "positions in the sorted order are returned; take the sorted indices at these positions",
        {RESULT: "return kept.nonzero()[:, 0]"},
    ),
    Mistake(
        "in_the_order_given",
        "the indices come in the order of the boxes; they should come by falling score",
        {RESULT: f"{RESULT}.sort().values"},
    ),
    Mistake(
        "boxes_or_a_mask",
        "a mask or the kept boxes are returned; return int64 indices",
        {RESULT: [f"return torch.zeros_like(kept).index_fill(0, {RESULT[7:]}, True)", f"return boxes[{RESULT[7:]}]"]},
    ),
    Mistake(
        "lowest_score_first",
        "the boxes are taken by rising score; begin with the highest",
        {ORDER: ORDER.replace("True", "False", 1)},
    ),
    Mistake(
        "not_sorted",
        "the boxes are taken as they come; begin with the highest score",
        {ORDER: "order = torch.arange(len(boxes), device=boxes.device)"},
        {
            ORDER: "order = torch.arange(len(boxes), device=boxes.device)",
            RESULT: f"{RESULT}[scores[kept].argsort(descending=True, stable=True)]",
        },
    ),
    Mistake(
        "equal_scores_in_any_order",
        "equal scores come in any order, or the later box first; of equal scores the earlier box comes first, which "
        "takes a stable sort",
        {ORDER: ["order = scores.argsort(stable=True).flip(0)", ORDER.replace(", stable=True", "")]},
    ),
    Mistake(
        "negative_scores_dropped",
        "boxes with scores of 0 or below are dropped; scores may be any numbers, such as logits",
        {KEPT: "kept = scores[order] > 0"},
        {KEPT: "kept = scores[order] >= 0"},
    ),
    Mistake(
        "classes_ignored",
        "boxes of one class suppress boxes of another; compare only boxes of the same class",
        {APPLIED: "pass"},
    ),
    Mistake(
        "other_classes_suppress",
        "boxes suppress only boxes of other classes; they should suppress boxes of their own class",
        {SAME: SAME.replace("==", "!=")},
    ),
    Mistake(
        "class_after_class",
        "the kept boxes come class by class; sort all of them by score",
        {
            RESULT: f"""if classes is not None:
        order, kept = (one[classes[order].argsort(stable=True)] for one in (order, kept))
    {RESULT}"""
        },
    ),
    Mistake(
        "moved_by_the_largest_coordinate",
        "classes are moved apart by the largest coordinate plus 1, which is too little if coordinates are negative; "
        "compare classes instead",
        moved("ranked.max() + 1"),
        moved("ranked.max() + 1", boxes="ranked.double()"),
        moved("ranked.max() + 1", NUMBERED),
    ),
    Mistake(
        "moved_by_a_constant",
        "classes are moved apart by a constant number of pixels, and boxes may be further away than that; compare "
        "classes, or take the largest minus the smallest coordinate",
        *(moved(str(pixels), boxes="ranked.double()") for pixels in (1000, 4096, 7680, 10_000)),
        *(moved(str(float(pixels))) for pixels in (4096, 7680)),
    ),
    Mistake(
        "moved_in_float32",
        "classes are moved apart so far that float32 rounds the boxes away; compare classes, or number them from 0 and "
        "move in float64",
        moved(EXTENT, boxes="ranked.float()"),
        moved(EXTENT),
    ),
    Mistake(
        "classes_as_floats",
        "class numbers are compared in a floating dtype, in which large ones become equal; compare the integers",
        {SAME: "same = classes[order, None].float() == classes[order].float()"},
        {SAME: "same = classes[order, None].to(boxes.dtype) == classes[order].to(boxes.dtype)"},
    ),
    Mistake(
        "not_ready_for_no_boxes",
        "no boxes raise an error, or give a result of another dtype; they should give no indices, in int64",
        {RESULT: "return torch.stack([order[i] for i in range(len(order)) if kept[i]])"},
        {RESULT: "return torch.tensor([int(order[i]) for i in range(len(order)) if kept[i]])"},
        {BOUNDS: f"not len(boxes) or {BOUNDS}"},
        moved(EXTENT, NUMBERED, "ranked.double()", when=""),
        {RANKED: f"{RANKED}\n    ranked = ranked - ranked.min()"},
    ),
    Mistake(
        "ends_of_the_range_refused",
        "thresholds of 0 or 1 are refused; both are valid",
        {BOUNDS: ["not 0 < iou_threshold <= 1", "not 0 <= iou_threshold < 1", "not 0 < iou_threshold < 1"]},
    ),
    Mistake(
        "threshold_half_checked",
        "only thresholds below 0, or only those above 1, are refused; refuse both",
        {BOUNDS: ["iou_threshold < 0", "iou_threshold > 1"]},
    ),
    Mistake(
        "columns_accepted",
        "scores or classes that are not 1-D go through; compare the shapes, not only the lengths",
        {LENGTHS: "values is not None and len(values) != len(boxes)"},
        {LENGTHS: "values is not None and values.numel() != len(boxes)"},
    ),
    Mistake(
        "classes_not_checked",
        "classes of another length go through, or raise another error; refuse them by a ValueError",
        {"(scores, classes):": "(scores,):"},
    ),
    Mistake(
        "shapes_half_checked",
        "only the last axis is compared with 4, so one box or a batch of sets goes through; there should be two axes",
        {OF_BOTH: "        if boxes.shape[-1] != 4:\n", OF_BOXES: "\n    if boxes.shape[-1] != 4:\n"},
        {OF_BOTH: "        if boxes.shape[-1] != 4:\n"},
        {"for boxes in (a, b):": ["for boxes in (a,):", "for boxes in (b,):"]},
    ),
    Mistake(
        "row_by_row",
        "a Python loop goes through the boxes of a; broadcast all boxes of a against all boxes of b",
        {
            IOU: """rows = [i / u.masked_fill(u == 0, 1) for i, u in zip(intersection, union, strict=True)]
    return (torch.stack(rows) if rows else intersection).to(a.dtype)"""
        },
        slow=True,
    ),
    Mistake(
        "pair_by_pair",
        "a Python loop goes through pairs of boxes; let each kept box suppress all later ones at once",
        {
            KEPT: "alive, table = [True] * len(order), overlaps.tolist()",
            TURN: """        for j in range(i + 1, len(order)):
            if alive[i] and table[i][j]:
                alive[j] = False
    kept = torch.tensor(alive, dtype=torch.bool, device=order.device)""",
        },
        {
            KEPT: "alive, table = [], overlaps.tolist()",
            TURN: """        if not any(table[j][i] for j in alive):
            alive.append(i)
    kept = torch.zeros_like(order, dtype=torch.bool)
    kept[alive] = True""",
        },
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
OTHER_ORDER = "the result does not depend on the order of the two"
EQUIVALENT = {
    f"{WIDE} -> dtype = torch.promote_types(torch.float32, a.dtype)": OTHER_ORDER,
    f"{RANKED} -> ranked = ranked.to(torch.promote_types(torch.float32, ranked.dtype))": OTHER_ORDER,
    f"{LOW} -> low = torch.maximum(q[..., :2], p[..., :2])": OTHER_ORDER,
    f"{HIGH} -> high = torch.minimum(q[..., 2:], p[..., 2:])": OTHER_ORDER,
    f"{IOU} -> {IOU.replace('0, 1)', '0, 2)')}": "0 divided by any number is 0",
    "nms_float32_inside": "boxes may be compared in float32, from which no IoU is near enough to the threshold",
    "nms_python_loop": "loops over boxes are welcome in nms",
    "not_refused_2": "box_iou refuses the same boxes; only its message is about a and b",
}
# What every seed asks alike -> why.
FIXED = {"axis 1 of *": "a box is four numbers"}
