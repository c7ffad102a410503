"""IoU and non-maximum suppression of boxes. Statement: katas/image/box_nms/README.md."""

import torch
from torch import Tensor


def box_iou(a: Tensor, b: Tensor) -> Tensor:
    """IoU(a, b) = |a ∩ b| / |a ∪ b|,  |a ∪ b| = |a| + |b| − |a ∩ b|;  0 where the union is 0

    Args:
        a: (N, 4) boxes (x1, y1, x2, y2), with x1 ≤ x2 and y1 ≤ y2.
        b: (M, 4) boxes.
    Returns: (N, M), in the dtype of a.
    Raises: ValueError if a is not (N, 4), or b not (M, 4).
    """
    # --- solution
    # TODO: refuse bad shapes.
    # TODO: find the sides of the intersection of each pair; boxes may be disjoint.
    # TODO: divide the areas of intersection and union; the union may be 0.
    # TODO: then make it robust: areas overflow half precision.
    for boxes in (a, b):
        if boxes.ndim != 2 or boxes.shape[1] != 4:
            raise ValueError(f"a and b should be (N, 4) and (M, 4), got {tuple(a.shape)} and {tuple(b.shape)}")
    dtype = torch.promote_types(a.dtype, torch.float32)
    p, q = a.to(dtype)[:, None], b.to(dtype)[None]  # (N, 1, 4), (1, M, 4)
    low = torch.maximum(p[..., :2], q[..., :2])  # (N, M, 2)
    high = torch.minimum(p[..., 2:], q[..., 2:])  # (N, M, 2)
    width, height = (high - low).clamp(min=0).unbind(-1)  # (N, M) each
    intersection = width * height  # (N, M)
    p_area, q_area = ((box[..., 2] - box[..., 0]) * (box[..., 3] - box[..., 1]) for box in (p, q))  # (N, 1), (1, M)
    union = p_area + q_area - intersection  # (N, M)
    return (intersection / union.masked_fill(union == 0, 1)).to(a.dtype)
    # --- end


def nms(boxes: Tensor, scores: Tensor, iou_threshold: float, classes: Tensor | None = None) -> Tensor:
    """Keep a box unless a kept box of its class that comes before it has an IoU with it above iou_threshold.

    Args:
        boxes: (N, 4) boxes, as for box_iou.
        scores: (N,) floats; boxes come by falling score, and of equal scores the earlier box comes first.
        iou_threshold: from 0 to 1.
        classes: (N,) integers, or None if all boxes are of one class.
    Returns: (K,) int64, the kept boxes' indices, by falling score.
    Raises: ValueError if boxes is not (N, 4), if scores or classes is not (N,), or iou_threshold is not in [0, 1].
    Source: torchvision.ops.batched_nms.
    """
    # --- solution
    # TODO: refuse bad arguments.
    # TODO: bring the boxes into their order.
    # TODO: go through them; each that is still kept suppresses later ones of its class.
    # TODO: return indices into the boxes as they were given.
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError(f"boxes should be (N, 4), got {tuple(boxes.shape)}")
    for values in (scores, classes):
        if values is not None and values.shape != boxes.shape[:1]:
            raise ValueError(f"scores and classes should have one number for each box, got {tuple(values.shape)}")
    if not 0 <= iou_threshold <= 1:
        raise ValueError(f"iou_threshold should be in [0, 1], got {iou_threshold}")

    order = scores.argsort(descending=True, stable=True)  # (N,)
    ranked = boxes[order]  # (N, 4)
    ranked = ranked.to(torch.promote_types(ranked.dtype, torch.float32))
    overlaps = box_iou(ranked, ranked) > iou_threshold  # (N, N)
    if classes is not None:
        same = classes[order, None] == classes[order]
        overlaps &= same
    kept = torch.ones_like(order, dtype=torch.bool)
    for i in range(len(order)):
        if kept[i]:
            kept[i + 1 :] &= ~overlaps[i, i + 1 :]
    return order[kept]
    # --- end
