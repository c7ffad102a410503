"""A table of where the phases begin, and a function for each."""

from bisect import bisect_right
from cmath import exp, pi


def rise(i, n, high, low):
    return high - high * (n - i - 1) / n


def fall(i, n, high, low):
    return (high + low) / 2 + (high - low) / 2 * exp(1j * pi * i / n).real


def rest(i, n, high, low):
    return low


def warmup_cosine(step, warmup_steps, total_steps, base_lr, min_lr=0.0):
    starts = [0, warmup_steps, total_steps]
    phase = bisect_right(starts, step) - 1
    lengths = (warmup_steps, total_steps - warmup_steps, None)
    return (rise, fall, rest)[phase](step - starts[phase], lengths[phase], base_lr, min_lr)
