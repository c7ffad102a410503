"""Known wrong answers to ring_attention."""

from graders.kata import Mistake

START = "top = q.new_full((*q.shape[:-1], 1), -math.inf)"
ZEROS = "total, out = torch.zeros_like(top), torch.zeros_like(q)"
STEPS = "for step in range(W):\n        if step:"
SENT_K = "comm.send(k, (r + 1) % W)"
SENT_V = "comm.send(v, (r + 1) % W)"
CAME = "k, v = comm.recv((r - 1) % W), comm.recv((r - 1) % W)"
OWNER = "owner = (r - step) % W"
SKIPPED = "if not k.shape[2] or (causal and owner > r):"
SCORES = "scores = q @ k.mT / math.sqrt(d)"
MASKED = "if causal and owner == r:"
LATER = "later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)"
HIGHEST = "highest = torch.maximum(top, scores.amax(-1, keepdim=True))"
EXPONENTIALS = "kept, weights = (top - highest).exp(), (scores - highest).exp()"
TOTAL = "total = kept * total + weights.sum(-1, keepdim=True)"
OUT = "out = kept * out + weights @ v"
RETURNED = "return out / total"
OTHER_WAY = {
    SENT_K: "comm.send(k, (r - 1) % W)",
    SENT_V: "comm.send(v, (r - 1) % W)",
    CAME: "k, v = comm.recv((r + 1) % W), comm.recv((r + 1) % W)",
    OWNER: "owner = (r + step) % W",
}
ALL = f"    {START}…{RETURNED}"
GATHERED = """    blocks = {r: (k, v)}
    for step in range(1, W):
        comm.send(blocks[(r - step + 1) % W][0], (r + 1) % W)
        comm.send(blocks[(r - step + 1) % W][1], (r + 1) % W)
        blocks[(r - step) % W] = comm.recv((r - 1) % W), comm.recv((r - 1) % W)
    keys, values = (torch.cat([blocks[rank][i] for rank in range(W)], 2) for i in range(2))
    first = sum(blocks[rank][0].shape[2] for rank in range(r))
    scores = q @ keys.mT / math.sqrt(d)
    if causal:
        own = first + torch.arange(q.shape[2])
        scores = scores.masked_fill(torch.arange(keys.shape[2]) > own[:, None], -math.inf)
    return torch.softmax(scores, -1) @ values"""
BY_RANK_0 = """    parts = [(q, k, v)]
    if r:
        for one in (q, k, v):
            comm.send(one, 0)
        return comm.recv(0)
    parts += [(comm.recv(rank), comm.recv(rank), comm.recv(rank)) for rank in range(1, W)]
    queries, keys, values = (torch.cat([part[i] for part in parts], 2) for i in range(3))
    scores = queries @ keys.mT / math.sqrt(d)
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
    found = (torch.softmax(scores, -1) @ values).split([part[0].shape[2] for part in parts], 2)
    for rank in range(1, W):
        comm.send(found[rank], rank)
    return found[0].clone()"""
TWO_ROUNDS = """    found, passed = {}, k
    for step in range(W):
        owner = (r - step) % W
        scores = q @ passed.mT / math.sqrt(d)
        if causal and owner == r:
            scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
        found[owner] = torch.full_like(scores, -math.inf) if causal and owner > r else scores
        if step < W - 1:
            comm.send(passed, (r + 1) % W)
            passed = comm.recv((r - 1) % W)
    lengths = [found[rank].shape[-1] for rank in range(W)]
    weights = torch.softmax(torch.cat([found[rank] for rank in range(W)], -1), -1).split(lengths, -1)
    out = torch.zeros_like(q)
    for step in range(W):
        out = out + weights[(r - step) % W] @ v
        if step < W - 1:
            comm.send(v, (r + 1) % W)
            v = comm.recv((r - 1) % W)
    return out"""

