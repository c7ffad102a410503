"""As torchvision's batched_nms: classes are moved apart; here by the whole extent, numbered from 0, in float64."""

import torch


def parts(p, q):
    x1, y1, x2, y2 = (torch.stack(torch.broadcast_tensors(p[:, None, k], q[None, :, k])) for k in range(4))
    w = (x2.min(0).values - x1.max(0).values).clamp_min(0)
    h = (y2.min(0).values - y1.max(0).values).clamp_min(0)
    return w * h, ((x2 - x1) * (y2 - y1)).sum(0) - w * h


def box_iou(a, b):
    for boxes in (a, b):
        if len(boxes.shape) != 2 or boxes.shape[-1] != 4:
            raise ValueError("not (N, 4): " + str(list(boxes.shape)))
    intersection, union = parts(a.double(), b.double())
    result = torch.zeros_like(union)
    some = union != 0
    result[some] = intersection[some] / union[some]
    return result.to(a.dtype)


def nms(boxes, scores, iou_threshold, classes=None):
    if len(boxes.shape) != 2 or boxes.shape[-1] != 4:
        raise ValueError("boxes not (N, 4)")
    N = len(boxes)
    if list(scores.shape) != [N]:
        raise ValueError("scores not (N,)")
    if classes is not None and list(classes.shape) != [N]:
        raise ValueError("classes not (N,)")
    if min(iou_threshold, 1 - iou_threshold) < 0:
        raise ValueError("threshold outside [0, 1]")
    if N == 0:
        return torch.empty(0, dtype=torch.int64, device=boxes.device)

    boxes = boxes.detach().double()
    if classes is not None:
        numbers = torch.unique(classes, return_inverse=True)[1]
        extent = boxes.max() - boxes.min()
        boxes = boxes + (numbers * (2 * extent + 1)).unsqueeze(1)
    removed = torch.zeros(N, dtype=torch.bool)
    keep = []
    for i in scores.argsort(stable=True, descending=True).tolist():
        if not removed[i]:
            keep.append(i)
            intersection, union = parts(boxes[i : i + 1], boxes)
            removed |= (intersection > iou_threshold * union)[0]
    return torch.as_tensor(keep, device=boxes.device)
