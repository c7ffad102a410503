import torch


def associative_scan(op, x):
    n = x.shape[0]
    d = 1
    while d < n:
        x = torch.cat([x[:d], op(x[:-d], x[d:])], dim=0)
        d *= 2
    return x


def linear_recurrence(a, b, h0=None):
    if h0 is not None:
        b = b.clone()
        b[:, 0] = a[:, 0] * h0 + b[:, 0]

    def combine(left, right):
        a_l, b_l = left[..., 0], left[..., 1]
        a_r, b_r = right[..., 0], right[..., 1]
        return torch.stack([a_l * a_r, a_r * b_l + b_r], dim=-1)

    x = torch.stack([a, b], dim=-1).transpose(0, 1)
    return associative_scan(combine, x)[..., 1].transpose(0, 1)
