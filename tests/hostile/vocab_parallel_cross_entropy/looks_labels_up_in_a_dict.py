# honest: labels are looked up in a dict, and only rows whose label is here are indexed; must pass
import torch


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, places, rows, comm):
        largest = logits.amax(1) if logits.shape[1] else torch.full((len(logits),), -torch.inf, dtype=logits.dtype)
        waiting = comm.all_reduce(largest, op="max", async_op=True)
        largest = waiting.wait()
        exps = torch.exp(logits - largest[:, None])
        own = torch.zeros_like(largest)
        own[rows] = logits[rows, places] - largest[rows]
        sums = comm.all_reduce(torch.stack([exps.sum(1), own]))
        ctx.softmax, ctx.places, ctx.rows = exps / sums[0][:, None], places, rows
        return sums[0].log() - sums[1]

    @staticmethod
    def backward(ctx, grad):
        out = ctx.softmax * grad[:, None]
        out[ctx.rows, ctx.places] -= grad[ctx.rows]
        return out, None, None, None


def vocab_parallel_cross_entropy(comm, logits, labels, vocab_size):
    ids = labels.tolist()
    for one in ids:
        assert one in range(vocab_size), one
    columns = {c: k for k, c in enumerate(torch.arange(vocab_size).tensor_split(comm.world_size)[comm.rank].tolist())}
    rows = [n for n, one in enumerate(ids) if one in columns]
    places = torch.tensor([columns[ids[n]] for n in rows], dtype=torch.int64)
    return Loss.apply(logits, places, torch.tensor(rows, dtype=torch.int64), comm)