MISTAKES = (
    Mistake(
        "sum_not_rescaled",
        "the running sum is not rescaled if the maximum rises; multiply it by exp(old maximum − new maximum)",
        {TOTAL: "total = total + weights.sum(-1, keepdim=True)"},
        {TOTAL: "total = total + weights.sum(-1, keepdim=True)"} | OTHER_WAY,
    ),
    Mistake(
        "output_not_rescaled",
        "the running output is not rescaled if the maximum rises; multiply it by exp(old maximum − new maximum)",
        {OUT: "out = out + weights @ v"},
        {OUT: "out = out + weights @ v"} | OTHER_WAY,
    ),
    Mistake(
        "nothing_rescaled",
        "neither the running sum nor the output is rescaled if the maximum rises, so blocks count by different "
        "measures; multiply both by exp(old maximum − new maximum)",
        {TOTAL: "total = total + weights.sum(-1, keepdim=True)", OUT: "out = out + weights @ v"},
        {TOTAL: "total = total + weights.sum(-1, keepdim=True)", OUT: "out = out + weights @ v"} | OTHER_WAY,
        {
            HIGHEST: "highest = scores.amax(-1, keepdim=True)",
            EXPONENTIALS: "kept, weights = 1, (scores - highest).exp()",
        },
    ),
    Mistake(
        "rescaled_the_wrong_way",
        "the running sum and output are multiplied by exp(new maximum − old maximum); it is exp(old − new), at most 1",
        {EXPONENTIALS: "kept, weights = (highest - top).exp().nan_to_num(posinf=0), (scores - highest).exp()"},
        {EXPONENTIALS: "kept, weights = (highest - top).exp(), (scores - highest).exp()"},
    ),
    Mistake(
        "block_maximum_kept",
        "the maximum of the latest block alone is kept, so an earlier and higher one is lost and the factor can "
        "overflow; keep the larger of both",
        {HIGHEST: "highest = scores.amax(-1, keepdim=True)"},
    ),
    Mistake(
        "last_sum_only",
        "the sum is only the last block's; add the earlier blocks' rescaled sum",
        {TOTAL: "total = weights.sum(-1, keepdim=True)"},
    ),
    Mistake(
        "blocks_averaged",
        "each block has a softmax of its own and the results are averaged; blocks count by the sums of their "
        "exponentials",
        {
            EXPONENTIALS: "weights = torch.softmax(scores, -1)",
            TOTAL: "total = total + 1",
            OUT: "out = out + weights @ v",
        },
    ),
    Mistake(
        "not_divided",
        "the running output is never divided by the running sum; divide once, at the end",
        {RETURNED: "return out"},
    ),
    Mistake(
        "no_maximum",
        "no maximum is subtracted, so exponentials overflow or are all 0; keep a running maximum",
        {HIGHEST: "highest = torch.zeros_like(top)", EXPONENTIALS: "kept, weights = 1, scores.exp()"},
    ),
    Mistake(
        "maximum_from_0",
        "the running maximum starts at 0, so if all scores are far below, all exponentials are 0; start at −∞",
        {START: "top = q.new_zeros((*q.shape[:-1], 1))"},
    ),
    Mistake(
        "every_block_taken_for_its_own",
        "the mask of the rank's own block is put on every block; blocks of earlier ranks are seen whole, and blocks of "
        "later ranks not at all",
        {SKIPPED: "if not k.shape[2]:", MASKED: "if causal:"},
        {MASKED: "if causal:"},
    ),
    Mistake(
        "future_blocks_seen",
        "causal, and blocks of later ranks are seen; leave them out",
        {SKIPPED: "if not k.shape[2]:"},
        {SKIPPED: "if not k.shape[2] or (causal and owner > r + 1):"},
    ),
    Mistake(
        "past_blocks_left_out",
        "causal, and blocks of earlier ranks are left out; later ranks' blocks are to be left out",
        {SKIPPED: "if not k.shape[2] or (causal and owner < r):"},
        {SKIPPED: "if not k.shape[2] or (causal and owner != r):"},
    ),
    Mistake(
        "own_block_unmasked",
        "causal, and a query sees later keys of its own block; hide them there",
        {MASKED: "if False:"},
        {MASKED: "if causal and owner > r:"},
    ),
    Mistake(
        "all_future_is_nan",
        "a block of which all is hidden has a softmax or maximum of −∞ − (−∞), which is NaN; leave such blocks out",
        {
            SKIPPED: "if not k.shape[2]:",
            MASKED: "if causal and owner > r:\n            scores = torch.full_like(scores, -math.inf)\n        "
            f"{MASKED}",
            HIGHEST: "block = scores.amax(-1, keepdim=True)\n        highest = torch.maximum(top, block)",
            EXPONENTIALS: "kept = (top - highest).exp()\n        weights = (scores - block).exp()\n        "
            "weights = weights * (block - highest).exp()",
        },
        {
            SKIPPED: "if not k.shape[2]:",
            MASKED: "if causal and owner > r:\n            scores = torch.full_like(scores, -math.inf)\n        "
            f"{MASKED}",
            EXPONENTIALS: "kept = (top - highest).exp()\n        sums = torch.logsumexp(scores, -1, keepdim=True)\n"
            "        weights = torch.softmax(scores, -1) * (sums - highest).exp()",
        },
    ),
    Mistake(
        "mask_transposed",
        "the mask of its own block hides earlier keys; hide later ones, above the diagonal",
        {LATER: LATER.replace("triu(1)", "tril(-1)")},
    ),
    Mistake("itself_hidden", {LATER: LATER.replace("triu(1)", "triu(0)")}),
    Mistake(
        "owners_counted_upwards",
        "each block is taken for the block of rank r + 1, r + 2, …; from the left come the blocks of r − 1, r − 2, …",
        {OWNER: "owner = (r + step) % W"},
    ),
    Mistake(
        "owner_one_off",
        "each block is taken for its neighbour's, so causal hides the wrong ones; after step s it is rank (r − s)'s",
        {OWNER: "owner = (r - step + 1) % W"},
        {OWNER: "owner = (r - step - 1) % W"},
    ),
    Mistake(
        "hop_too_few",
        {STEPS: STEPS.replace("range(W)", "range(max(W - 1, 1))")},
    ),
    Mistake(
        "hop_too_many",
        "there is one step too many, in which the rank's own block comes back; W ranks take W − 1 steps",
        {STEPS: STEPS.replace("range(W)", "range(W + (W > 1))")},
        {
            RETURNED: f"if W > 1:\n        {SENT_K}\n        {SENT_V}\n        comm.recv((r - 1) % W)\n        "
            f"comm.recv((r - 1) % W)\n    {RETURNED}"
        },
        {RETURNED: f"if W > 1:\n        {SENT_K}\n        {SENT_V}\n    {RETURNED}"},
    ),
    Mistake(
        "keys_and_values_of_different_ranks",
        "keys and values of different ranks meet; both travel the same way, and change in the same step",
        {SENT_V: "comm.send(v, (r - 1) % W)", CAME: "k, v = comm.recv((r - 1) % W), comm.recv((r + 1) % W)"},
        {CAME: "k, _ = comm.recv((r - 1) % W), comm.recv((r - 1) % W)"},
        {CAME: "_, v = comm.recv((r - 1) % W), comm.recv((r - 1) % W)"},
        {f"            {SENT_V}\n": "", CAME: "k = comm.recv((r - 1) % W)"},
    ),
    Mistake(
        "keys_and_values_swapped",
        "keys are received as values; messages of a rank come in the order in which it sent them",
        {CAME: "v, k = comm.recv((r - 1) % W), comm.recv((r - 1) % W)"},
    ),
    Mistake(
        "own_block_resent",
        "each rank sends its own keys in every step; send what came last",
        {
            ZEROS: f"{ZEROS}\n    own = k, v",
            SENT_K: "comm.send(own[0], (r + 1) % W)",
            SENT_V: "comm.send(own[1], (r + 1) % W)",
        },
    ),
    Mistake(
        "receives_first",
        {
            f"{SENT_K}\n            {SENT_V}\n            {CAME}": "came = comm.recv((r - 1) % W), "
            f"comm.recv((r - 1) % W)\n            {SENT_K}\n            {SENT_V}\n            k, v = came"
        },
    ),
    Mistake(
        "stops_at_the_future",
        "causal, and a rank does not pass on the blocks that it does not need, while its neighbour waits; pass them on",
        {
            f"{SKIPPED}\n            continue": "if causal and owner > r:\n            break\n        if not "
            "k.shape[2]:\n            continue"
        },
        {STEPS: "for step in range(W):\n        if step and not (causal and step > r + 1):"},
    ),
    Mistake(
        "empty_blocks_not_sent",
        "a block without keys is not sent, and the neighbour waits for it; send it all the same",
        {f"{SENT_K}\n            {SENT_V}": f"if k.numel():\n                {SENT_K}\n                {SENT_V}"},
    ),
    Mistake(
        "maximum_of_no_keys",
        "the maximum of a block without keys is taken, which raises; leave such blocks out",
        {SKIPPED: "if causal and owner > r:"},
    ),
    Mistake(
        "equal_lengths",
        "all blocks are taken to be as long as the rank's own; a message brings its shape along",
        {
            CAME: "came = comm.recv((r - 1) % W), comm.recv((r - 1) % W)\n            k, v = "
            "torch.empty_like(k).copy_(came[0]), torch.empty_like(v).copy_(came[1])"
        },
    ),
    Mistake("not_scaled", {SCORES: "scores = q @ k.mT"}),
    Mistake("scaled_by_d", {SCORES: "scores = q @ k.mT / d"}),
    Mistake(
        "q_overwritten",
        "q is scaled in place, so the caller's tensor changes; make a new one",
        {START: f"q *= 1 / math.sqrt(d)\n    {START}", SCORES: "scores = q @ k.mT"},
    ),
    Mistake(
        "all_keys_gathered",
        "all keys and values are gathered on every rank; let each block go once its scores are in the running sums",
        {ALL: GATHERED},
        {ZEROS: f"{ZEROS}\n    seen = [(k, v)]", CAME: f"{CAME}\n            seen.append((k, v))"},
    ),
    Mistake(
        "over_rank_0",
        "every rank sends its tokens to rank 0, which computes everything; let blocks of keys travel round the ring",
        {ALL: BY_RANK_0},
    ),
    Mistake(
        "sent_directly",
        "every rank sends its keys to every other rank; send to one neighbour alone, and pass on what comes",
        {
            ZEROS: f"{ZEROS}\n    own = k, v",
            SENT_K: "comm.send(own[0], (r + step) % W)",
            SENT_V: "comm.send(own[1], (r + step) % W)",
            CAME: "k, v = comm.recv((r - step) % W), comm.recv((r - step) % W)",
        },
    ),
    Mistake(
        "scores_kept",
        "keys go round first and values later, and a rank keeps its scores of all keys; let both travel together",
        {ALL: TWO_ROUNDS},
    ),
    Mistake(
        "buffer_kept",
        "the result is a buffer that the next call fills again; make a new tensor in each call",
        {
            "\n\ndef ring_attention": "\n\nbuffers: dict[object, Tensor] = {}\n\n\ndef ring_attention",
            RETURNED: "kept_one = buffers.setdefault((q.shape, q.dtype), torch.empty_like(q))\n    "
            "return kept_one.copy_(out / total)",
        },
    ),
    Mistake(
        "owner_sent_along",
        "each block is announced by a message of its own, with its owner; every rank knows whose block comes",
        {
            SENT_K: f"comm.send(torch.tensor(r), (r + 1) % W)\n            {SENT_K}",
            CAME: f"comm.recv((r - 1) % W)\n            {CAME}",
        },
    ),
    Mistake(
        "shared_dict",
        "ranks leave their keys in a dict of the module, which another rank has not: each has a copy of its own; "
        "send messages",
        {
            "\n\ndef ring_attention": "\n\nblocks: dict[int, tuple[Tensor, Tensor]] = {}\n\n\ndef ring_attention",
            ZEROS: f"{ZEROS}\n    blocks[r] = k, v",
            CAME: "comm.recv((r - 1) % W), comm.recv((r - 1) % W)\n            k, v = blocks[(r - step) % W]",
        },
    ),
)
EQUIVALENT = {
    "top = q.new_full((*q.shape[:-1], 1), -math.inf) -> top = q.new_full((*q.shape[:-0], 1), -math.inf)": "one −∞ for "
    "all queries; the first block's maxima take its place",
    "total, out = (torch.zeros_like(top), torch.zeros_like(q)) -> total, out = (torch.zeros_like(top), q)": "the first "
    "block multiplies it by exp(−∞) = 0",
    "highest = torch.maximum(top, scores.amax(-1, keepdim=True)) -> "
    "highest = torch.maximum(scores.amax(-1, keepdim=True), top)": "the larger of two, in either order",
    "later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1) -> "
    "later = torch.ones(scores.shape[2:], dtype=torch.bool).triu(1)": "of four axes, these are the last two",
    "later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1) -> "
    "later = torch.ones(scores.shape[-3:], dtype=torch.bool).triu(1)": "the same mask for each head",
}
BATCH = "from 1 to 4, and which of them a call has is drawn"
FIXED = {
    "axis 0 of q": BATCH,
    "axis 0 of k": BATCH,
    "axis 0 of v": BATCH,
    "length of ranks": "the numbers of ranks that the contract names",
    "ranks": "which of them has its turn first is drawn",
}
