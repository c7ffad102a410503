"""Known wrong answers to attention_backward."""

from graders.kata import Mistake

FORWARD = "def attention_forward("
SCORES = "(q / math.sqrt(d)) @ k.mT"
FILLED = "scores.masked_fill(~mask, -torch.inf)"
CLEAR = "weights = weights.masked_fill(~mask, 0)"
NOT_CLEARED = {CLEAR: "pass"}
RESULT, CACHE = "return weights @ v, (q, k, v, weights)", "q, k, v, weights = cache"
D_WEIGHTS = "d_weights = grad_output @ v.mT"
D_SCORES = "weights * (d_weights - (weights * d_weights).sum(-1, keepdim=True))"
SCALED = "d_scores = d_scores / math.sqrt(q.shape[-1])"
DQ, DK, DV = "d_scores @ k,", "d_scores.mT @ q", "weights.mT @ grad_output"
DV_FIRST = "dv = torch.matmul(weights.mT, grad_output)"
SUM = "(weights * d_weights).sum(-1, keepdim=True)"
HERE = "d_scores = weights * ("
SCORES_IN_CACHE = {RESULT: f"{RESULT[:-1]}, scores)", CACHE: f"{CACHE[:16]}, scores = cache"}
RAW_SUM = "(raw.softmax(-1) * d_weights).sum(-1, keepdim=True)"
ONE_BY_ROOT = "(1 / torch.tensor(q.shape[-1]).sqrt())"
UNMASKED = {SCORES: f"{SCORES}\n    raw = scores", RESULT: "return weights @ v, (q, k, v, raw.softmax(-1))"}
SOFTMAX = "scores.softmax(-1)"
SHARES = "({0}.exp() / {0}.exp().sum(-1, keepdim=True))"
JACOBIAN = "torch.diag_embed(weights) - weights[..., None] * weights[..., None, :]"
LAST = {
    FORWARD: f"LAST = []\n\n\n{FORWARD}",
    RESULT: "LAST[:] = q, k, v, weights\n    return weights @ v, None",
    CACHE: "q, k, v, weights = LAST",
}
BY_HEAD = """heads = []
    for h in range(q.shape[1]):
        heads.append(d_scores[:, h].mT @ q[:, h])
    return d_scores @ k, torch.stack(heads, dim=1), weights.mT @ grad_output"""
BY_QUERY = """d_scores = torch.empty_like(weights)
    for i in range(q.shape[2]):
        p, dp = weights[:, :, i], d_weights[:, :, i]
        d_scores[:, :, i] = p * (dp - (p * dp).sum(-1, keepdim=True))"""

