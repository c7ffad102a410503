"""Takes the first of a queue, and leaves in it what does not overlap that; a row of IoUs at a time."""

import torch


def check_boxes(x):
    assert x.dim() == 2
    assert x.size(1) == 4


def box_iou(a, b):
    check_boxes(a)
    check_boxes(b)
    dtype = a.dtype
    if dtype in (torch.float16, torch.bfloat16):
        a, b = a.float(), b.float()
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    lt = torch.max(a[:, None, :2], b[:, :2])
    rb = torch.min(a[:, None, 2:], b[:, 2:])
    wh = torch.relu(rb - lt)
    inter = wh[:, :, 0] * wh[:, :, 1]
    union = area_a[:, None] + area_b - inter
    safe = torch.where(union > 0, union, torch.ones_like(union))
    return torch.where(union > 0, inter / safe, torch.zeros_like(union)).to(dtype)


def nms(boxes, scores, iou_threshold, classes=None):
    check_boxes(boxes)
    n = boxes.size(0)
    assert scores.size() == (n,)
    assert classes is None or classes.size() == (n,)
    assert iou_threshold >= 0
    assert iou_threshold <= 1

    if boxes.dtype in (torch.float16, torch.bfloat16):
        boxes = boxes.float()
    _, idxs = torch.sort(scores, dim=0, descending=True, stable=True)
    keep = []
    while idxs.numel():
        i, rest = idxs[0], idxs[1:]
        keep.append(i.item())
        suppress = box_iou(boxes[i].unsqueeze(0), boxes[rest]).squeeze(0) > iou_threshold
        if classes is not None:
            suppress = suppress & (classes[rest] == classes[i])
        idxs = rest[~suppress]
    return torch.tensor(keep, dtype=torch.long, device=boxes.device)
