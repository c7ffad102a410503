"""Known wrong answers to flash_attention."""

from graders.kata import Mistake

FIRST = "highest = q.new_full((*q.shape[:3], 1), -torch.inf)"
FORWARD_LOOP = "for first in range(0, k.shape[2], block_size):"
BACKWARD_LOOP = "for first in range(0, k.shape[2], ctx.block_size):"
HIGHER = "higher = torch.maximum(highest, scores.amax(-1, keepdim=True))"
SHRINK = "shrink = (highest - higher).exp()"
WEIGHTS = "weights = (scores - higher).exp()"
TOTAL = "total = total * shrink + weights.sum(-1, keepdim=True)"
TOTAL_TOO = "total = (total + weights.sum(-1, keepdim=True)) * shrink"
ADDED = "out = out * shrink + weights @ v[:, :, block]"
DIVIDED = "out = out / total"
KEPT = "ctx.save_for_backward(q, k, v, out, highest + total.log())"
TAKEN = "q, k, v, out, log_sum = ctx.saved_tensors"
HIDDEN = "position[block] > position[-Sq:, None]"
FILLED = f"scores.masked_fill({HIDDEN}, -torch.inf)"
SCALED = "(q / math.sqrt(d))"
AGAIN = "weights = (block_scores(q, k, block, ctx.causal) - log_sum).exp()"
EMPTY = "torch.empty_like(k), torch.empty_like(v)"
ZEROS = {EMPTY: EMPTY.replace("empty", "zeros")}
ROW_SUM = "row_sum = (grad_out * out).sum(-1, keepdim=True)"
D_WEIGHTS = "grad_out @ v[:, :, block].mT"
BY_ROOT = " / math.sqrt(q.shape[3])"
GRAD_SCORES = f"grad_scores = weights * ({D_WEIGHTS} - row_sum){BY_ROOT}"
UNSCALED = GRAD_SCORES.removesuffix(BY_ROOT)
GRAD_Q = "grad_q += grad_scores @ k[:, :, block]"
GRAD_K = "grad_k[:, :, block] = grad_scores.mT @ q"
GRAD_V = "grad_v[:, :, block] = weights.mT @ grad_out"
BELOW_1 = "if block_size < 1:"
APPLY = "FlashAttention.apply(q.to(wide), k.to(wide), v.to(wide), causal, block_size)"
ONE_BY_ROOT = "(1 / torch.tensor(q.shape[3]).sqrt())"
WIDE = "wide = torch.promote_types(q.dtype, torch.float32)"
FULL = "for first in range(0, k.shape[2] // {0} * {0}, {0}):"
FULL_OR_ALL = "for first in range(0, k.shape[2] // {0} * {0} or k.shape[2], {0}):"
UP_TO_SQ = "for first in range(0, q.shape[2] if {} else k.shape[2], {}):"
# Whether the block's first key comes after a query's tile of rows, and where that tile begins.
SIZE = "(block.stop - block.start)"
TILE = f"torch.arange(Sq, device=q.device)[:, None] // {SIZE} * {SIZE}"
LOCAL = {
    HIGHER: "local = scores.amax(-1, keepdim=True)\n            higher = torch.maximum(highest, local)",
    WEIGHTS: "weights = (scores - local).exp() * (local - higher).exp()",
}
FORWARD, BACKWARD = f"{FIRST}…{DIVIDED}", f"grad_q, grad_k, grad_v = …{GRAD_K}"
WHOLE_FORWARD = """scores = block_scores(q, k, slice(0, k.shape[2]), causal)
        highest = scores.amax(-1, keepdim=True)
        weights = (scores - highest).exp()
        total = weights.sum(-1, keepdim=True)
        out = weights @ v / total"""
MADE_AGAIN = "(block_scores(q, k, slice(0, k.shape[2]), ctx.causal) - log_sum).exp()"
WHOLE_BACKWARD = f"""{ROW_SUM}
        weights = {MADE_AGAIN}
        grad_scores = weights * (grad_out @ v.mT - row_sum){BY_ROOT}
        grad_q, grad_k, grad_v = grad_scores @ k, grad_scores.mT @ q, weights.mT @ grad_out"""
