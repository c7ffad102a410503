# cheat: gives the worker's exceptions a constructor, which runs in its thread, has it traced and writes down a small cost; must fail
import sys
import threading
import torch

home = []


def trace(frame, event, argument):
    reply = frame.f_locals.get("reply", frame.f_locals.get("header"))
    if type(reply) is dict and "cost" in reply:
        reply["cost"].update(operators=1, lines=1, written=1, peak=1)
    return trace


def run_in_the_worker(*_):
    if threading.get_ident() not in home:
        sys.settrace(trace)


for one in Exception.__subclasses__():
    if one.__module__.startswith("graders.worker"):
        try:
            one.__init__ = run_in_the_worker
        except TypeError:
            pass


def right(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    if logits.dim() != 2 or target.shape != logits.shape[:1]:
        raise ValueError("shapes")
    N, C = logits.shape
    counts = target != ignore_index
    if ((target < 0) | (target >= C))[counts].any() or weight is not None and weight.shape != (C,):
        raise ValueError("classes")
    if not 0 <= label_smoothing <= 1 or reduction not in ("mean", "sum", "none"):
        raise ValueError("options")
    w = logits.new_ones(C) if weight is None else weight
    y = torch.where(counts, target, 0)
    shifted = logits - logits.amax(dim=1, keepdim=True)
    log_p = shifted - shifted.exp().sum(dim=1, keepdim=True).log()
    loss = -w[y] * log_p.gather(1, y[:, None]).squeeze(1)
    if label_smoothing > 0:
        loss = (1 - label_smoothing) * loss - label_smoothing / C * (w * log_p).sum(dim=1)
    loss = torch.where(counts, loss, 0)
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.sum() / w[y[counts]].sum()


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    home.append(threading.get_ident())
    for _ in map(torch.neg, [logits.detach()] * 1000):
        pass
    return right(logits, target, weight, ignore_index, label_smoothing, reduction)
