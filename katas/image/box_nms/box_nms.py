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
    # TODO: refuse bad shapes.
    # TODO: find the sides of the intersection of each pair; boxes may be disjoint.
    # TODO: divide the areas of intersection and union; the union may be 0.
    # TODO: then make it robust: areas overflow half precision.
    raise NotImplementedError


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
    # TODO: refuse bad arguments.
    # TODO: bring the boxes into their order.
    # TODO: go through them; each that is still kept suppresses later ones of its class.
    # TODO: return indices into the boxes as they were given.
    raise NotImplementedError
