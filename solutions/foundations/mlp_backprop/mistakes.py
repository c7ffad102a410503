"""Known wrong answers to mlp_backprop."""

from graders.kata import Mistake

RESULT = "return logits, (x, hidden, w2)"
CACHE = "x, hidden, w2 = cache"
P, Y = "torch.softmax(logits, dim=1)", "F.one_hot(target, C)"
D_LOGITS = f"({P} - {Y}) / N"
MASK = "(hidden > 0)"
FILLED = {f"d_hidden * {MASK}": "d_hidden.masked_fill(hidden <= 0, 0)"}  # a NaN at a closed unit becomes 0
W1, B1 = "x.mT @ d_pre", "d_pre.sum(dim=0)"
W2, B2 = "hidden.mT @ d_logits", "d_logits.sum(dim=0)"
KEPT_1, KEPT_2 = (one.replace("=0", "=0, keepdim=True") for one in (B1, B2))
MEANS = {B1: "d_pre.mean(dim=0)", B2: "d_logits.mean(dim=0)"}
AGAIN = {W1: f"{W1} / N", W2: f"{W2} / N"}
SHARES = "(lambda e: e / e.sum(dim=1, keepdim=True))({}.exp())"
LAST = 'LAST["x"], LAST["hidden"], LAST["w2"]'
POPPED = 'cache.pop("x"), cache.pop("hidden"), cache.pop("w2")'

OUTER_1 = {W1: "(x[:, :, None] * d_pre[:, None]).sum(dim=0)"}
OUTER_2 = {W2: "(hidden[:, :, None] * d_logits[:, None]).sum(dim=0)"}

