import torch

def instance_norm(x, weight=None, bias=None, eps=1e-5):
    dims = tuple(range(2, x.dim()))
    var, mean = torch.var_mean(x, dims, unbiased=False, keepdim=True)
    y = (x - mean) / torch.sqrt(var + eps)
    shape = (1, -1) + (1,) * (x.dim() - 2)
    if weight is not None:
        y = y * weight.view(shape)
    if bias is not None:
        y = y + bias.view(shape)
    return y
