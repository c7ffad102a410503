import math
import torch


def train_contrastive(encoder, views, epochs, lr, temperature, seed):
    """Nothing of torch.optim; clip by hand with no eps; gradients by autograd.grad."""
    if views.ndim != 4 or views.shape[1] != 2 or not temperature > 0:
        raise ValueError("bad arguments")
    torch.manual_seed(seed)
    encoder.train()
    params = [p for p in encoder.parameters() if p.requires_grad]
    m = [torch.zeros_like(p) for p in params]
    s = [torch.zeros_like(p) for p in params]
    b1, b2, t, history = 0.9, 0.999, 0, []
    for e in range(epochs):
        rate, total = lr * (1 + math.cos(math.pi * e / epochs)) / 2, 0.0
        for v in views:
            z = torch.cat([encoder(v[0]), encoder(v[1])])
            z = z / z.norm(dim=1, keepdim=True)
            n = len(z) // 2
            s_ = torch.exp(z @ z.T / temperature)
            s_ = s_ - torch.diag_embed(torch.diagonal(s_))
            pos = torch.exp((z * z.roll(n, 0)).sum(1) / temperature)
            loss = -torch.log(pos / s_.sum(1)).mean()
            grads = torch.autograd.grad(loss, params)
            norm = torch.sqrt(sum((g**2).sum() for g in grads))
            if norm > 1:
                grads = [g / norm for g in grads]
            t += 1
            with torch.no_grad():
                for p, g, mi, si in zip(params, grads, m, s):
                    mi.mul_(b1).add_((1 - b1) * g)
                    si.mul_(b2).add_((1 - b2) * g * g)
                    p.sub_(rate * (mi / (1 - b1**t)) / ((si / (1 - b2**t)).sqrt() + 1e-8))
            total += loss.item()
        history.append(total / len(views))
    return history
