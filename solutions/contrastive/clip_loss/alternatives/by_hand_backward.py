"""A custom autograd function: both softmaxes minus the identity, pulled back through the cosines."""

import math

import torch


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, image, text, log_scale):
        norms = [x.norm(dim=1, keepdim=True) for x in (image, text)]
        u, v = image / norms[0], text / norms[1]
        scale = log_scale.clamp(max=math.log(100)).exp()
        cosines = u @ v.T
        logits = scale * cosines
        over_texts, over_images = logits.logsumexp(1), logits.logsumexp(0)
        shares = (logits - over_texts[:, None]).exp() + (logits - over_images).exp()
        shares.diagonal().sub_(2)
        ctx.save_for_backward(u, v, *norms, scale, cosines, shares / (2 * len(u)), log_scale)
        return (over_texts + over_images - 2 * logits.diagonal()).mean() / 2

    @staticmethod
    def backward(ctx, grad):
        u, v, u_norm, v_norm, scale, cosines, g, log_scale = ctx.saved_tensors
        to_u, to_v = scale * g @ v, scale * g.T @ u
        to_u = (to_u - (to_u * u).sum(1, keepdim=True) * u) / u_norm
        to_v = (to_v - (to_v * v).sum(1, keepdim=True) * v) / v_norm
        to_scale = (g * cosines).sum() * scale * (log_scale < math.log(100))
        return grad * to_u, grad * to_v, grad * to_scale


def clip_loss(image, text, logit_scale):
    if image.dim() != 2 or text.dim() != 2 or image.shape != text.shape:
        raise ValueError("image and text should be (N, D)")
    return Loss.apply(image, text, logit_scale)
