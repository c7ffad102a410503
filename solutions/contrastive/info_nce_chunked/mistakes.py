"""Known wrong answers to info_nce, chunk after chunk."""

from graders.kata import Mistake

UNIT = "F.normalize(features, dim=1)"
MASKED = "return logits.scatter(1, anchors[:, None], -torch.inf)"
POSITIVES = "(anchors + rows // 2) % rows"
PLACES = "torch.arange(len(anchors), device=anchors.device)"  # of the rows in their chunk
FORWARD = 'return F.cross_entropy(logits_of(anchors, unit), positives_of(anchors), reduction="none")'
CHUNK = "Losses.apply(chunk, unit)"
PLAIN = 'F.cross_entropy(logits_of(chunk, unit), positives_of(chunk), reduction="none")'
LOSS = f"torch.cat([{CHUNK} for chunk in chunks]).mean()"
FULL = f"torch.cat([unit[:0, 0], *({CHUNK} for chunk in chunks if len(chunk) == {{}})]).sum() / rows"
LOCAL = MASKED.replace("anchors", PLACES)
COSINES = "(unit[chunk] * unit[positives_of(chunk)]).sum(1)"
BELOW_1 = "if chunk_size < 1:"

MISTAKES = (
    Mistake(
        "unshifted_in_half",
        {
            'return F.cross_entropy(logits_of(anchors, unit), positives_of(anchors), reduction="none")': (
                "logits, y = logits_of(anchors, unit), positives_of(anchors)\n"
                "            if unit.element_size() == 2:\n"
                "                e = logits.float().exp()\n"
                "                return -(e.gather(1, y[:, None])[:, 0] / e.sum(1)).log().to(unit.dtype)\n"
                '            return F.cross_entropy(logits, y, reduction="none")'
            ),
        },
    ),
    Mistake(
        "counted_within_the_chunk",
        "the columns of the mask or of the positives are counted from the chunk's first row; count them from row "
        "0, by adding the index of the chunk's first row",
        {MASKED: LOCAL},
        {POSITIVES: POSITIVES.replace("anchors", PLACES)},
        {MASKED: LOCAL, CHUNK: PLAIN},
        {MASKED: LOCAL, CHUNK: f"(logits_of(chunk, unit).logsumexp(1) - {COSINES} / temperature)"},
    ),
    Mistake(
        "candidates_of_the_chunk_alone",
        "each row is compared with the rows of its own chunk and their positives; compare it with all 2N rows",
        {
            MASKED: "seen = torch.cat([anchors, positives_of(anchors)])\n"
            "        logits = logits + torch.full_like(logits, -torch.inf).index_fill(1, seen, 0.0)\n"
            f"        {MASKED}"
        },
    ),
    Mistake(
        "last_rows_lost",
        "a last chunk that is not full is left out; take its rows as well",
        {LOSS: LOSS.replace("in chunks", "in chunks if len(chunk) == min(chunk_size, rows)")},
        *({LOSS: FULL.format(full)} for full in ("chunk_size", "min(chunk_size, rows)")),
    ),
    Mistake(
        "mean_of_means",
        "the means of the chunks are averaged, so a shorter chunk's rows count for more; take one mean of all 2N rows",
        {LOSS: f"torch.stack([{CHUNK}.mean() for chunk in chunks]).mean()"},
    ),
    Mistake(
        "chunk_size_restricted",
        "a chunk_size that does not divide the number of rows, or is larger, is refused; let the last chunk be shorter",
        {BELOW_1: "if chunk_size < 1 or (rows % chunk_size and chunk_size < rows):"},
        {BELOW_1: "if not 1 <= chunk_size <= rows:"},
    ),
    Mistake(
        "room_for_whole_chunks",
        "memory is reserved for full chunks, even if there are fewer rows; reserve it for 2N rows, since chunk_size "
        "may be far larger",
        {".split(chunk_size)": ".split(chunk_size)\n    features.new_empty(len(chunks) * chunk_size)"},
    ),
    Mistake(
        "chunk_size_half_checked",
        "a chunk_size of 0, or a negative one, raises no ValueError; refuse both",
        {BELOW_1: "if chunk_size < 0:"},
    ),
    Mistake(
        "half_of_the_gradient",
        "each row gets a gradient only as an anchor, or only as a candidate; add both parts",
        {"gradient = off.mT @ unit[anchors]": "gradient = torch.zeros_like(unit)"},
        {"gradient[anchors] += off @ unit": "pass"},
        {
            "gradient = off.mT @ unit[anchors]": "gradient = torch.zeros_like(unit)",
            "gradient[anchors] += off @ unit": "gradient[anchors] += 2 * (off @ unit)",
        },
    ),
    Mistake(
        "kept_between_calls",
        "tensors for the backward pass are kept where the next call overwrites them; save them in ctx",
        {
            "ctx.save_for_backward(anchors, unit)": "info_nce.unit = unit\n            ctx.save_for_backward(anchors)",
            "anchors, unit = ctx.saved_tensors": "(anchors,), unit = ctx.saved_tensors, info_nce.unit",
        },
    ),
    Mistake(
        "upstream_ignored",
        "backward ignores its incoming gradient, which is three times as large for 3 · loss; multiply the derivative"
        " of forward's output by it",
        {"upstream[:, None] / temperature": "1 / (rows * temperature)"},
    ),
    Mistake(
        "reentrant_checkpoint",
        "checkpoint is called with use_reentrant=True, which does not work with torch.autograd.grad; pass "
        "use_reentrant=False",
        {
            CHUNK: "torch.utils.checkpoint.checkpoint(\n        lambda chunk, unit: "
            f"{PLAIN}, chunk, unit, use_reentrant=True\n    )"
        },
    ),
    Mistake(
        "chunk_of_the_loop",
        "the backward pass calls a function again after the loop, when the loop's variable holds the last chunk; pass"
        " the chunk to the function as an argument",
        {CHUNK: f"torch.utils.checkpoint.checkpoint(lambda unit: {PLAIN}, unit, use_reentrant=False)"},
    ),
    Mistake("self_not_excluded", {MASKED: "return logits"}),
    Mistake("not_normalised", {UNIT: "features"}),
    Mistake("norms_detached", {UNIT: "features / torch.linalg.vector_norm(features, dim=1, keepdim=True).detach()"}),
    Mistake("mask_float16_cannot_hold", {"-torch.inf": "-9e15"}),
    Mistake(
        "no_max_shift",
        {
            FORWARD: "logits = logits_of(anchors, unit)\n            chosen = logits.gather(1, positives_of(anchors)"
            "[:, None])\n            return logits.exp().sum(1).log() - chosen[:, 0]"
        },
    ),
    Mistake(
        "whole_table",
        "(2N, 2N) numbers or booleans exist at once; make table and mask chunk by chunk, and again in the backward "
        "pass, with torch.utils.checkpoint or an autograd.Function",
        {CHUNK: PLAIN},
        {UNIT: f"{UNIT}\n    table = (unit @ unit.mT / temperature).detach()", "unit[anchors] @ …": "table[anchors]"},
        {
            MASKED: "itself = torch.eye(rows, dtype=torch.bool, device=logits.device)\n"
            "        return logits.masked_fill(itself[anchors], -torch.inf)"
        },
        slow=True,
    ),
    Mistake(
        "other_chunks",
        "chunk_size is used as the number of chunks, or ignored; it should be the number of rows in a chunk",
        {".split(chunk_size)": [".chunk(chunk_size)", ".split(256)"]},
        slow=True,
    ),
)
# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    f"unit = {UNIT} -> unit = F.normalize(features)": "1 is the default of dim in F.normalize",
    f"return {POSITIVES} -> return {POSITIVES.replace('+', '-')}": "N rows further or back is the same row of 2N",
    "chunks = torch.arange(rows, device=features.device).split(chunk_size) -> "
    "chunks = torch.arange(rows).split(chunk_size)": "on the CPU this is the same device; on a GPU it raises",
    "off[torch.arange(len(anchors), device=off.device), positives_of(anchors)] -= 1 -> "
    "off[torch.arange(len(anchors)), positives_of(anchors)] -= 1": "an index on the CPU is right for any device",
}
