"""Known wrong answers to sharded_matmul."""

from graders.kata import Mistake

OWN = "blocks = {r: a @ b}…"
STEPS = "for step in range(1, W):"
SENT = "comm.send(b, (r + 1) % W)"
CAME = "b = comm.recv((r - 1) % W)"
KEPT = "blocks[(r - step) % W] = a @ b"
JOINED = "return torch.cat([blocks[rank] for rank in range(W)], 1)"
LOOP = f"    {STEPS}\n        {SENT}\n        {CAME}\n        {KEPT}\n"
ALL = f"    blocks = {{r: a @ b}}…{JOINED}"
GATHERED = """    shards = {r: b}
    for step in range(1, W):
        comm.send(shards[(r - step + 1) % W], (r + 1) % W)
        shards[(r - step) % W] = comm.recv((r - 1) % W)
"""

MISTAKES = (
    Mistake(
        "order_of_arrival",
        "the blocks are joined in the order in which they came, which is right on one rank only; join them in the "
        "order of the ranks",
        {JOINED: "return torch.cat([*blocks.values()], 1)"},
        {JOINED: "return torch.cat([*blocks.values()][::-1], 1)"},
    ),
    Mistake(
        "owners_counted_upwards",
        "each shard is taken for the shard of rank r + 1, r + 2, …; from the left come the shards of r − 1, r − 2, …",
        {KEPT: "blocks[(r + step) % W] = a @ b"},
    ),
    Mistake(
        "one_off",
        "each block is put where its neighbour's belongs; after step s the shard is rank (r − s)'s",
        {OWN: "blocks = {(r - 1) % W: a @ b}", KEPT: "blocks[(r - step - 1) % W] = a @ b"},
        {OWN: "blocks = {(r + 1) % W: a @ b}", KEPT: "blocks[(r - step + 1) % W] = a @ b"},
    ),
    Mistake(
        "hop_too_few",
        {
            STEPS: "for step in range(1, W - 1):",
            JOINED: "return torch.cat([blocks[rank] for rank in sorted(blocks)], 1)",
        },
        {STEPS: "for step in range(1, W - 1):"},
    ),
    Mistake(
        "hop_too_many",
        "there is one step too many, in which the rank's own shard comes back; W ranks take W − 1 steps",
        {STEPS: "for step in range(1, W + 1 if W > 1 else 1):"},
        {STEPS: "for step in range(W):\n        blocks[(r - step + W) % W] = a @ b", KEPT: "pass"},
        {f"{CAME}\n        {KEPT}\n": f"{CAME}\n        {KEPT}\n    if W > 1:\n        comm.send(b, (r + 1) % W)\n"},
    ),
    Mistake(
        "waits_once_more",
        "a rank waits for one message more than its neighbour sends; after W − 1 steps nothing more comes",
        {JOINED: f"b = comm.recv((r - 1) % W)\n    {JOINED}"},
    ),
    Mistake(
        "receives_first",
        {f"{SENT}\n        {CAME}": f"came = comm.recv((r - 1) % W)\n        {SENT}\n        b = came"},
    ),
    Mistake(
        "own_shard_resent",
        "each rank sends its own shard in every step; send what came last",
        {OWN: "own, blocks = b, {r: a @ b}", SENT: "comm.send(own, (r + 1) % W)"},
    ),
    Mistake(
        "all_of_b_gathered",
        "all shards of b are gathered before the first product, so each rank holds all of B; multiply by each shard as "
        "it comes, and let it go",
        {ALL: f"{GATHERED}    return a @ torch.cat([shards[rank] for rank in range(W)], 1)"},
        {ALL: f"{GATHERED}    return torch.cat([a @ shards[rank] for rank in range(W)], 1)"},
        {OWN: "blocks, seen = {r: a @ b}, [b]", CAME: f"{CAME}\n        seen.append(b)"},
    ),
    Mistake(
        "a_passed_on",
        "the rows of A travel, and meet one shard of b only; pass b on",
        {SENT: "comm.send(a, (r + 1) % W)", CAME: "a = comm.recv((r - 1) % W)"},
        {
            SENT: "comm.send(a, (r + 1) % W)",
            CAME: "a = comm.recv((r - 1) % W)",
            JOINED: "return torch.cat([blocks[rank] for rank in range(W)])",
        },
    ),
    Mistake(
        "products_added",
        "the products are added up, as if ranks held parts of K; they are columns of the result, side by side",
        {OWN: "total = a @ b", KEPT: "total = total + a @ b", JOINED: "return total"},
        {OWN: "total = a @ b", KEPT: "total += a @ b", JOINED: "return total"},
    ),
    Mistake(
        "rows_joined",
        "the blocks are joined along the rows; they are columns of the result, so join them along the last axis",
        {JOINED: "return torch.cat([blocks[rank] for rank in range(W)])"},
    ),
    Mistake(
        "own_columns_only",
        "each rank returns its rows of its own columns alone; the other columns need the other shards",
        {JOINED: "return blocks[r]"},
        {LOOP: "", JOINED: "return blocks[r]"},
    ),
    Mistake(
        "equal_widths",
        "all shards are taken to be as wide as the rank's own; a message brings its shape along",
        {
            OWN: "n = b.shape[1]\n    found = a.new_zeros(a.shape[0], W * n)\n    "
            "found[:, r * n : (r + 1) * n] = a @ b",
            KEPT: "owner = (r - step) % W\n        found[:, owner * n : (owner + 1) * n] = a @ b",
            JOINED: "return found",
        },
    ),
    Mistake(
        "empty_shards_not_sent",
        "a shard without numbers is not sent, and the neighbour waits for it; send it all the same",
        {SENT: f"if b.numel():\n            {SENT}"},
    ),
    Mistake(
        "sent_directly",
        "every rank sends its shard to every other rank; send to one neighbour alone, and pass on what comes",
        {
            f"{SENT}\n        {CAME}\n": "comm.send(own, (r + step) % W)\n        b = comm.recv((r - step) % W)\n",
            OWN: "own, blocks = b, {r: a @ b}",
        },
        {
            LOOP: "    for other in range(W):\n        if other != r:\n            comm.send(b, other)\n"
            "    blocks |= {other: a @ comm.recv(other) for other in range(W) if other != r}\n"
        },
    ),
    Mistake(
        "empty_blocks_left_out",
        "blocks without numbers are left out, and a rank without rows then has nothing to join; join all of them",
        {JOINED: "return torch.cat([blocks[rank] for rank in range(W) if blocks[rank].numel()], 1)"},
    ),
    Mistake(
        "over_rank_0",
        "every rank sends its shard to rank 0, which sends all of B to all; pass shards round the ring",
        {
            ALL: """    if r == 0:
        whole = torch.cat([b, *[comm.recv(other) for other in range(1, W)]], 1)
        for other in range(1, W):
            comm.send(whole, other)
    else:
        comm.send(b, 0)
        whole = comm.recv(0)
    return a @ whole"""
        },
    ),
    Mistake(
        "number_sent_along",
        "each shard is announced by a message of its own, with its rank; every rank knows whose shard comes",
        {
            SENT: f"comm.send(torch.tensor(r), (r + 1) % W)\n        {SENT}",
            CAME: f"comm.recv((r - 1) % W)\n        {CAME}",
        },
    ),
    Mistake(
        "column_by_column",
        "a shard is sent column by column; send it in one message",
        {
            SENT: "comm.send(torch.tensor(b.shape[1]), (r + 1) % W)\n        for column in b.mT:\n"
            "            comm.send(column, (r + 1) % W)",
            CAME: "columns = [comm.recv((r - 1) % W) for _ in range(int(comm.recv((r - 1) % W)))]\n"
            "        b = torch.stack(columns, 1) if columns else b[:, :0]",
        },
    ),
    Mistake(
        "b_overwritten",
        "what comes is copied into b, so the caller's shard changes; keep it under another name",
        {CAME: "came = comm.recv((r - 1) % W)\n        b = b.copy_(came) if b.shape == came.shape else came"},
    ),
    Mistake(
        "transposed",
        "a is multiplied by b transposed back and forth, or from the wrong side; the block is a @ b",
        {OWN: "blocks = {r: (b.mT @ a.mT)}", KEPT: "blocks[(r - step) % W] = b.mT @ a.mT"},
    ),
    Mistake(
        "shared_dict",
        "ranks leave their shards in a dict of the module, which another rank has not: each has a copy of its own; "
        "send messages",
        {
            "\n\ndef sharded_matmul": "\n\nshards: dict[int, Tensor] = {}\n\n\ndef sharded_matmul",
            ALL: "    shards[r] = b\n    return torch.cat([a @ shards[rank] for rank in sorted(shards)], 1)",
        },
    ),
)
EQUIVALENT: dict[str, str] = {}
FIXED = {
    "length of ranks": "the numbers of ranks that the contract names",
    "ranks": "which of them has its turn first is drawn",
}