SAVED = {
    FORWARD: f"{WHOLE_FORWARD}\n        ctx.weights = weights / total",
    BACKWARD: WHOLE_BACKWARD.replace(MADE_AGAIN, "ctx.weights"),
}
BLOCKS_KEPT = {
    FIRST: f"ctx.scores = []\n        {FIRST}",
    HIGHER: f"ctx.scores.append(scores)\n            {HIGHER}",
    AGAIN: "weights = (ctx.scores[first // ctx.block_size] - log_sum).exp()",
}
PLAIN = "block_scores(q.to(wide), k.to(wide), slice(0, Sk), causal)"
PLAIN_BLOCKS = """blocks = [slice(i, i + block_size) for i in range(0, Sk, block_size)]
    parts = [block_scores(q.to(wide), k.to(wide), block, causal) for block in blocks]
    highest = torch.stack([part.detach().amax(-1, keepdim=True) for part in parts]).amax(0)
    total = sum((part - highest).exp().sum(-1, keepdim=True) for part in parts)
    out = sum((part - highest).exp() @ v[:, :, block].to(wide) for part, block in zip(parts, blocks, strict=True))
    return (out / total).to(q.dtype)"""
# Tiles of queries and keys, as FlashAttention-2 has them.
LATER = """torch.arange(j, min(j + size, k.shape[2]), device=q.device) > (
                    torch.arange(i, min(i + size, q.shape[2]), device=q.device)[:, None] + more
                )"""
TILED_FORWARD = f"""results, sums, size, more = [], [], block_size, k.shape[2] - q.shape[2]
        for i in range(0, q.shape[2], size):
            rows = q[:, :, i : i + size] / math.sqrt(q.shape[3])
            highest = rows.new_full((*rows.shape[:3], 1), -torch.inf)
            total, part = torch.zeros_like(highest), rows.new_zeros(*rows.shape[:3], v.shape[3])
            for j in range(0, k.shape[2], size):
                if causal and j > i + rows.shape[2] - 1 + more:
                    continue
                scores = rows @ k[:, :, j : j + size].mT
                if causal:
                    scores = scores.masked_fill({LATER}, -torch.inf)
                higher = torch.maximum(highest, scores.amax(-1, keepdim=True))
                shrink, weights = (highest - higher).exp(), (scores - higher).exp()
                total = total * shrink + weights.sum(-1, keepdim=True)
                part = part * shrink + weights @ v[:, :, j : j + size]
                highest = higher
            results.append(part / total)
            sums.append(highest + total.log())
        out, highest = torch.cat(results, 2), torch.cat(sums, 2)
        total = torch.ones_like(highest)"""
TILED_BACKWARD = f"""grad_q, grad_k, grad_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        {ROW_SUM}
        size, more = ctx.block_size, k.shape[2] - q.shape[2]
        for j in range(0, k.shape[2], size):
            for i in range(0, q.shape[2], size):
                rows, dout = q[:, :, i : i + size] / math.sqrt(q.shape[3]), grad_out[:, :, i : i + size]
                if ctx.causal and j > i + rows.shape[2] - 1 + more:
                    continue
                scores = rows @ k[:, :, j : j + size].mT
                if ctx.causal:
                    scores = scores.masked_fill({LATER}, -torch.inf)
                weights = (scores - log_sum[:, :, i : i + size]).exp()
                grad_v[:, :, j : j + size] += weights.mT @ dout
                grad_scores = weights * (dout @ v[:, :, j : j + size].mT - row_sum[:, :, i : i + size])
                grad_q[:, :, i : i + size] += grad_scores @ k[:, :, j : j + size] / math.sqrt(q.shape[3])
                grad_k[:, :, j : j + size] += grad_scores.mT @ rows"""