MISTAKES = (
    Mistake(
        "small_shares_dropped",
        "logits, probabilities or gradients are clamped, or set to 0 where they are nearly 0; use softmax as it is",
        {"    d_hidden = ": "    d_logits = d_logits * ((d_logits * N).abs() > 1e-6)\n    d_hidden = "},
        {"torch.softmax(logits, dim=1)": "torch.softmax(logits, dim=1).clamp(1e-7, 1 - 1e-7)"},
        {"torch.softmax(logits, dim=1)": "torch.softmax(logits.clamp(-30, 30), dim=1)"},
    ),
    Mistake(
        "bias_not_summed",
        "the bias gradients keep the axis of the batch; every row uses the same bias, so sum over the rows",
        {B1: "d_pre", B2: "d_logits"},
        {B1: "d_pre"},
        {B2: "d_logits"},
    ),
    Mistake(
        "bias_with_an_axis_of_length_1",
        "the bias gradients keep an axis of length 1, as by keepdim; each should be shaped like its bias",
        {B1: KEPT_1, B2: KEPT_2},
        {B1: KEPT_1},
        {B2: KEPT_2},
    ),
    Mistake(
        "no_mean", "the sum of the losses is differentiated; divide the gradients by N, for the mean", {" / N": ""}
    ),
    Mistake(
        "divided_twice",
        "some gradients are divided by N twice; divide only once, for instance in the gradient of the logits",
        MEANS,
        AGAIN,
        {W1: f"{W1} / N", B1: MEANS[B1]},
        {W2: f"{W2} / N", B2: MEANS[B2]},
        {**MEANS, **AGAIN},
    ),
    Mistake(
        "one_hot_missing",
        "the gradient of the logits is softmax / N; subtract the one-hot rows of the targets from the softmax",
        {D_LOGITS: f"{P} / N"},
    ),
    Mistake(
        "one_hot_of_all_rows",
        "in every row 1 is subtracted at the targets of all rows, as p[:, target] -= 1 does; subtract it only at the "
        "row's own target, p[torch.arange(N), target]",
        {Y: f"{Y}.amax(dim=0)"},
    ),
    Mistake(
        "softmax_differentiated_again",
        "softmax minus one-hot is sent through the Jacobian of softmax; it is the gradient of the logits already, "
        "so use it as it is",
        {
            f"d_logits = {D_LOGITS}": f"p = {P}\n    d_p = (p - {Y}) / N\n"
            "    d_logits = p * (d_p - (p * d_p).sum(dim=1, keepdim=True))"
        },
    ),
    Mistake(
        "logarithm_in_the_gradient",
        "log_softmax stands in the gradient of the logits; it should be softmax minus one-hot, divided by N",
        {P: "torch.log_softmax(logits, dim=1)"},
    ),
    Mistake(
        "w2_before_the_relu",
        "the gradient of w2 is taken from x w1 + b1; take it from the output of the ReLU",
        {
            "    hidden = …": "    a = x @ w1 + b1\n    hidden = torch.relu(a)",
            RESULT: RESULT.replace("w2", "w2, a"),
            CACHE: CACHE.replace("w2", "w2, a"),
            W2: "a.mT @ d_logits",
        },
    ),
    Mistake(
        "mask_missing",
        "no mask, or the mask hidden >= 0 (always true), lets the whole gradient through the ReLU; set the gradient "
        "to 0 where the ReLU returned 0",
        {f"d_hidden * {MASK}": "d_hidden"},
    ),
    Mistake(
        "layer_1_before_the_mask",
        "the gradient of w1 or b1 is taken before the ReLU's mask; multiply by the mask first",
        {W1: "x.mT @ d_hidden"},
        {B1: "d_hidden.sum(dim=0)"},
    ),
    Mistake(
        "mask_of_the_gradient",
        "the ReLU's mask depends on the sign of the gradient, as in guided backpropagation; take the mask only from "
        "the pre-activation of the forward pass",
        {MASK: ["(d_hidden > 0)", "((hidden > 0) & (d_hidden > 0))"]},
    ),
    Mistake(
        "mask_with_a_threshold",
        "the mask compares with a small number instead of 0, or is taken in float32, where 1e-60 is 0; compare h > 0 "
        "in x's dtype",
        {MASK: ["(hidden > 1e-6)", "(hidden > 1e-5)", "(hidden > 1e-7)", "(hidden > 1e-8)", "(hidden.float() > 0)"]},
    ),
    Mistake(
        "w2_not_transposed",
        "the gradient goes back through w2 as it is; multiply by w2 transposed, even if w2 is square",
        {"d_logits @ …": ["d_logits @ w2", "d_logits @ (w2 if len(w2) == C else w2.mT)"]},
    ),
    Mistake(
        "w2_reshaped",
        "the gradient goes back through w2 reshaped to (C, H), which puts its numbers in other places; transpose w2",
        {"d_logits @ …": "d_logits @ w2.reshape(C, -1)"},
    ),
    Mistake(
        "gradients_transposed",
        "the weights' gradients are transposed, as nn.Linear stores weights; each should be shaped like its parameter",
        {W1: "d_pre.mT @ x", W2: "d_logits.mT @ hidden"},
    ),
    Mistake(
        "no_max_shift",
        "exp overflows for large logits; subtract each row's largest logit first, or use torch.softmax",
        {P: SHARES.format("logits")},
        {P: SHARES.format("logits"), **FILLED},
    ),
    Mistake(
        "cast_but_not_shifted",
        {P: f"(({SHARES.format('logits.float()')}).to(x.dtype) if x.dtype.itemsize < 4 else {P})"},
    ),
    Mistake(
        "one_shift_for_all_rows",
        "the largest logit of the whole batch is subtracted, so a row far below this logit gives 0/0; subtract each "
        "row's largest logit",
        {P: SHARES.format("(logits - logits.max())")},
        {P: SHARES.format("(logits - logits.max())"), **FILLED},
    ),
    Mistake(
        "softmax_over_the_batch",
        "the probabilities are normalised over the samples; normalise over the classes, axis 1",
        {P: P.replace("1", "0")},
    ),
    Mistake(
        "classes_counted_in_the_targets",
        "one_hot counts the classes in the targets, where the last one may be missing; pass it the number of classes",
        {Y: "F.one_hot(target)"},
    ),
    Mistake(
        "cache_used_up",
        "the first backward pass empties the cache, so the second fails; return a tuple or a dict, and only read it",
        {"(x, hidden, w2)": '{"x": x, "hidden": hidden, "w2": w2}', CACHE: f"x, hidden, w2 = {POPPED}"},
        {"(x, hidden, w2)": "iter((x, hidden, w2))"},
    ),
    Mistake(
        "cache_modified",
        "a backward pass writes into the cached tensors, so the next one starts from other numbers; write into a copy",
        {
            RESULT: f"{RESULT[:-1]}, {P})",
            CACHE: "x, hidden, w2, p = cache\n    p[torch.arange(len(p)), target] -= 1",
            D_LOGITS: "p / N",
        },
    ),
    Mistake(
        "state_in_a_global",
        "the forward pass keeps its tensors in a global variable, which the next call overwrites; return them as the "
        "cache",
        {
            "def mlp_forward(": "LAST = {}\n\n\ndef mlp_forward(",
            RESULT: "LAST.update(x=x, hidden=hidden, w2=w2)\n    return logits, LAST",
            CACHE: f"x, hidden, w2 = {LAST}",
        },
    ),
    Mistake(
        "outer_product_of_each_row",
        "an outer product is made for each row, and these are summed; use one matrix product, with x or h transposed",
        OUTER_1 | OUTER_2,
        OUTER_1,
        OUTER_2,
        slow=True,
    ),
    Mistake(
        "matrix_of_all_classes",
        "a C × C matrix is made, an identity or a Jacobian; leave it out: softmax minus the one-hot rows needs only "
        "(N, C)",
        {Y: "torch.eye(C).to(logits)[target]"},
        {D_LOGITS: f"-(torch.eye(C).to(logits) - {P}[:, None])[torch.arange(N), target] / N"},
        slow=True,
    ),
)

EQUIVALENT: dict[str, str] = {}
