"""Known wrong answers to self_attention."""

from graders.kata import Mistake

PROJECT = "q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)"
SCORES = "(q / math.sqrt(x.shape[-1])) @ k.mT"
WEIGHTS = "torch.softmax(scores, dim=-1)"
RESULT = "weights @ v, weights\n"
ATTEND = f"scores = {SCORES}  # (B, S, S)\n        weights = {WEIGHTS}\n        return {RESULT}"


def guarded_by(eps: str) -> dict[str, str]:
    return {
        WEIGHTS: f"shares / (shares.sum(-1, keepdim=True) + {eps})",
        "        weights =": "        shares = (scores - scores.amax(-1, keepdim=True)).exp()\n        weights =",
    }


MISTAKES = (
    Mistake(
        "not_scaled",
        "the scores are not scaled; divide them by √D",
        {SCORES: "q @ k.mT"},
    ),
    Mistake(
        "scaled_by_length",
        "the scores are divided by √S, the length of the sequence; use √D, the width of a token",
        {SCORES: SCORES.replace("shape[-1]", "shape[1]")},
    ),
    Mistake(
        "scaled_without_root",
        "the scores are divided by D; divide them by its square root",
        {SCORES: "(q / x.shape[-1]) @ k.mT"},
    ),
    Mistake(
        "multiplied_by_the_root",
        "the scores are multiplied by √D; divide them by it",
        {SCORES: SCORES.replace("q /", "q *")},
    ),
    Mistake(
        "scaled_after_the_softmax",
        "the weights are divided by √D in place of the scores; scale before the softmax",
        {SCORES: "q @ k.mT", WEIGHTS: WEIGHTS + " / math.sqrt(x.shape[-1])"},
    ),
    Mistake(
        "scaled_after_the_product",
        "the product of queries and keys is taken before it is divided by √D, which overflows in float16; "
        "divide the queries first",
        {SCORES: "q @ k.mT / math.sqrt(x.shape[-1])"},
    ),
    Mistake(
        "softmax_over_the_queries",
        "the softmax runs over the queries; each query's weights should add up to 1 over the keys, the last axis",
        {WEIGHTS: WEIGHTS.replace("-1", "-2")},
    ),
    Mistake(
        "softmax_over_the_batch",
        "the softmax runs over the batch; it should run over the keys, the last axis",
        {WEIGHTS: WEIGHTS.replace("-1", "0")},
    ),
    Mistake(
        "sigmoid_for_softmax",
        "each score goes through a sigmoid; use a softmax over the keys",
        {WEIGHTS: "torch.sigmoid(scores)"},
    ),
    Mistake(
        "no_max_shift",
        "the softmax is written out without subtracting the largest score, so exp overflows; subtract each row's "
        "maximum, or call torch.softmax",
        {WEIGHTS: "scores.exp() / scores.exp().sum(-1, keepdim=True)"},
    ),
    Mistake(
        "one_maximum_for_all",
        "one maximum is subtracted from the whole batch, so the rows far below it become 0/0; use each row's own",
        {WEIGHTS: "(scores - scores.max()).exp() / (scores - scores.max()).exp().sum(-1, keepdim=True)"},
    ),
    Mistake(
        "sum_guarded_by_eps",
        "a small number such as 1e-8 is added to the sum that the weights are divided by, so they do not add up to 1; "
        "leave it out",
        guarded_by("1e-8"),
        also=(guarded_by("1e-6"), guarded_by("1e-9")),
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
        "keys_and_values_swapped",
        "the scores are made of the values, and the keys are averaged; use Q Kᵀ for the scores and V for the sum",
        {PROJECT: PROJECT.replace("q, k, v", "q, v, k")},
    ),
    Mistake(
        "one_map_for_queries_and_keys",
        "W_q makes the keys too; use W_k for them",
        {PROJECT: PROJECT.replace("W_k", "W_q")},
    ),
    Mistake(
        "values_not_projected",
        "the weights average x itself; average the values, W_v(x)",
        {RESULT: "weights @ x + 0 * v, weights\n"},
        also=({RESULT: "weights @ x, weights\n"},),
    ),
    Mistake(
        "weights_transposed",
        "the values are averaged with the transposed weights; row i of the weights belongs to output i",
        {RESULT: "weights.mT @ v, weights\n"},
    ),
    Mistake(
        "tokens_across_the_batch",
        "tokens attend to tokens of other sequences; attend along S, not along B",
        {
            PROJECT: "x = x.transpose(0, 1)\n        " + PROJECT,
            RESULT: "(weights @ v).transpose(0, 1), weights\n",
        },
    ),
    Mistake(
        "biases_left_out",
        "the biases of the linear maps are left out; call the layers rather than multiply by their weights",
        {PROJECT: "q, k, v = (x @ layer.weight.T for layer in (self.W_q, self.W_k, self.W_v))"},
    ),
    Mistake(
        "matrices_transposed",
        "x is multiplied by the weight of nn.Linear, which is stored transposed; call the layer",
        {PROJECT: "q, k, v = (x @ layer.weight + layer.bias for layer in (self.W_q, self.W_k, self.W_v))"},
    ),
    Mistake(
        "layers_without_bias",
        "the linear maps are made without a bias; leave nn.Linear's default",
        {
            f"W_{name} = nn.Linear(embed_dim, embed_dim)": f"W_{name} = nn.Linear(embed_dim, embed_dim, bias=False)"
            for name in "qkv"
        },
    ),
    Mistake(
        "causal",
        "a token attends only to itself and to those before it; let every token attend to its whole sequence",
        {
            SCORES: "((q / math.sqrt(x.shape[-1])) @ k.mT).masked_fill("
            "torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1), -torch.inf)"
        },
    ),
    Mistake(
        "residual_added",
        "x is added to the output; return the weighted sum alone",
        {RESULT: "x + weights @ v, weights\n"},
    ),
    Mistake(
        "dropout_left_on",
        "dropout changes the weights while the module trains; leave it out",
        {RESULT: "nn.functional.dropout(weights, 0.1, self.training) @ v, weights\n"},
        also=({WEIGHTS: f"nn.functional.dropout({WEIGHTS}, 0.1, self.training)"},),
    ),
    Mistake(
        "only_the_output",
        "the output comes back alone; return the tuple (out, weights)",
        {RESULT: "weights @ v\n"},
    ),
    Mistake(
        "results_swapped",
        "the weights come first; return (out, weights) in this order",
        {RESULT: "weights, weights @ v\n"},
    ),
    Mistake(
        "weights_detached",
        "the returned weights are detached, so a loss on them trains nothing; return them as they are",
        {RESULT: "weights @ v, weights.detach()\n"},
    ),
    Mistake(
        "attention_detached",
        "the weights are detached before the sum, so W_q and W_k learn nothing from the output; leave them attached",
        {RESULT: "weights.detach() @ v, weights\n"},
    ),
    Mistake(
        "keys_detached",
        "the keys are detached, so W_k learns nothing; leave them attached",
        {PROJECT: PROJECT.replace("self.W_k(x)", "self.W_k(x).detach()")},
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
        "weights_in_float32",
        "for float16 and bfloat16 the weights come back as float32; return them in the dtype of x",
        {RESULT: "weights @ v, weights.to(torch.promote_types(x.dtype, torch.float32))\n"},
    ),
    Mistake(
        "input_overwritten",
        "x is changed in place, and it is the caller's tensor; make a new one",
        {RESULT: "weights @ v, weights + 0 * x.detach().mul_(2).mean()\n"},
    ),
    Mistake(
        "calls_the_builtin",
        "torch's own attention does the work; write it by hand",
        {RESULT: "nn.functional.scaled_dot_product_attention(q, k, v), weights\n"},
        also=(
            {
                f"        return {RESULT}": """\
        from torch._higher_order_ops.flex_attention import math_attention
        from torch.nn.attention.flex_attention import _create_empty_block_mask
        q, k, v = q[:, None], k[:, None], v[:, None]
        blocks = _create_empty_block_mask(q, k).as_tuple()
        out = math_attention(q, k, v, lambda score, *_: score, blocks, 1 / math.sqrt(x.shape[-1]), {})[0]
        return out[:, 0], weights
"""
            },
        ),
    ),
    Mistake(
        "calls_the_module",
        "nn.MultiheadAttention with one head does the work; write it by hand",
        {
            PROJECT: "layers = (self.W_q, self.W_k, self.W_v)\n"
            "        module = nn.MultiheadAttention(x.shape[-1], 1, batch_first=True).to(x)",
            f"        scores = {SCORES}  # (B, S, S)\n        weights = {WEIGHTS}\n        return {RESULT}": """\
        packed = torch.cat([layer.weight for layer in layers]), torch.cat([layer.bias for layer in layers])
        module.out_proj.weight.data.copy_(torch.eye(x.shape[-1]))
        del module.in_proj_weight, module.in_proj_bias
        module.in_proj_weight, module.in_proj_bias = packed
        return module(x, x, x)
""",
        },
        also=(
            {
                PROJECT: """\
module = torch.ao.nn.quantizable.MultiheadAttention(x.shape[-1], 1, batch_first=True).to(x)
        module.linear_Q, module.linear_K, module.linear_V = self.W_q, self.W_k, self.W_v
        module.out_proj = nn.Identity()
        return module(x, x, x)""",
                f"        scores = {SCORES}  # (B, S, S)\n        weights = {WEIGHTS}\n        return {RESULT}": "",
            },
        ),
    ),
    Mistake(
        "loop_over_the_sequences",
        "the sequences go through a Python loop, one at a time; @ multiplies the matrices of a whole batch",
        {
            ATTEND: """\
outs, weights = [], []
        for i in range(len(x)):
            scores = (q[i] / math.sqrt(x.shape[-1])) @ k[i].T
            weights.append(torch.softmax(scores, dim=-1))
            outs.append(weights[i] @ v[i])
        return torch.stack(outs), torch.stack(weights)
"""
        },
        also=(
            {
                PROJECT: "outs, weights = [], []",
                ATTEND: """\
for tokens in x:
            q, k, v = self.W_q(tokens), self.W_k(tokens), self.W_v(tokens)
            weights.append(torch.softmax((q / math.sqrt(x.shape[-1])) @ k.T, dim=-1))
            outs.append(weights[-1] @ v)
        return torch.stack(outs), torch.stack(weights)
""",
            },
        ),
        slow=True,
    ),
    Mistake(
        "loop_over_the_queries",
        "the queries go through a Python loop, one at a time; one product Q Kᵀ gives the scores of all",
        {
            SCORES: "torch.cat([(q[:, i : i + 1] / math.sqrt(x.shape[-1])) @ k.mT for i in range(x.shape[1])], 1)",
        },
        slow=True,
    ),
    Mistake(
        "pairs_with_their_features",
        "each query is multiplied by each key before the features are summed, which takes (B, S, S, D); use @",
        {SCORES: "((q / math.sqrt(x.shape[-1]))[:, :, None] * k[:, None]).sum(-1)"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