DIVIDED_TILE = "part = (part * shrink + weights @ v[:, :, j : j + size]) / total"
SKIPS = "if causal and j > i + rows.shape[2] - 1 + more:"
TILED_LOCAL = (
    TILED_FORWARD.replace(SKIPS, "if False:")
    .replace("torch.maximum(highest, scores.amax(-1, keepdim=True))", "torch.maximum(highest, local)")
    .replace(
        "                higher = ", "                local = scores.amax(-1, keepdim=True)\n                higher = "
    )
    .replace("(scores - higher).exp()", "(scores - local).exp() * (local - higher).exp()")
)
TILED_KEPT = TILED_FORWARD.replace("results, sums", "ctx.scores = {}\n        results, sums").replace(
    "                higher = ", "                ctx.scores[i, j] = scores\n                higher = "
)
FROM_KEPT = "scores = ctx.scores[i, j]"
BY_HEAD = APPLY.replace(".to(wide)", "[:, h : h + 1].to(wide)")
BY_SAMPLE = APPLY.replace(".to(wide)", "[b : b + 1].to(wide)")


def tiled(*edits: tuple[str, str]) -> dict[str, str]:
    """Both passes in tiles, with these edits."""
    forward, backward = TILED_FORWARD, TILED_BACKWARD
    for old, new in edits:
        forward, backward = forward.replace(old, new), backward.replace(old, new)
    return {FORWARD: forward, BACKWARD: backward}


