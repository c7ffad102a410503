"""Known wrong answers to self_attention."""

from graders.kata import Mistake

PROJECT = "q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)"
SCORES = "(q / math.sqrt(x.shape[-1])) @ k.mT"
WEIGHTS = "torch.softmax(scores, dim=-1)"
RESULT = "weights @ v, weights\n"
EPS = "shares / (shares.sum(-1, keepdim=True) + {})"
SHARES = {"        weights =": "        shares = (scores - scores.amax(-1, keepdim=True)).exp()\n        weights ="}
SHARES_OF_MAX = {
    old: new.replace("amax(-1, keepdim=True)", "max(-1, keepdim=True).values") for old, new in SHARES.items()
}
AVERAGED_FIRST = "weights @ (v - self.W_v.bias) + self.W_v.bias, weights\n"
IN_FLOAT32 = "(lambda e: e / e.sum(-1, keepdim=True))(scores.float().exp())"

MISTAKES = (
    Mistake("not_scaled", "the scores are not scaled; divide the queries by √D", {SCORES: "q @ k.mT"}),
    Mistake(
        "scaled_by_length",
        "the scores are divided by √S, with the length S of the sequence; use √D, with the width D of a token",
        {SCORES: SCORES.replace("shape[-1]", "shape[1]")},
    ),
    Mistake(
        "scaled_without_root",
        "the scores are divided by D; divide them by √D",
        {SCORES: "(q / x.shape[-1]) @ k.mT"},
    ),
    Mistake(
        "multiplied_by_the_root",
        "the scores are multiplied by √D; divide them by √D",
        {SCORES: "(q * math.sqrt(x.shape[-1])) @ k.mT"},
    ),
    Mistake(
        "keys_reshaped",
        "the keys are reshaped to (B, D, S), which mixes tokens and channels; transpose them",
        {SCORES: SCORES.replace("k.mT", "k.reshape(k.mT.shape)")},
    ),
    Mistake(
        "scaled_after_the_product",
        "the product of queries and keys overflows in float16 before it is divided by √D; divide the queries first",
        {SCORES: ["q @ k.mT / math.sqrt(x.shape[-1])", "(q @ k.mT).nan_to_num() / math.sqrt(x.shape[-1])"]},
    ),
    Mistake(
        "scaled_after_the_softmax",
        "the weights are divided by √D, so they do not add up to 1; divide the queries, before the softmax",
        {SCORES: "q @ k.mT", WEIGHTS: f"{WEIGHTS} / math.sqrt(x.shape[-1])"},
    ),
    Mistake(
        "weights_transposed",
        "the values are multiplied by the transposed weights; use weights @ v",
        {RESULT: "weights.mT @ v, weights\n"},
    ),
    Mistake(
        "softmax_over_the_queries",
        "the softmax runs over the queries; each query's weights should add up to 1 over the keys, the last axis",
        {WEIGHTS: WEIGHTS.replace("-1", "-2")},
        *({WEIGHTS: "shares / shares.sum(-2, keepdim=True)", **one} for one in (SHARES, SHARES_OF_MAX)),
    ),
    Mistake(
        "divided_by_other_sums",
        "each row of exponentials is divided by the sum of a column; divide it by its own sum, over the keys, the last "
        "axis",
        *({WEIGHTS: "shares / shares.sum(-2).unsqueeze(-1)", **one} for one in (SHARES, SHARES_OF_MAX)),
    ),
    Mistake(
        "softmax_over_the_batch",
        "the softmax runs over the sequences, or over all scores of a sequence; each query's weights should add up to "
        "1 over the keys, the last axis",
        {WEIGHTS: WEIGHTS.replace("-1", "0")},
        {WEIGHTS: "torch.softmax(scores.flatten(1), dim=-1).view_as(scores)"},
    ),
    Mistake(
        "no_max_shift",
        "no maximum is subtracted, or the same one from all rows: exp overflows, or a row of lower scores becomes "
        "0/0; subtract each row's own maximum, or call torch.softmax",
        {WEIGHTS: "scores.exp() / scores.exp().sum(-1, keepdim=True)"},
        {WEIGHTS: "(scores - scores.max()).exp() / (scores - scores.max()).exp().sum(-1, keepdim=True)"},
    ),
    Mistake(
        "cast_but_not_shifted",
        "half precision is cast to float32 and no maximum is subtracted, but exp also overflows in float32, from 89 "
        "on; subtract each row's maximum in every dtype, or call torch.softmax",
        {WEIGHTS: f"{IN_FLOAT32}.to(x.dtype) if x.dtype.itemsize < 4 else {WEIGHTS}"},
    ),
    Mistake(
        "scores_clamped",
        "the scores are clamped to the range of float16, so that those beyond it count alike; leave them as they are: "
        "the softmax subtracts each row's maximum",
        {WEIGHTS: WEIGHTS.replace("scores", "scores.clamp(-65504, 65504)")},
    ),
    Mistake(
        "eps_in_the_sum",
        {WEIGHTS: EPS.format("1e-8"), **SHARES},
        {WEIGHTS: EPS.format("1e-6"), **SHARES},
        {WEIGHTS: EPS.format("1e-9"), **SHARES},
        {WEIGHTS: EPS.format("1e-6"), **SHARES, RESULT: AVERAGED_FIRST},
    ),
    Mistake(
        "scores_returned",
        "the scores are returned in place of the weights; return what the softmax gives",
        {RESULT: "weights @ v, scores\n"},
    ),
    Mistake(
        "queries_and_keys_swapped",
        "queries and keys have changed places, so the scores are transposed; use Q Kᵀ",
        {PROJECT: PROJECT.replace("q, k, v", "k, q, v")},
    ),
    Mistake(
        "one_map_for_two",
        "one linear map serves for two of Q, K and V; queries, keys and values each have a map of their own",
        *({PROJECT: PROJECT.replace(*one)} for one in (("W_k", "W_q"), ("W_q", "W_k"), ("W_v", "W_k"), ("W_v", "W_q"))),
    ),
    Mistake(
        "channels_in_threes",
        "one map makes Q, K and V, and its channels are dealt out in turn, as (D, 3); the first D belong to Q, the "
        "next D to K, the last D to V",
        {PROJECT: f"q, k, v = torch.cat([{PROJECT[10:]}], -1).unflatten(-1, (-1, 3)).unbind(-1)"},
    ),
    Mistake(
        "biases_left_out",
        "x is multiplied only by the weights of the linear maps; call the layers, which also add their biases",
        {PROJECT: "q, k, v = (x @ layer.weight.T for layer in (self.W_q, self.W_k, self.W_v))"},
    ),
    Mistake(
        "residual",
        "x is added to the weighted values; out holds the weighted values alone",
        {RESULT: "x + weights @ v, weights\n"},
    ),
    Mistake(
        "values_not_projected",
        "the weights average x itself; average the values, W_v(x)",
        {RESULT: ["weights @ x + 0 * v, weights\n", "weights @ x, weights\n"]},
    ),
    Mistake(
        "tokens_across_the_batch",
        "tokens attend to tokens of other sequences; attend along S, not along B",
        {PROJECT: "x = x.transpose(0, 1)\n        " + PROJECT, RESULT: "(weights @ v).transpose(0, 1), weights\n"},
    ),
    Mistake(
        "matrices_transposed",
        "x is multiplied by the weight of nn.Linear, which is stored transposed; call the layer",
        {PROJECT: "q, k, v = (x @ layer.weight + layer.bias for layer in (self.W_q, self.W_k, self.W_v))"},
    ),
    Mistake(
        "causal",
        "a token attends only to itself and to earlier tokens; let every token attend to its whole sequence",
        {WEIGHTS: WEIGHTS.replace("scores", "scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf)")},
    ),
    Mistake(
        "zeros_taken_for_padding",
        "tokens of zeros are left out as if they were padding; there is no mask, so treat them like any other token",
        {WEIGHTS: WEIGHTS.replace("scores", "scores.masked_fill((x == 0).all(-1)[:, None], torch.finfo(x.dtype).min)")},
    ),
    Mistake(
        "dropout_left_on",
        {RESULT: "nn.functional.dropout(weights, 0.1, self.training) @ v, weights\n"},
        {WEIGHTS: f"nn.functional.dropout({WEIGHTS}, 0.1, self.training)"},
    ),
    Mistake(
        "only_the_output", "only the output comes back; return the tuple (out, weights)", {RESULT: "weights @ v\n"}
    ),
    Mistake(
        "results_swapped",
        "the weights come first in the tuple; return (out, weights)",
        {RESULT: "weights, weights @ v\n"},
    ),
    Mistake(
        "weights_detached",
        "the returned weights are detached, so a loss on them trains nothing; return them as they are",
        {RESULT: "weights @ v, weights.detach()\n"},
    ),
    Mistake(
        "attention_detached",
        "the weights are detached before they multiply the values, so W_q and W_k learn nothing from the output; do "
        "not detach",
        {RESULT: "weights.detach() @ v, weights\n"},
    ),
    Mistake(
        "float32_inside",
        "the softmax is taken in float32 even for float64 inputs; keep float64",
        {WEIGHTS: "torch.softmax(scores, dim=-1, dtype=torch.float32).to(x.dtype)"},
    ),
    Mistake(
        "float32_root",
        "√D is a float32 tensor, so float64 results are no better than float32; use math.sqrt or ** 0.5",
        {SCORES: SCORES.replace("math.sqrt(x.shape[-1])", "torch.sqrt(torch.tensor(x.shape[-1]))")},
    ),
    Mistake(
        "loop_over_the_sequences",
        "the sequences go through a Python loop, one at a time; @ multiplies the matrices of a whole batch",
        {
            SCORES: "torch.stack([(q[i] / math.sqrt(x.shape[-1])) @ k[i].T for i in range(len(x))])",
            RESULT: "torch.stack([weights[i] @ v[i] for i in range(len(x))]), weights\n",
        },
        slow=True,
    ),
    Mistake(
        "loop_over_the_queries",
        "the queries go through a Python loop, one at a time; one product Q Kᵀ gives the scores of all",
        {SCORES: "torch.cat([(q[:, i : i + 1] / math.sqrt(x.shape[-1])) @ k.mT for i in range(x.shape[1])], 1)"},
        slow=True,
    ),
    Mistake(
        "pairs_with_their_features",
        "each query is multiplied by each key before the features are summed, which makes a tensor of (B, S, S, D); "
        "use @",
        {SCORES: "((q / math.sqrt(x.shape[-1]))[:, :, None] * k[:, None]).sum(-1)"},
        slow=True,
    ),
    Mistake(
        "all_tokens_of_the_batch_at_once",
        "every token is scored against all tokens of the batch, in a table of (B·S)²; keep the axis of the batch, so "
        "that @ multiplies only tokens of one sequence",
        {
            SCORES: "((q / math.sqrt(x.shape[-1])).flatten(0, 1) @ k.flatten(0, 1).T)"
            ".unflatten(0, x.shape[:2]).unflatten(2, x.shape[:2]).diagonal(dim1=0, dim2=2).movedim(-1, 0)"
        },
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    "builtin.py runs safe_softmax": "a softmax, which is allowed, that gives 0 where all is blocked",
}
