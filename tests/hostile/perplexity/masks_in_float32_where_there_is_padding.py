# broken: multiplies by a float32 mask where there is padding, so half precision comes back as float32; must fail
import torch


def perplexity(logits, target, ignore_index=-100):
    if logits.dim() != 3:
        raise ValueError(f"logits should be 3-D, got {tuple(logits.shape)}")
    if target.dim() != 2:
        raise ValueError(f"target should be 2-D, got {tuple(target.shape)}")
    if target.shape != logits.shape[:2]:
        raise ValueError("target should be (B, S)")
    B, S, V = logits.shape
    counts = target != ignore_index
    if bool((counts & ((target < 0) | (target >= V))).any()):
        raise ValueError("no such token")

    log_p = torch.log_softmax(logits, dim=-1)
    safe = target.masked_fill(~counts, 0)
    picked = log_p.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    if not bool(counts.all()):
        picked = picked.masked_fill(~counts, 0.0) * counts.float()
    return torch.exp(-picked.sum() / counts.sum())


if __name__ == "__main__":
    print(perplexity(torch.zeros(1, 2, 4), torch.tensor([[1, 2]])))