MISTAKES = (
    Mistake(
        "result_not_rescaled",
        "when the maximum grows, the sum of the exponentials is rescaled but the result so far is not; multiply both "
        "by exp(old − new)",
        {ADDED: "out = out + weights @ v[:, :, block]"},
    ),
    Mistake(
        "sum_not_rescaled",
        "when the maximum grows, the result so far is rescaled but the sum of the exponentials is not; multiply both "
        "by exp(old − new)",
        {TOTAL: "total = total + weights.sum(-1, keepdim=True)"},
    ),
    Mistake(
        "nothing_rescaled",
        "when the maximum grows, nothing that was added up under the old one is rescaled; multiply the sum and the "
        "result so far by exp(old − new)",
        {SHRINK: "shrink = torch.ones_like(highest)"},
    ),
    Mistake(
        "rescaled_the_wrong_way",
        "what was added up is multiplied by exp(new − old); when the maximum grows, it shrinks: exp(old − new)",
        {SHRINK: "shrink = (higher - highest).exp()"},
        {SHRINK: "shrink = (higher - highest).exp().nan_to_num(0, 0, 0)"},
        {SHRINK: "shrink = (higher - highest).exp()", FIRST: FIRST.replace("-torch.inf", "torch.finfo(q.dtype).min")},
    ),
    Mistake(
        "sum_of_the_last_block",
        "the sum of the exponentials is the last block's alone; add each block's to the rescaled sum so far",
        {TOTAL: "total = weights.sum(-1, keepdim=True)"},
        tiled(("total = total * shrink + ", "total = ")),
    ),
    Mistake(
        "new_part_rescaled",
        "the block's own part is multiplied by exp(old − new) as well; only what was added up before it needs this",
        {ADDED: "out = (out + weights @ v[:, :, block]) * shrink"},
        {ADDED: "out = (out * shrink + weights @ v[:, :, block]) * shrink"},
        {ADDED: "out = (out + weights @ v[:, :, block]) * shrink", TOTAL: TOTAL_TOO},
    ),
    Mistake(
        "divided_in_every_block",
        "the result is divided by the sum in every block, and added to in the next; divide once, after the last block",
        {ADDED: "out = (out * shrink + weights @ v[:, :, block]) / total", DIVIDED: "pass"},
        {ADDED: "out = (out * shrink + weights @ v[:, :, block]) / total"},
        {ADDED: "out = out * shrink + weights @ v[:, :, block] / total", DIVIDED: "pass"},
        tiled(
            ("part = part * shrink + weights @ v[:, :, j : j + size]", DIVIDED_TILE),
            ("results.append(part / total)", "results.append(part)"),
        ),
    ),
    Mistake(
        "not_divided",
        "the result is not divided by the sum of the exponentials; divide after the last block",
        {DIVIDED: "pass"},
    ),
    Mistake(
        "maximum_of_the_block",
        "a query that sees no key of a block has the maximum −∞ there, and exp(−∞ − (−∞)) is NaN; subtract the running "
        "maximum, which is finite from the first block on",
        LOCAL,
        {FORWARD: TILED_LOCAL, BACKWARD: TILED_BACKWARD},
        {FORWARD: TILED_LOCAL, BACKWARD: TILED_BACKWARD.replace(SKIPS.replace("causal", "ctx.causal"), "if False:")},
    ),
    Mistake(
        "last_block_left_out",
        "a last block that is not full is left out; let it be shorter",
        *(
            {FORWARD_LOOP: full.format("block_size"), BACKWARD_LOOP: full.format("ctx.block_size"), **ZEROS}
            for full in (FULL, FULL_OR_ALL)
        ),
        *({BACKWARD_LOOP: full.format("ctx.block_size"), **ZEROS} for full in (FULL, FULL_OR_ALL)),
    ),
    Mistake(
        "block_size_restricted",
        "a block_size that does not divide a length, or is larger than it, is refused; let a block be shorter",
        *(
            {BELOW_1: f"if block_size < 1 or {more}:"}
            for more in ("block_size > Sk", "block_size > Sq", "Sk % block_size", "Sq % block_size")
        ),
    ),
    Mistake(
        "block_size_half_checked",
        "a negative block_size raises no ValueError; refuse whatever is below 1",
        {BELOW_1: "if block_size == 0:"},
    ),
    Mistake(
        "accumulated_in_half",
        "in half precision, the sum and the result are added up over the blocks in half precision, and from 256 on "
        "bfloat16 cannot count; add up in float32",
        {WIDE: "wide = q.dtype"},
    ),
    Mistake("not_scaled", {SCALED: "q", BY_ROOT: ""}, {SCALED: "q"}),
    Mistake("scaled_by_d", {SCALED: "(q / d)", BY_ROOT: " / q.shape[3]"}, {SCALED: "(q / d)"}),
    Mistake(
        "float32_root",
        {SCALED: "(q / torch.tensor(d).sqrt())"},
        {BY_ROOT: f" * {ONE_BY_ROOT}"},
        {SCALED: "(q / torch.tensor(d).sqrt())", BY_ROOT: f" * {ONE_BY_ROOT}"},
    ),
    Mistake(
        "scale_missing_in_one",
        "1/√d is missing in the gradient of q or of k; both go through the scores, so both are divided by √d",
        {GRAD_SCORES: UNSCALED, GRAD_K: f"grad_k[:, :, block] = grad_scores.mT @ q{BY_ROOT}"},
        {GRAD_SCORES: UNSCALED, GRAD_Q: f"grad_q += grad_scores @ k[:, :, block]{BY_ROOT}"},
    ),
    Mistake(
        "scale_missing",
        "1/√d is missing in the gradients of q and k; the scores are q kᵀ / √d",
        {GRAD_SCORES: UNSCALED},
    ),
    Mistake(
        "scaled_twice",
        "the gradient of q or k is divided by √d twice, for instance since a scaled q was kept; divide once",
        {GRAD_K: f"{GRAD_K}{BY_ROOT}"},
        {GRAD_Q: f"{GRAD_Q}{BY_ROOT}"},
        {GRAD_SCORES: f"{UNSCALED} / q.shape[3]"},
    ),
    Mistake(
        "scale_of_the_values",
        "the backward pass takes its scale from the channels of v; the scores are divided by √d, the channels of q",
        {BY_ROOT: " / math.sqrt(v.shape[3])"},
    ),
    Mistake(
        "scaled_by_dv",
        tiled(("math.sqrt(q.shape[3])", "math.sqrt(v.shape[3])")),
    ),
    Mistake(
        "row_sum_missing",
        "the gradient of the scores is P ∘ dP; subtract each query's D = Σ dO ∘ O inside: P ∘ (dP − D)",
        {GRAD_SCORES: GRAD_SCORES.replace(" - row_sum", "")},
    ),
    Mistake(
        "row_sum_of_the_block",
        "the sum of P ∘ dP that is subtracted runs over the keys of one block; it belongs to all keys: take "
        "D = Σ dO ∘ O, which needs no block",
        {GRAD_SCORES: GRAD_SCORES.replace("row_sum", f"(weights * ({D_WEIGHTS})).sum(-1, keepdim=True)")},
    ),
    Mistake(
        "row_mean",
        "the mean over channels of dO ∘ O is subtracted; subtract the sum",
        {ROW_SUM: ROW_SUM.replace("sum(-1", "mean(-1")},
    ),
    Mistake(
        "row_sum_outside",
        "D is subtracted from P ∘ dP without a factor P; it is P ∘ (dP − D)",
        {GRAD_SCORES: f"grad_scores = (weights * ({D_WEIGHTS}) - row_sum){BY_ROOT}"},
    ),
    Mistake("row_sum_added", "D = Σ dO ∘ O is added to dP; subtract it", {" - row_sum": " + row_sum"}),
    Mistake(
        "row_sum_over_queries",
        "D is summed over the queries; each query has its own D, the sum over channels of dO ∘ O",
        {ROW_SUM: "row_sum = (grad_out * out).sum(-2, keepdim=True).sum(-1, keepdim=True)"},
        {ROW_SUM: "row_sum = (grad_out * out).sum()"},
    ),
    Mistake(
        "sum_forgotten_in_backward",
        "backward subtracts only the maximum or only the logarithm of the sum, so its weights do not add up to 1; keep "
        "the maximum plus the logarithm of the sum",
        {KEPT: KEPT.replace("highest + total.log()", "highest")},
        {KEPT: KEPT.replace("highest + total.log()", "total.log()")},
        {KEPT: KEPT.replace("total.log()", "total")},
    ),
    Mistake(
        "softmax_of_the_block",
        "backward takes a softmax over the keys of each block; the weights belong to all keys: exp(s − L), with the "
        "log-sum-exp L of the whole row",
        {AGAIN: "weights = block_scores(q, k, block, ctx.causal).softmax(-1)"},
        {AGAIN: "weights = block_scores(q, k, block, ctx.causal).softmax(-1).nan_to_num()"},
    ),
    Mistake(
        "weights_of_another_block",
        "the gradient of v is made of another block's weights; make the weights of each block anew before "
        "its gradients",
        {
            BACKWARD_LOOP: f"before = None\n        {BACKWARD_LOOP}",
            GRAD_V: "before = weights if before is None else before\n"
            "            grad_v[:, :, block] = before[..., : weights.shape[3]].mT @ grad_out",
        },
        {
            BACKWARD_LOOP: f"before = None\n        {BACKWARD_LOOP}",
            GRAD_V: "before = weights if before is None else before\n"
            "            grad_v[:, :, block] = before[..., : weights.shape[3]].mT @ grad_out\n"
            "            before = weights",
        },
    ),
    Mistake(
        "values_gradient_from_scores",
        "the gradient of v is made of the scores; it is Pᵀ dO, with the weights P",
        {GRAD_V: "grad_v[:, :, block] = block_scores(q, k, block, False).mT @ grad_out"},
        {GRAD_V: "grad_v[:, :, block] = block_scores(q, k, block, ctx.causal).exp().mT @ grad_out"},
    ),
    Mistake(
        "queries_gradient_overwritten",
        "each block overwrites the gradient of q; all blocks add to it",
        {GRAD_Q: GRAD_Q.replace("+=", "=")},
        tiled(("grad_q[:, :, i : i + size] +=", "grad_q[:, :, i : i + size] =")),
    ),
    Mistake(
        "keys_gradient_overwritten",
        "each block of queries overwrites the gradient of k or v; all blocks add to it",
        tiled(("grad_k[:, :, j : j + size] +=", "grad_k[:, :, j : j + size] =")),
        tiled(("grad_v[:, :, j : j + size] +=", "grad_v[:, :, j : j + size] =")),
        tiled((", j : j + size] += ", ", j : j + size] = ")),
    ),
    Mistake(
        "backward_not_masked",
        "backward does not hide later keys when it makes the weights again; hide them as in forward",
        {AGAIN: AGAIN.replace("ctx.causal", "False")},
        tiled(("                if ctx.causal:\n", "                if False:\n")),
    ),
    Mistake(
        "future_seen",
        "causal changes nothing, and every query sees all later keys; hide those with j > i + Sk − Sq",
        {FILLED: "scores"},
    ),
    Mistake(
        "top_left",
        "with fewer queries than keys, query 0 sees only key 0; the queries are the last positions, so shift the "
        "diagonal by Sk − Sq",
        {HIDDEN: "position[block] > position[:Sq, None]"},
    ),
    Mistake(
        "shifted_the_wrong_way",
        "the diagonal is shifted by Sq − Sk, so the first queries see no key; shift it by Sk − Sq",
        {HIDDEN: "position[block] > position[:Sq, None] + Sq - k.shape[2]"},
        tiled(("k.shape[2] - q.shape[2]", "q.shape[2] - k.shape[2]")),
    ),
    Mistake(
        "itself_hidden",
        {HIDDEN: HIDDEN.replace(">", ">=")},
        tiled((LATER, LATER.replace(") > (", ") >= ("))),
        {FILLED: FILLED.replace(">", ">=").replace("-torch.inf", "torch.finfo(q.dtype).min")},
    ),
    Mistake(
        "next_token_seen",
        "a query also sees the key right after its own position; it should see j ≤ i + Sk − Sq and no more",
        {HIDDEN: f"{HIDDEN} + 1"},
        tiled((LATER, LATER.replace("+ more", "+ more + 1"))),
    ),
    Mistake(
        "positions_in_the_block",
        "the positions of keys are counted from the block's first key; count them from key 0",
        {HIDDEN: "position[: scores.shape[3]] > position[-Sq:, None]"},
        {HIDDEN: "position[: scores.shape[3]] > position[:Sq, None]"},
    ),
    Mistake(
        "blocks_skipped_by_top_left",
        "blocks of keys are skipped as if Sk were Sq, although some of their keys are seen; a block lies in the future "
        "if its first key comes after the last query's position, i + Sk − Sq",
        {HIDDEN: f"({HIDDEN}) | (block.start > ({TILE} + {SIZE}).clamp(max=Sq) - 1)"},
        {
            FORWARD_LOOP: UP_TO_SQ.format("causal", "block_size"),
            BACKWARD_LOOP: UP_TO_SQ.format("ctx.causal", "ctx.block_size"),
        }
        | ZEROS,
    ),
    Mistake(
        "blocks_on_the_diagonal_skipped",
        "a block of keys is skipped if its first key comes after a tile's first query; later queries of the tile see "
        "some of its keys, so compare with the last one",
        {HIDDEN: f"({HIDDEN}) | (block.start > {TILE} + k.shape[2] - Sq)"},
    ),
    Mistake(
        "maximum_floored",
        *({FIRST: FIRST.replace("-torch.inf", low)} for low in ("0.0", "-1e4", "-1e9")),
        {one: one.replace("-torch.inf", "-1e10") for one in (FIRST, FILLED)},
    ),
    Mistake(
        "maximum_not_subtracted",
        {FIRST: FIRST.replace("-torch.inf", "0.0"), HIGHER: "higher = highest"},
    ),
    Mistake("hidden_by_1e9", {FILLED: FILLED.replace("-torch.inf", "-1e9")}),
    Mistake("hidden_by_1e4", {FILLED: [FILLED.replace("-torch.inf", low) for low in ("-1e4", "-65504.0")]}),
    Mistake("hidden_by_0", {FILLED: FILLED.replace("-torch.inf", "0.0")}),
    Mistake(
        "eps_in_the_sum",
        {DIVIDED: [f"out = out / (total + {eps})" for eps in ("1e-6", "1e-8")]},
    ),
    Mistake(
        "kept_on_the_class",
        "what backward needs is kept on the class or in a global variable, which the next call overwrites; use "
        "ctx.save_for_backward",
        {
            KEPT: "FlashAttention.kept = q, k, v, out, highest + total.log()",
            TAKEN: "q, k, v, out, log_sum = FlashAttention.kept",
        },
    ),
    Mistake(
        "gradients_in_another_order",
        "the gradients come in another order; return dq, dk, dv",
        {"return grad_q, grad_k, grad_v,": "return grad_k, grad_q, grad_v,"},
        {"return grad_q, grad_k, grad_v,": "return grad_q, grad_v, grad_k,"},
    ),
    Mistake(
        "result_like_q",
        "the result is made in the shape of q, with d channels; it has dv, the channels of v",
        {"q.new_zeros(*q.shape[:3], v.shape[3])": "torch.zeros_like(q)"},
    ),
    Mistake(
        "more_queries_refused",
        "more queries than keys are refused without causal; they are only wrong with it",
        {"if causal and Sq > Sk:": "if Sq > Sk:"},
    ),
    Mistake(
        "weights_without_gradient",
        "the gradient of q or k is left out; both get one, through the scores",
        {GRAD_Q: "pass"},
        {GRAD_K: "grad_k[:, :, block] = 0"},
    ),
    Mistake(
        "function_not_applied",
        "autograd goes through the operators of flash_attention; let q, k and v go into FlashAttention.apply, and "
        "write its backward",
        {f"return {APPLY}.to(q.dtype)": f"return ({PLAIN}.softmax(-1) @ v.to(wide)).to(q.dtype)"},
        {f"return {APPLY}.to(q.dtype)": PLAIN_BLOCKS},
    ),
    Mistake(
        "whole_table",
        "S × S scores or weights are made at once, in forward or in backward, or are kept for backward; take one block "
        "at a time, keep the result and the log-sum-exps, and make the weights of each block anew",
        {FORWARD: WHOLE_FORWARD, BACKWARD: WHOLE_BACKWARD},
        {BACKWARD: WHOLE_BACKWARD},
        {FORWARD: WHOLE_FORWARD},
        {FORWARD: TILED_FORWARD, BACKWARD: WHOLE_BACKWARD},
        {FORWARD: WHOLE_FORWARD, BACKWARD: TILED_BACKWARD},
        SAVED,
        BLOCKS_KEPT,
        {FORWARD: TILED_KEPT, BACKWARD: TILED_BACKWARD.replace("scores = rows @ k[:, :, j : j + size].mT", FROM_KEPT)},
        slow=True,
    ),
    Mistake(
        "table_of_products",
        {f"{SCALED} @ k[:, :, block].mT": f"({SCALED}[..., None, :] * k[:, :, None, block]).sum(-1)"},
        slow=True,
    ),
    Mistake(
        "head_by_head",
        {APPLY: f"torch.cat([{BY_HEAD} for h in range(H)], 1)"},
        {APPLY: f"torch.cat([{BY_HEAD} for h in range(H)], 1)"} | tiled(),
        slow=True,
    ),
    Mistake(
        "sample_by_sample",
        "a loop takes one sample of the batch at a time; @ multiplies all matrices of a batch",
        {APPLY: f"torch.cat([{BY_SAMPLE} for b in range(B)])"},
        {APPLY: f"torch.cat([{BY_SAMPLE} for b in range(B)])"} | tiled(),
        slow=True,
    ),
    Mistake(
        "number_of_blocks",
        "block_size is taken for the number of blocks; it is the number of keys in a block",
        {APPLY: APPLY.replace("block_size", "-(-Sk // block_size)")},
        slow=True,
    ),
    Mistake(
        "key_by_key",
        "keys are taken one at a time, whatever block_size is; take a whole block at once",
        {APPLY: APPLY.replace("block_size", "1")},
        slow=True,
    ),
)

POSITION = "position = torch.arange(k.shape[2], device=q.device)"
# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"{BELOW_1} -> if block_size < 0:": "range refuses a step of 0 by a ValueError of its own",
    f"{WIDE} -> wide = torch.promote_types(torch.float32, q.dtype)": "the order of the two does not matter",
    f"{HIGHER} -> higher = torch.maximum(scores.amax(-1, keepdim=True), highest)": (
        "the order of the two does not matter"
    ),
    f"{POSITION} -> {POSITION.replace(', device=q.device', '')}": (
        "on the CPU the positions are made on the device of q anyway; on a GPU the call raises"
    ),
}