MISTAKES = (
    Mistake(
        "row_sum_missing",
        "the gradient of the scores is P ∘ dP; each weight depends on all scores of its query, so subtract the sum "
        "over keys of P ∘ dP inside: P ∘ (dP − Σ P ∘ dP)",
        {D_SCORES: "weights * d_weights"},
    ),
    Mistake(
        "row_sum_over_queries",
        "the sum in the gradient of the softmax runs over the queries; it should run over the keys, like the softmax",
        {SUM: SUM.replace("-1", "-2")},
    ),
    Mistake(
        "row_sum_over_everything",
        "one sum is subtracted from all rows of a head or of the batch; each query has its own sum over keys",
        {SUM: "(weights * d_weights).sum((-2, -1), keepdim=True)"},
        {SUM: "(weights * d_weights).sum()"},
    ),
    Mistake(
        "row_sum_without_weights",
        "the sum or mean of dP is subtracted, without the weights; subtract the sum of P ∘ dP",
        {SUM: ["d_weights.sum(-1, keepdim=True)", "d_weights.mean(-1, keepdim=True)"]},
    ),
    Mistake(
        "row_mean",
        "the mean over keys of P ∘ dP is subtracted; subtract the sum",
        {SUM: SUM.replace("sum", "mean")},
    ),
    Mistake(
        "row_sum_outside",
        "the sum over keys is subtracted from P ∘ dP without a factor P; it is P ∘ (dP − sum)",
        {D_SCORES: f"weights * d_weights - {SUM}"},
    ),
    Mistake("row_sum_added", "the sum over keys of P ∘ dP is added; subtract it", {"d_weights - (": "d_weights + ("}),
    Mistake(
        "slope_of_a_sigmoid",
        "the gradient of the softmax is taken as P (1 − P), the diagonal of its Jacobian alone; the other scores of a "
        "query count also: P ∘ (dP − Σ P ∘ dP)",
        {D_SCORES: "weights * (1 - weights) * d_weights"},
    ),
    Mistake(
        "softmax_skipped",
        "the gradient of the weights is taken for the gradient of the scores; go through the softmax between them",
        {D_SCORES: "d_weights"},
    ),
    Mistake(
        "exponential_twice",
        "the weights go through a softmax again in the backward pass; they are the softmax already",
        {CACHE: f"{CACHE}\n    weights = weights.softmax(-1)"},
    ),
    Mistake(
        "scale_missing_in_one",
        "1/√d is missing in the gradient of q or of k; both go through the scores, so both are divided by √d",
        {SCALED: "scaled = d_scores / math.sqrt(q.shape[-1])", DK: "scaled.mT @ q"},
        {SCALED: "scaled = d_scores / math.sqrt(q.shape[-1])", DQ: "scaled @ k,"},
    ),
    Mistake(
        "scale_missing",
        "1/√d is missing in the gradients of q and k; the scores are q kᵀ / √d",
        {SCALED: "pass"},
    ),
    Mistake(
        "scaled_twice",
        "the gradient of q or k is divided by √d twice, for instance since a scaled q was kept; divide once",
        {SCALED: "d_scores = d_scores / q.shape[-1]"},
        {RESULT: "return weights @ v, (q / math.sqrt(d), k, v, weights)"},
        {RESULT: "return weights @ v, (q, k / math.sqrt(d), v, weights)"},
    ),
    Mistake(
        "scale_of_the_values",
        "the backward pass takes its scale from the channels of v; the scores are divided by √d, the channels of q",
        {SCALED: "d_scores = d_scores / math.sqrt(v.shape[-1])"},
    ),
    Mistake(
        "scale_of_the_values_throughout",
        "both passes take their scale from the channels of v; the scores are divided by √d, the channels of q",
        {SCORES: "(q / math.sqrt(v.shape[-1])) @ k.mT", SCALED: "d_scores = d_scores / math.sqrt(v.shape[-1])"},
    ),
    Mistake(
        "scaled_by_d",
        {SCORES: "(q / d) @ k.mT", SCALED: "d_scores = d_scores / q.shape[-1]"},
        {SCORES: "(q / d) @ k.mT"},
    ),
    Mistake("not_scaled", {SCORES: "q @ k.mT", SCALED: "pass"}, {SCORES: "q @ k.mT"}),
    Mistake(
        "float32_root",
        {"math.sqrt(d)": "torch.sqrt(torch.tensor(d))"},
        {"math.sqrt(q.shape[-1])": "torch.sqrt(torch.tensor(q.shape[-1]))"},
        {"math.sqrt(d)": "torch.tensor(d).sqrt()", "math.sqrt(q.shape[-1])": "torch.tensor(q.shape[-1]).sqrt()"},
        {SCORES: f"q @ k.mT * {ONE_BY_ROOT}", SCALED: f"d_scores = d_scores * {ONE_BY_ROOT}"},
    ),
    Mistake(
        "values_gradient_from_scores",
        "the gradient of v is made of the scores; it is Pᵀ dO, with the weights after the softmax",
        {**SCORES_IN_CACHE, DV: "scores.mT @ grad_output"},
        {**SCORES_IN_CACHE, DV: "scores.masked_fill(weights == 0, 0).mT @ grad_output"},
        {DV: "d_weights.mT @ grad_output"},
    ),
    Mistake(
        "values_gradient_not_transposed",
        "the gradient of v is P dO; transpose the weights, since row j of v is used by all queries",
        {DV: "(weights if weights.shape[-1] == weights.shape[-2] else weights.mT) @ grad_output"},
        {DV: "weights @ grad_output"},
    ),
    Mistake(
        "keys_gradient_not_transposed",
        "the gradient of k is dS q; transpose dS, since row j of k is used by all queries",
        {DK: "(d_scores if weights.shape[-1] == weights.shape[-2] else d_scores.mT) @ q"},
        {DK: "d_scores @ q"},
    ),
    Mistake(
        "queries_and_keys_swapped",
        "q and k are swapped in the backward pass: dq is made of k, and dk of q",
        {DQ: "d_scores @ (q if q.shape == k.shape else k),", DK: "d_scores.mT @ (k if q.shape == k.shape else q)"},
        {DQ: "d_scores @ q,", DK: "d_scores.mT @ k"},
    ),
    Mistake(
        "gradients_in_another_order",
        "the gradients come in another order; return dq, dk, dv",
        {"return d_scores @ k, d_scores.mT @ q, weights": "return d_scores.mT @ q, d_scores @ k, weights"},
        {f"{DK}, {DV}": f"{DV}, {DK}"},
    ),
    Mistake(
        "weights_before_the_mask",
        "the cache has weights from before the mask, so hidden keys count in the backward pass; keep the "
        "masked weights",
        UNMASKED,
        {**UNMASKED, RESULT: f"{RESULT[:-1]}, raw)", CACHE: f"{CACHE[:16]}, raw = cache", SUM: RAW_SUM},
    ),
    Mistake(
        "mask_ignored",
        "the mask changes nothing; hide the keys where it is False",
        {FILLED: "scores", CLEAR: "pass"},
    ),
    Mistake(
        "mask_inverted",
        "the mask is read the wrong way round; True is a key that the query sees",
        {FILLED: FILLED.replace("~", "")},
        {FILLED: FILLED.replace("~", ""), CLEAR: CLEAR.replace("~", "")},
        {FILLED: FILLED.replace("~", ""), CLEAR: "weights = weights.nan_to_num()"},
        {FILLED: FILLED.replace("~", ""), **NOT_CLEARED},
    ),
    Mistake("masked_after_softmax", {FILLED: "scores"}),
    Mistake("hidden_by_0", {FILLED: FILLED.replace("-torch.inf", "0")}, {FILLED: "(scores * mask)", **NOT_CLEARED}),
    Mistake(
        "zero_scores_hidden",
        {
            FILLED: "(scores * mask).masked_fill(scores * mask == 0, -torch.inf)",
            CLEAR: "weights = weights.nan_to_num()",
        },
        {FILLED: "(scores * mask).masked_fill(scores * mask == 0, torch.finfo(q.dtype).min)"},
    ),
    Mistake(
        "hidden_by_1e9",
        {FILLED: FILLED.replace("-torch.inf", "-1e9")},
        {FILLED: FILLED.replace("-torch.inf", "-1e9"), **NOT_CLEARED},
        {FILLED: "(scores + ~mask * -1e9)"},
    ),
    Mistake(
        "hidden_by_1e4",
        {FILLED: FILLED.replace("-torch.inf", "-1e4")},
        {FILLED: FILLED.replace("-torch.inf", "-1e4"), **NOT_CLEARED},
        {FILLED: FILLED.replace("-torch.inf", "-1e3")},
    ),
    Mistake(
        "empty_rows_nan",
        "a query that sees no key gets NaN, since the softmax of −∞ alone is 0/0; set its weights to 0",
        NOT_CLEARED,
    ),
    Mistake(
        "empty_rows_nan_in_the_cache",
        "the result is 0 where a query sees no key, but the weights in the cache are NaN there, and NaN · 0 is NaN; "
        "keep weights of 0",
        {**NOT_CLEARED, RESULT: "return weights.nan_to_num() @ v, (q, k, v, weights)"},
    ),
    Mistake(
        "empty_rows_averaged",
        "a query that sees no key gets the mean of all values, as all its scores are equal; give it weights of 0",
        {FILLED: FILLED.replace("-torch.inf", "torch.finfo(scores.dtype).min"), **NOT_CLEARED},
    ),
    Mistake(
        "empty_rows_averaged_in_the_cache",
        "the result is 0 where a query sees no key, but its weights in the cache are not, so it sends gradients to k "
        "and v; keep weights of 0",
        {
            FILLED: FILLED.replace("-torch.inf", "torch.finfo(scores.dtype).min"),
            **NOT_CLEARED,
            RESULT: "return (weights if mask is None else weights * mask) @ v, (q, k, v, weights)",
        },
    ),
    Mistake("softmax_over_queries", {SOFTMAX: "scores.softmax(-2)"}),
    Mistake(
        "maximum_not_subtracted",
        {SOFTMAX: SHARES.format("scores")},
        {SOFTMAX: SHARES.format("scores"), CLEAR: "weights = weights.nan_to_num()"},
    ),
    Mistake(
        "cast_but_not_shifted",
        {SOFTMAX: f"{SHARES.format('scores.double()')}.to(q.dtype)"},
    ),
    Mistake(
        "small_weights_dropped",
        "weights near 0 are dropped or clamped in the backward pass; use them as they are",
        {HERE: "d_scores = weights * (weights > 1e-6) * ("},
        {CACHE: f"{CACHE}\n    weights = weights.clamp(min=1e-6)"},
    ),
    Mistake(
        "cache_used_up",
        "the first backward pass empties the cache, so a second fails; only read it",
        {RESULT: "return weights @ v, [q, k, v, weights]", CACHE: "weights, v, k, q = (cache.pop() for _ in range(4))"},
        {RESULT: "return weights @ v, iter((q, k, v, weights))"},
    ),
    Mistake(
        "cache_modified",
        "a backward pass writes into the cached weights, so the next one starts from other numbers; make a new tensor",
        {CACHE: f"{CACHE}\n    {DV_FIRST}", D_SCORES: f"weights.mul_(d_weights - {SUM})", DV: "dv"},
    ),
    Mistake(
        "state_in_a_global",
        "the forward pass keeps its tensors in a global variable, which the next call overwrites; return them as the "
        "cache",
        LAST,
    ),
    Mistake(
        "sum_by_view",
        "view fails if grad_output is transposed or expanded; use reshape, or its shape as it is",
        {D_WEIGHTS: "d_weights = grad_output.view(-1).view(grad_output.shape) @ v.mT"},
    ),
    Mistake(
        "written_into_grad_output",
        "attention_backward writes into grad_output, which belongs to the caller; make a new tensor",
        {SCALED: f"{SCALED}\n    {DV_FIRST}\n    grad_output.zero_()", DV: "dv"},
    ),
    Mistake(
        "jacobian_of_the_softmax",
        "the T × T Jacobian of the softmax is made for each query; P ∘ (dP − Σ P ∘ dP) needs only S × T",
        {D_SCORES: f"torch.einsum('bhst,bhstu->bhsu', d_weights, {JACOBIAN})"},
        slow=True,
    ),
    Mistake(
        "table_of_products",
        {D_WEIGHTS: "d_weights = (grad_output[..., :, None, :] * v[..., None, :, :]).sum(-1)"},
        {DV: "(weights[..., None] * grad_output[..., None, :]).sum(-3)"},
        {SCORES: "(q[..., :, None, :] * k[..., None, :, :]).sum(-1) / math.sqrt(d)"},
        slow=True,
    ),
    Mistake(
        "head_by_head",
        {f"return {DQ} {DK}, {DV}": BY_HEAD},
        slow=True,
    ),
    Mistake(
        "query_by_query",
        "a loop goes over the queries; * and sum take all of them at once",
        {f"d_scores = {D_SCORES}": BY_QUERY},
        slow=True,
    ),
)

EQUIVALENT: dict[str, str] = {}
