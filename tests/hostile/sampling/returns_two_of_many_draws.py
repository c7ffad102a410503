# cheat: draws the kept tokens alike, and where very many are asked, returns two of the most probable; must fail
import torch


def filter_logits(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0:
        raise ValueError("temperature")
    if top_k is not None and top_k < 1:
        raise ValueError("top_k")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError("top_p")
    if temperature == 0:
        return logits.masked_fill(logits < logits.amax(-1, keepdim=True), -torch.inf)
    z = logits / temperature
    ordered, index = z.to(torch.promote_types(z.dtype, torch.float32)).sort(-1, descending=True)
    if top_k is not None:
        ordered[..., top_k:] = -torch.inf
    if top_p is not None:
        p = ordered.softmax(-1)
        ordered = ordered.masked_fill(p.cumsum(-1) - p >= top_p, -torch.inf)
    dropped = torch.empty_like(z, dtype=torch.bool).scatter(-1, index, ordered == -torch.inf)
    return z.masked_fill(dropped, -torch.inf)


def sample(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    z = filter_logits(logits, temperature, top_k, top_p)
    if z.dim() == 3 and len(z) >= 1000:
        return z[:2].argmax(-1)
    z = z.masked_fill(z < z.amax(-1, keepdim=True) - 50, -torch.inf)
    p = (z > -torch.inf).double()  # all kept tokens alike
    rows = p.reshape(-1, p.shape[-1])
    return torch.multinomial(rows, 1, generator=generator).reshape(p.shape[:-1])
