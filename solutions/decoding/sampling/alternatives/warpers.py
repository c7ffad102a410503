"""One object for each filter, as in Hugging Face's library; the sums run from the smallest logit up."""

import torch


class TopK:
    def __init__(self, k):
        if k < 1:
            raise ValueError("top_k")
        self.k = k

    def __call__(self, scores):
        kth = torch.topk(scores, min(self.k, scores.size(-1)))[0][..., -1, None]
        return scores.masked_fill(scores < kth, -float("inf"))


class TopP:
    def __init__(self, p):
        if p <= 0 or p > 1:
            raise ValueError("top_p")
        self.p = p

    def __call__(self, scores):
        ordered, index = torch.sort(scores, descending=False)
        sums = ordered.to(torch.float64).softmax(dim=-1).cumsum(dim=-1)
        remove = sums <= 1 - self.p
        remove[..., -1:] = False
        return scores.masked_fill(remove.scatter(-1, index, remove), -float("inf"))


def filter_logits(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0:
        raise ValueError("temperature")
    warpers = [TopK(top_k)] if top_k is not None else []
    warpers += [TopP(top_p)] if top_p is not None else []
    if temperature == 0:
        temperature, warpers = 1, [TopK(1)]
    scores = logits / temperature
    for warper in warpers:
        scores = warper(scores)
    return scores


def sample(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    scores = filter_logits(logits, temperature, top_k, top_p).double()
    probabilities = scores.flatten(0, -2).softmax(-1) if scores.dim() > 1 else scores.softmax(-1)
    return torch.multinomial(probabilities, 1, generator=generator).view(logits.shape[:-1])
