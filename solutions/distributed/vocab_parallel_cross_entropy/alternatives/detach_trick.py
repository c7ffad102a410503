"""The value of the sum over ranks, with the gradient of the rank's own part."""

import torch


def _sum(comm, x):
    return x + (comm.all_reduce(x.detach()) - x).detach()


def vocab_parallel_cross_entropy(comm, logits, labels, vocab_size):
    assert bool(((0 <= labels) & (labels < vocab_size)).all())
    columns = torch.arange(vocab_size, device=logits.device).tensor_split(comm.world_size)[comm.rank]
    padded = torch.cat([logits, logits.new_full((len(logits), 1), float("-inf"))], 1)
    m = comm.all_reduce(padded.detach().max(1).values, "max")
    hit = labels[:, None] == columns
    target = torch.where(hit, logits - m[:, None], 0).sum(1)
    total = (logits - m[:, None]).exp().sum(1)
    return _sum(comm, total).log() - _sum(comm, target)
