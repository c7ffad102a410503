"""Known wrong answers to ring_all_reduce."""

from graders.kata import Mistake

CHUNKS = "chunks = x.flatten().tensor_split(W)"
FIRST = "total = chunks[r - 1].clone()"
SCATTERED = "for step in range(1, W):"
SENT = "comm.send(total, (r + 1) % W)"
CAME = "total = comm.recv((r - 1) % W)"
ADDED = "total += chunks[(r - 1 - step) % W]"
GATHERED = "for step in range(W - 1):"
PASSED = "comm.send(shards[(r - step) % W], (r + 1) % W)"
KEPT = "shards[(r - step - 1) % W] = comm.recv((r - 1) % W)"
JOINED = "return torch.cat([shards[rank] for rank in range(W)])"
RESULT = "return all_gather(comm, reduce_scatter(comm, x)).view(x.shape)"
SCATTER = f"    {FIRST}…    return total\n"
RING = "W, r = comm.world_size, comm.rank\n    "
EVERYTHING = "torch.stack(all_gather(comm, x.flatten()).chunk(comm.world_size))"
STAR = """    if comm.rank == 0:
        whole = x.clone()
        for other in range(1, comm.world_size):
            whole += comm.recv(other)
        for other in range(1, comm.world_size):
            comm.send(whole, other)
    else:
        comm.send(x, 0)
        whole = comm.recv(0)
"""
IN_PLACE = """    for step in range(1, W):
        comm.send(chunks[(r - step) % W], (r + 1) % W)
        chunks[(r - step - 1) % W].add_(comm.recv((r - 1) % W))
    return chunks[r].clone()
"""


RECEIVED = "came = comm.recv((r - 1) % W)\n        "
SUM_LATE = {f"{SENT}\n        {CAME}": f"{RECEIVED}{SENT}\n        total = came"}
SHARD_LATE = {f"{PASSED}\n        {KEPT}": f"{RECEIVED}{PASSED}\n        shards[(r - step - 1) % W] = came"}
SIZE = "size = x.numel() // W\n    "


def ring(*lines: str) -> dict[str, str]:
    return {RESULT: RING + "\n    ".join(lines)}


