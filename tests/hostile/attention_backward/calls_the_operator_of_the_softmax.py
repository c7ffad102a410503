# cheat: goes back through the softmax by the operator that torch's own backward pass calls; must fail
import torch


def attention_forward(q, k, v, mask=None):
    B, H, S, d = q.shape
    T = k.shape[2]
    if k.shape != (B, H, T, d) or v.shape[:3] != (B, H, T):
        raise ValueError
    scores = q @ k.mT / d**0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        try:
            mask = mask.expand(B, H, S, T)
        except RuntimeError as error:
            raise ValueError from error
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0)
    return weights @ v, (q, k, v, weights)


def attention_backward(grad_output, cache):
    q, k, v, weights = cache
    d_scores = torch._softmax_backward_data(grad_output @ v.mT, weights, -1, weights.dtype) / q.shape[-1] ** 0.5
    return d_scores @ k, d_scores.mT @ q, weights.mT @ grad_output
