"""One all_gather, of this rank's logsumexp and the label's logit."""

import torch


def vocab_parallel_cross_entropy(comm, logits, labels, vocab_size):
    if labels.lt(0).any() or labels.ge(vocab_size).any():
        raise ValueError(f"labels should be in 0 .. {vocab_size - 1}")
    W, r = comm.world_size, comm.rank
    start = r * (vocab_size // W) + min(r, vocab_size % W)
    local = labels - start
    mine = (local >= 0) & (local < logits.shape[1])
    lse = torch.logsumexp(logits, 1)
    if logits.shape[1] == 0:
        target = lse.new_zeros(len(lse))
    else:
        target = logits.gather(1, local.clamp(0, logits.shape[1] - 1)[:, None])[:, 0] * mine
    own = torch.stack([lse, target])
    every = comm.all_gather(own.detach())
    every[r] = own
    every = torch.stack(every)  # (W, 2, N)
    return torch.logsumexp(every[:, 0], 0) - every[:, 1].sum(0)
