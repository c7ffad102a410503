"""A centre and a scale for each, as a scaler of scikit-learn has them; float64 inside."""

import torch


def scaler(scale, centre=lambda c: 0):
    def scaled(x):
        wide = x.double()
        divisor = scale(wide)
        return ((wide - centre(wide)) / torch.where(divisor == 0, torch.ones_like(divisor), divisor)).to(x.dtype)

    return scaled


min_max = scaler(lambda c: c.max(0).values - c.min(0).values, lambda c: c.min(0).values)
z_score = scaler(lambda c: c.std(0, unbiased=False), lambda c: c[0] + (c - c[0]).mean(0))
max_abs = scaler(lambda c: c.abs().max(0).values)
robust = scaler(lambda c: c.quantile(0.75, dim=0) - c.quantile(0.25, dim=0), lambda c: c.quantile(0.5, dim=0))
l1_normalize = scaler(lambda r: r.abs().sum(1, keepdim=True))
l2_normalize = scaler(lambda r: r.norm(dim=1, keepdim=True))
log1p_scale = torch.log1p
