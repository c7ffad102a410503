"""The cache is a function that keeps only the inputs and computes the hidden layer again, as checkpointing does."""

import torch


def mlp_forward(x, w1, b1, w2, b2):
    def backward(grad):
        h = torch.addmm(b1, x, w1).relu()
        open_units = torch.sign(h)
        g = torch.einsum("nc,hc,nh->nh", grad, w2, open_units)
        return dict(
            w1=torch.einsum("nd,nh->dh", x, g), b1=g.sum(0), w2=torch.einsum("nh,nc->hc", h, grad), b2=grad.sum(0)
        )

    return torch.addmm(b2, torch.addmm(b1, x, w1).relu(), w2), backward


def mlp_backward(logits, target, cache):
    p = (logits - logits.logsumexp(1, keepdim=True)).exp()
    hit = target.unsqueeze(1) == torch.arange(logits.size(1), device=target.device)
    return cache((p - hit.to(p.dtype)) / logits.size(0))
