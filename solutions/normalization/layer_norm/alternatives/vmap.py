"""One block is normalized; vmap does it for all of them."""

import torch


def one_block(block, weight, bias, eps):
    d = block - block.sum() / block.numel()
    return bias + weight * d / (torch.dot(d, d) / d.numel() + eps) ** 0.5


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    shape = tuple(normalized_shape)
    assert len(shape) > 0, "empty normalized_shape"
    assert tuple(x.size()[-len(shape) :]) == shape, "normalized_shape does not fit x"
    own = []
    for given, without in ((weight, torch.ones), (bias, torch.zeros)):
        assert given is None or tuple(given.size()) == shape, "weight or bias does not fit"
        own.append((without(shape, dtype=x.dtype, device=x.device) if given is None else given).flatten())
    blocks = x.reshape(-1, own[0].numel())
    return torch.vmap(one_block, in_dims=(0, None, None, None))(blocks, *own, eps).view(x.shape)
