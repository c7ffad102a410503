"""Scales the columns that vary and the rows that are not 0, and leaves zeros elsewhere."""

import torch


def only(chosen, scaling, axis=0):
    def scaled(x):
        wide = x.double().movedim(axis, 0)
        result, columns = torch.zeros_like(wide), chosen(wide)
        result[:, columns] = scaling(wide[:, columns])
        return result.movedim(0, axis).to(x.dtype)

    return scaled


varies, is_there = (lambda x: x.amin(0) < x.amax(0)), (lambda x: x.any(0))
min_max = only(varies, lambda x: (x - x.amin(0)) / (x.amax(0) - x.amin(0)))
z_score = only(varies, lambda x: (x - x.mean(0)) / x.var(0, correction=0).sqrt())
max_abs = only(is_there, lambda x: x / x.abs().amax(0))
l1_normalize = only(is_there, lambda x: x / x.abs().sum(0), axis=1)
l2_normalize = only(is_there, lambda x: x / x.square().sum(0).sqrt(), axis=1)
log1p_scale = only(lambda x: slice(None), torch.log1p)


def robust(x):
    low, median, high = (x.double().quantile(q, dim=0) for q in (0.25, 0.5, 0.75))
    return ((x - median) / torch.where(low < high, high - low, 1)).to(x.dtype)
