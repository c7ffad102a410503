"""One class at a time, each box held against those that were kept; sorted together at the end."""

import torch
import torch.nn.functional as F


def box_iou(a, b):
    if a.shape[1:] != (4,):
        raise ValueError(f"a: {a.shape}")
    if b.shape[1:] != (4,):
        raise ValueError(f"b: {b.shape}")
    inter, area_a, area_b = 1, 1, 1
    for low, high in ((0, 2), (1, 3)):
        a_low, a_high, b_low, b_high = (t.double() for t in (a[:, low, None], a[:, high, None], b[:, low], b[:, high]))
        inter = inter * F.relu(torch.minimum(a_high, b_high) - torch.maximum(a_low, b_low))
        area_a, area_b = area_a * (a_high - a_low), area_b * (b_high - b_low)
    union = area_a + area_b - inter
    return (inter / torch.where(union == 0, 1.0, union)).to(a)


def nms(boxes, scores, iou_threshold, classes=None):
    if boxes.shape[1:] != (4,):
        raise ValueError(f"boxes: {boxes.shape}")
    if classes is None:
        classes = torch.zeros(boxes.shape[0], dtype=torch.uint8, device=boxes.device)
    if not scores.shape == classes.shape == boxes.shape[:1]:
        raise ValueError(f"scores: {scores.shape}, classes: {classes.shape}")
    if not 0.0 <= iou_threshold <= 1.0:
        raise ValueError(f"iou_threshold: {iou_threshold}")
    with torch.no_grad():
        order = torch.sort(scores, stable=True, descending=True)[1]
        boxes = boxes.double()
        keep = torch.zeros_like(scores, dtype=torch.bool)
        for c in classes.unique():
            survivors = boxes[:0]
            for i in order[classes[order] == c]:
                box = boxes[i].unsqueeze(0)
                if (box_iou(survivors, box) <= iou_threshold).all():
                    survivors = torch.cat((survivors, box))
                    keep[i] = True
        return order[keep[order]]
