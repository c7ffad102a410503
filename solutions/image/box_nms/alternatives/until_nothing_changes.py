"""No loop over boxes: each round lets only what is still kept suppress, until a round changes nothing."""

import torch
from torch import Tensor


def sides(boxes: Tensor) -> Tensor:
    return boxes[..., 2:] - boxes[..., :2]


def box_iou(a: Tensor, b: Tensor) -> Tensor:
    if not (a.ndim == b.ndim == 2 and a.shape[1] == b.shape[1] == 4):
        raise ValueError(f"two sets of boxes should be (N, 4) and (M, 4), got {tuple(a.shape)} and {tuple(b.shape)}")
    p, q = a.double()[:, None], b.double()
    common = sides(torch.cat([torch.maximum(p, q)[..., :2], torch.minimum(p, q)[..., 2:]], -1))
    both = common.prod(-1) * (common > 0).all(-1)
    either = sides(p).prod(-1) + sides(q).prod(-1) - both
    return (both / (either + (either == 0))).to(a.dtype)


@torch.no_grad()
def nms(boxes: Tensor, scores: Tensor, iou_threshold: float, classes: Tensor | None = None) -> Tensor:
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError("boxes should be (N, 4)")
    rank = torch.argsort(-scores.double(), stable=True) if scores.ndim == 1 else None
    if rank is None or len(rank) != len(boxes):
        raise ValueError("scores should be (N,)")
    if classes is not None and (classes.ndim != 1 or len(classes) != len(boxes)):
        raise ValueError("classes should be (N,)")
    if iou_threshold < 0 or iou_threshold > 1:
        raise ValueError("iou_threshold should be in [0, 1]")
    ranked = boxes.double()[rank]
    beats = (box_iou(ranked, ranked) > iou_threshold).triu(diagonal=1)
    if classes is not None:
        beats = beats.logical_and(classes[rank].unsqueeze(1).eq(classes[rank]))
    kept, before = torch.ones(len(rank), dtype=torch.bool, device=rank.device), None
    while before is None or not torch.equal(kept, before):
        kept, before = beats[kept].logical_not().all(0), kept
    return rank[kept]
