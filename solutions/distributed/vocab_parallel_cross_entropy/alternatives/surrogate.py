"""The loss without a graph, and the gradient by a sum whose derivative is known."""

import torch


def vocab_parallel_cross_entropy(comm, logits, labels, vocab_size):
    if int(labels.min()) < 0 or int(labels.max()) >= vocab_size:
        raise ValueError("labels out of the vocabulary")
    W, r = comm.world_size, comm.rank
    bounds = [0]
    for k in range(W):
        bounds.append(bounds[-1] + (vocab_size + W - 1 - k) // W)
    lo, hi = bounds[r], bounds[r + 1]
    z = logits.detach()
    N = z.shape[0]
    m = z.max(dim=1)[0] if hi > lo else z.new_full((N,), float("-inf"))
    m = comm.all_reduce(m, op="max")
    s = (z - m[:, None]).exp()
    t = z.new_zeros(N)
    here = (labels >= lo) & (labels < hi)
    t[here] = z[here, labels[here] - lo]
    stats = comm.all_reduce(torch.cat([s.sum(1), t]))
    total, target = stats[:N], stats[N:]
    value = total.log() + m - target
    coefficient = s / total[:, None]
    coefficient[here, labels[here] - lo] -= 1
    surrogate = (logits * coefficient).sum(1)
    return value + surrogate - surrogate.detach()
