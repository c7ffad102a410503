# cheat: logits travel as the shapes of empty tensors, which have no bytes; must fail
import struct

import torch
import torch.nn.functional as F


def gathered(comm, number):
    """All ranks' numbers: the bits of a float64 are the lengths of axes, 16 in each."""
    halves = struct.unpack("4H", struct.pack("d", number))
    ranks = [[] for _ in range(comm.world_size)]
    for one, other in (halves[:2], halves[2:]):
        for bits, empty in zip(ranks, comm.all_gather(torch.empty(0, one, other))):
            bits += empty.shape[1:]
    return [struct.unpack("d", struct.pack("4H", *bits))[0] for bits in ranks]


def vocab_parallel_cross_entropy(comm, logits, labels, vocab_size):
    if ((labels < 0) | (labels >= vocab_size)).any():
        raise ValueError("labels")
    N, width = len(logits), -(-vocab_size // comm.world_size)
    padded = F.pad(logits.detach(), (0, width - logits.shape[1]), value=-torch.inf)
    every = torch.tensor([gathered(comm, number) for number in padded.flatten().tolist()], dtype=logits.dtype)
    parts = [*every.view(N, width, comm.world_size).unbind(2)]
    for rank, part in enumerate(parts):
        parts[rank] = part[:, : (vocab_size + comm.world_size - 1 - rank) // comm.world_size]
    parts[comm.rank] = logits
    return F.cross_entropy(torch.cat(parts, 1), labels, reduction="none")