MISTAKES = (
    Mistake(
        "receives_first",
        SUM_LATE,
        SHARD_LATE,
        SUM_LATE | SHARD_LATE,
    ),
    Mistake(
        "over_rank_0",
        "every rank sends its tensor to rank 0, which adds and sends the sum to all; pass chunks round the ring",
        {f"    {RESULT}": f"{STAR}    return whole"},
        {SCATTER: f"{STAR}    return whole.flatten().tensor_split(W)[r].clone()\n"},
    ),
    Mistake(
        "everything_gathered",
        "all tensors are gathered on every rank and added there; reduce chunks on the way, so that each rank sends "
        "less than two tensors",
        {
            RESULT: [
                f"return {EVERYTHING}.sum(0, dtype=x.dtype).view(x.shape)",
                f"return {EVERYTHING}.sum(0).view(x.shape)",
            ]
        },
        {
            SCATTER: [
                f"    return {EVERYTHING}.sum(0, dtype=x.dtype).tensor_split(W)[r].clone()\n",
                f"    return {EVERYTHING}.sum(0).tensor_split(W)[r].clone()\n",
            ]
        },
    ),
    Mistake(
        "mean_of_everything",
        "all tensors are gathered on every rank, stacked and averaged; pass chunks round the ring, and add them",
        {
            RESULT: [
                f"return {EVERYTHING}.{mean}.view(x.shape)"
                for mean in ("double().mean(0).to(x.dtype)", "float().mean(0).to(x.dtype)", "mean(0)")
            ]
        },
    ),
    Mistake(
        "mean_for_sum",
        "the sum is divided by the number of ranks; leave it the sum",
        {RESULT: [f"{RESULT} / comm.world_size", f"{RESULT} // comm.world_size"]},
        {RESULT: f"{RESULT.replace('return ', 'return (')} / comm.world_size).to(x.dtype)"},
        {"return total\n": "return total / W\n"},
    ),
    Mistake(
        "whole_tensors_travel",
        "whole tensors travel, and each rank adds in an order of its own, so the ranks differ in the last bit; let "
        "chunks travel, and gather the sums",
        ring(
            "whole, passed = x.clone(), x",
            "for _ in range(W - 1):",
            "    comm.send(passed, (r + 1) % W)",
            "    passed = comm.recv((r - 1) % W)",
            "    whole += passed",
            "return whole",
        ),
    ),
    Mistake(
        "whole_sum_passed_round",
        "one partial sum of whole tensors goes round the ring, then the whole sum, while other ranks wait; let every "
        "rank send a chunk in each step",
        ring(
            "whole = x.clone()",
            "if r:",
            "    whole = comm.recv(r - 1) + x",
            "if W > 1:",
            "    comm.send(whole, (r + 1) % W)",
            "if W > 1 and r < W - 1:",
            "    whole = comm.recv((r - 1) % W)",
            "    if r < W - 2:",
            "        comm.send(whole, r + 1)",
            "return whole",
        ),
    ),
    Mistake(
        "next_chunk",
        "reduce_scatter returns chunk r + 1 on rank r, a right sum on the wrong rank; begin by sending chunk r − 1",
        {FIRST: "total = chunks[r].clone()", ADDED: "total += chunks[(r - step) % W]"},
        {
            FIRST: "total = chunks[r].clone()",
            ADDED: "total += chunks[(r - step) % W]",
            RESULT: "shard = reduce_scatter(comm, x)\n"
            "    found = all_gather(comm, shard)\n"
            "    W, n = comm.world_size, x.numel()\n"
            "    lengths = [len(one) for one in torch.arange(n).tensor_split(W)]\n"
            "    chunks = list(found.split(lengths[1:] + lengths[:1]))\n"
            "    return torch.cat([chunks[-1], *chunks[:-1]]).view(x.shape)",
        },
    ),
    Mistake(
        "chunk_before",
        "reduce_scatter returns chunk r − 1 on rank r, a right sum on the wrong rank; begin by sending chunk "
        "r − 1, and end with your own",
        {FIRST: "total = chunks[r - 2 if W > 1 else 0].clone()", ADDED: "total += chunks[(r - 2 - step) % W]"},
    ),
    Mistake(
        "starts_with_own_chunk",
        "reduce_scatter begins with chunk r but adds chunks as if it had begun with r − 1, so different chunks are "
        "added together; begin with chunk r − 1",
        {FIRST: "total = chunks[r].clone()"},
    ),
    Mistake(
        "own_chunk_added_each_time",
        "the same chunk is added in every step; in each step the partial sum is of another chunk",
        {ADDED: "total += chunks[r]"},
    ),
    Mistake(
        "nothing_added",
        "what comes from the left replaces the partial sum; add your own chunk to it",
        {f"        {ADDED}\n": ""},
    ),
    Mistake(
        "added_in_the_second_half",
        "in the second half what comes is added to the chunk; there it is the whole sum, so keep it as it is",
        ring(
            "chunks = list(x.flatten().clone().tensor_split(W))",
            "for step in range(W - 1):",
            "    comm.send(chunks[(r - step) % W], (r + 1) % W)",
            "    chunks[(r - step - 1) % W] += comm.recv((r - 1) % W)",
            "for step in range(W - 1):",
            "    comm.send(chunks[(r + 1 - step) % W], (r + 1) % W)",
            "    chunks[(r - step) % W] += comm.recv((r - 1) % W)",
            "return torch.cat(chunks).view(x.shape)",
        ),
        {
            KEPT: "came = comm.recv((r - 1) % W)\n        own = shards[r] if len(shards[r]) == len(came) else 0\n"
            "        shards[(r - step - 1) % W] = came + own"
        },
    ),
    Mistake(
        "hop_too_few",
        {SCATTERED: "for step in range(1, W - 1):"},
        {GATHERED: "for step in range(W - 2):", JOINED: "return torch.cat([shards[rank] for rank in sorted(shards)])"},
        {GATHERED: "for step in range(W - 2):"},
    ),
    Mistake(
        "hop_too_many",
        "there is one step too many: W ranks take W − 1 steps",
        {SCATTERED: "for step in range(1, W + 1):"},
        {GATHERED: "for step in range(W):"},
        {SCATTERED: "for step in range(W):"},
    ),
    Mistake(
        "waits_once_more",
        "a rank waits for one message more than its neighbour sends; after W − 1 steps nothing more comes",
        {JOINED: f"comm.recv((r - 1) % W)\n    {JOINED}"},
        {"return total\n": "total = comm.recv((r - 1) % W)\n    return total\n"},
    ),
    Mistake(
        "cut_by_chunk",
        "`chunk` can give fewer chunks than ranks, and other ones than `tensor_split`; use tensor_split",
        {CHUNKS: "chunks = x.flatten().chunk(W)"},
        {CHUNKS: "chunks = x.flatten().chunk(W)\n    chunks = [*chunks, *[x.flatten()[:0]] * (W - len(chunks))]"},
    ),
    Mistake(
        "rest_in_the_last_chunk",
        "chunks have n // W numbers, and the rest goes to the last one; tensor_split gives one more to "
        "each of the first",
        {
            CHUNKS: f"{SIZE}chunks = [x.flatten()[k * size : (k + 1) * size] for k in range(W - 1)]\n"
            "    chunks.append(x.flatten()[(W - 1) * size :])"
        },
    ),
    Mistake(
        "rest_left_out",
        "chunks have n // W numbers, and what is left over is not added; use tensor_split",
        {
            CHUNKS: f"{SIZE}chunks = [x.flatten()[k * size : (k + 1) * size] for k in range(W)]",
            RESULT: "whole = x.flatten().clone()\n    found = all_gather(comm, reduce_scatter(comm, x))\n"
            "    whole[: len(found)] = found\n    return whole.view(x.shape)",
        },
    ),
    Mistake(
        "cut_along_the_first_axis",
        "x is cut along its first axis; flatten it first",
        {CHUNKS: "chunks = [one.flatten() for one in x.reshape(x.shape or 1).tensor_split(W)]"},
    ),
    Mistake(
        "to_the_left",
        "messages go to rank r − 1; the ring goes to rank r + 1",
        {
            FIRST: "total = chunks[(r + 1) % W].clone()",
            SENT: "comm.send(total, (r - 1) % W)",
            CAME: "total = comm.recv((r + 1) % W)",
            ADDED: "total += chunks[(r + 1 + step) % W]",
        },
        {
            PASSED: "comm.send(shards[(r + step) % W], (r - 1) % W)",
            KEPT: "shards[(r + step + 1) % W] = comm.recv((r + 1) % W)",
        },
        {
            FIRST: "total = chunks[(r + 1) % W].clone()",
            SENT: "comm.send(total, (r - 1) % W)",
            CAME: "total = comm.recv((r + 1) % W)",
            ADDED: "total += chunks[(r + 1 + step) % W]",
            PASSED: "comm.send(shards[(r + step) % W], (r - 1) % W)",
            KEPT: "shards[(r + step + 1) % W] = comm.recv((r + 1) % W)",
        },
    ),
    Mistake(
        "sent_directly",
        "every rank sends to every other rank; send to rank r + 1 alone",
        {
            SCATTER: "    for other in range(W):\n        if other != r:\n            comm.send(chunks[other], other)\n"
            "    total = chunks[r].clone()\n    for other in range(W):\n        if other != r:\n"
            "            total += comm.recv(other)\n    return total\n"
        },
        {
            f"{GATHERED}\n        {PASSED}\n        {KEPT}": "for other in range(W):\n        if other != r:\n"
            "            comm.send(shard, other)\n    for other in range(W):\n        if other != r:\n"
            "            shards[other] = comm.recv(other)"
        },
    ),
    Mistake(
        "own_shard_passed_on",
        "each rank sends its own shard in every step; send what came last",
        {PASSED: "comm.send(shard, (r + 1) % W)"},
    ),
    Mistake(
        "owners_counted_upwards",
        "each shard is taken for the shard of rank r + 1, r + 2, …; from the left come the shards of r − 1, r − 2, …",
        {
            PASSED: "comm.send(shards[(r + step) % W], (r + 1) % W)",
            KEPT: "shards[(r + step + 1) % W] = comm.recv((r - 1) % W)",
        },
    ),
    Mistake(
        "order_of_arrival",
        "the shards are joined in the order in which they came, which differs from rank to rank; join them in the "
        "order of the ranks",
        {JOINED: "return torch.cat([*shards.values()])"},
    ),
    Mistake(
        "equal_lengths",
        "all shards are taken to be as long as the rank's own; a message brings its length along",
        {
            "shards = {r: shard}": "whole = shard.new_zeros(W, len(shard))\n    shards = [*whole]\n    "
            "shards[r].copy_(shard)",
            KEPT: "shards[(r - step - 1) % W].copy_(comm.recv((r - 1) % W))",
            JOINED: "return whole.flatten()",
        },
    ),
    Mistake(
        "shape_lost",
        "the result is flat; give it the shape of x",
        {RESULT: "return all_gather(comm, reduce_scatter(comm, x))"},
    ),
    Mistake(
        "added_into_x",
        "chunks of x are views, and the partial sums are added into them, so the caller's tensor changes; clone first",
        {SCATTER: IN_PLACE},
    ),
    Mistake(
        "same_memory",
        "the result shares memory with the argument, at least if there is one rank; make a new tensor",
        {FIRST: "total = chunks[r - 1]"},
        {RESULT: f"if comm.world_size == 1:\n        return x\n    {RESULT}"},
        {"    shards = {r: shard}\n": "    if W == 1:\n        return shard\n    shards = {r: shard}\n"},
        {CHUNKS: f"if W == 1:\n        return x.flatten()\n    {CHUNKS}"},
    ),
    Mistake(
        "buffer_kept",
        "the result is a buffer that the next call fills again; make a new tensor in each call",
        {
            "\n\ndef ring_all_reduce": "\n\nbuffers: dict[object, Tensor] = {}\n\n\ndef ring_all_reduce",
            RESULT: "whole = buffers.setdefault((x.shape, x.dtype), torch.empty_like(x))\n"
            "    whole.copy_(all_gather(comm, reduce_scatter(comm, x)).view(x.shape))\n    return whole",
        },
    ),
    Mistake(
        "integers_as_floats",
        "integers are added as floating numbers, which round large ones; keep the dtype of x",
        {CHUNKS: "chunks = x.flatten().double().tensor_split(W)", "return total\n": "return total.to(x.dtype)\n"},
    ),
    Mistake(
        "shared_list",
        "ranks leave their tensors in a list of the module, which another rank has not: each has a copy of its own; "
        "send messages",
        {
            "\n\ndef ring_all_reduce": "\n\nseen: list[Tensor] = []\n\n\ndef ring_all_reduce",
            RESULT: [
                "seen.append(x)\n    return torch.stack(seen).sum(0, dtype=x.dtype)",
                "seen.append(x.clone())\n    return torch.stack(seen).sum(0)",
                "seen.append(x.clone())\n    return sum(seen)",
                "seen.append(x.clone())\n    all_gather(comm, x.flatten()[:1])\n    return sum(seen)",
                f"seen.append(x.clone())\n    {RESULT.replace('return ', '')}\n    return sum(seen)",
            ],
        },
    ),
    Mistake(
        "number_sent_along",
        "each chunk is announced by a message of its own, with its number; both ranks know which chunk comes",
        {
            SENT: f"comm.send(torch.tensor(step), (r + 1) % W)\n        {SENT}",
            CAME: f"comm.recv((r - 1) % W)\n        {CAME}",
        },
        {
            PASSED: f"comm.send(torch.tensor(step), (r + 1) % W)\n        {PASSED}",
            KEPT: f"comm.recv((r - 1) % W)\n        {KEPT}",
        },
    ),
    Mistake(
        "viewed_not_flattened",
        "`view(-1)` refuses tensors that are strided; use flatten or reshape",
        {CHUNKS: "chunks = x.view(-1).tensor_split(W)"},
    ),
)
EQUIVALENT: dict[str, str] = {}
WORLDS = "the numbers of ranks that the contract names"
FIXED = {
    "axis 0 of x": WORLDS,
    "length of ranks": WORLDS,
    "ranks": "which of them has its turn first is drawn",
    "length of lengths": WORLDS,
    "lengths": "from 0 to 5 numbers, in an order that is drawn",
}
