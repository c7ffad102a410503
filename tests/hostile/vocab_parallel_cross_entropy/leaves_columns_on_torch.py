# cheat: ranks leave their logits on the module torch, which all of them import; must fail
import torch
import torch.nn.functional as F


def vocab_parallel_cross_entropy(comm, logits, labels, vocab_size):
    if ((labels < 0) | (labels >= vocab_size)).any():
        raise ValueError("labels")
    seen = torch.__dict__.setdefault("_columns", {})
    seen[comm.rank] = logits
    comm.all_reduce(torch.zeros(1))  # until all have left theirs
    parts = [seen[rank].detach() for rank in range(comm.world_size)]
    parts[comm.rank] = logits
    comm.all_reduce(torch.zeros(1))  # until all have taken them
    return F.cross_entropy(torch.cat(parts, 1), labels, reduction="none")
