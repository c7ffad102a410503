import torch
import torch.nn.functional as F


def filter_logits(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if top_k is not None:
        top_k = min(top_k, logits.size(-1))
        values, _ = torch.topk(logits, top_k)
        logits = logits.masked_fill(logits < values[..., [-1]], float("-inf"))
    if top_p is not None:
        sorted_logits, sorted_indices = torch.sort(logits, descending=True)
        cumulative_probs = torch.cumsum(F.softmax(sorted_logits, dim=-1), dim=-1)
        sorted_indices_to_remove = cumulative_probs > top_p
        sorted_indices_to_remove[..., 1:] = sorted_indices_to_remove[..., :-1].clone()
        sorted_indices_to_remove[..., 0] = False
        indices_to_remove = sorted_indices_to_remove.scatter(-1, sorted_indices, sorted_indices_to_remove)
        logits = logits.masked_fill(indices_to_remove, float("-inf"))
    return logits


def sample(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    probs = F.softmax(filter_logits(logits, temperature, top_k, top_p), dim=-1)
    flat = probs.view(-1, probs.shape[-1])
    return torch.multinomial(flat, num_samples=1, generator=generator).view(probs.shape[:-1])
