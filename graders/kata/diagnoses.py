"""The sentences of mistakes that people make in several katas: a `Mistake` of such a name needs none of its own."""

COMMON = {
    # Attention
    "not_scaled": "the scores are not divided by √d",
    "scaled_by_d": "the scores are divided by d; divide them by √d",
    "scaled_by_dv": "the scores are divided by √dv, the root of v's channels; use √d, the root of q's channels",
    "scaled_by_embed_dim": "the scores are divided by √embed_dim; divide them by √d, where d = embed_dim / num_heads",
    "scaled_by_dim": "the scores are divided by √dim; use √d, with d = dim / heads, the channels of one head",
    "gelu_by_tanh": "the GELU is approximated by tanh; here it is the exact one, F.gelu without options",
    "scaled_by_the_length": (
        "the scores are divided by the root of the number of keys, the last axis of transposed keys; divide them by √d"
    ),
    "float32_root": "√d or 1/√d is a float32 tensor, too coarse for float64; use math.sqrt or ** 0.5",
    "coarse_constants": (
        "√2 or √(2/π) is a float32 tensor or has too few digits, too coarse for float64; use math.sqrt"
    ),
    "itself_hidden": "a token does not see itself; it should",
    "masked_after_softmax": "keys are hidden after the softmax, so the weights do not add up to 1; hide keys first",
    "hidden_by_1e9": (
        "hidden scores are a constant such as −1e9, which float16 cannot hold, and visible scores can be lower; fill "
        "with −∞"
    ),
    "hidden_by_1e4": "hidden scores are a constant such as −1e4, and visible scores can be lower; fill with −∞",
    "hidden_by_0": "hidden scores are 0, and e⁰ is 1, so their keys still count; fill with −∞",
    "hidden_by_plus_infinity": "hidden scores are set to +∞, and the softmax is NaN; fill with −∞",
    "maximum_floored": (
        "the maximum that is subtracted is floored at a constant such as −1e4, so if all scores are lower, all weights "
        "are 0; subtract the maximum itself"
    ),
    "least_number_added": (
        "the dtype's least number is added to hidden scores, which in float16 gives −∞ if a score is below −16, and a "
        "row of −∞ alone is NaN; fill with the least number"
    ),
    "hidden_by_almost_0": (
        "hidden scores are set to almost 0, or lowered by almost nothing, as by −1e-9 for −1e9, so their keys still "
        "count; fill with −∞"
    ),
    "zero_scores_hidden": (
        "scores of exactly 0 are hidden, even if their keys are visible; hide keys by the mask, whatever the score is"
    ),
    "mask_of_the_first_call": (
        "the mask is made for one length, and does not fit a longer sequence; make it for the length of each call"
    ),
    "softmax_over_queries": "the softmax runs over the queries; it should run over the keys",
    "heads_split_by_view": (
        "(B, S, D) is viewed as (B, H, S, d), which mixes tokens and heads; view it as (B, S, H, d), then transpose, "
        "and merge by the reverse steps"
    ),
    "heads_interleaved": (
        "head h takes every H-th channel; it should take d neighbouring ones, so split the channels as (H, d), not "
        "(d, H), and merge them in the same order"
    ),
    "heads_merged_without_transpose": (
        "the heads are reshaped to (B, S, D) without transposing back, which mixes tokens and heads; transpose first"
    ),
    "heads_merged_by_another_transpose": (
        "the heads are merged after transpose(-1, -2), which swaps tokens and channels; swap heads and tokens, "
        "transpose(1, 2)"
    ),
    "no_output_map": "out_linear is not applied; apply it to the merged heads",
    "dropout_left_on": "dropout changes the weights while the module trains; leave dropout out",
    "head_by_head": "a loop multiplies one head at a time; one @ does all of them",
    "table_of_products": (
        "all products of q and k, or of weights and v, are kept before they are summed; use @, which keeps "
        "only the sums"
    ),
    "base_in_float32": (
        "base is rounded to float32, as by torch.tensor(base); use the number itself, or a float64 tensor"
    ),
    "base_ignored": "10000 is used for any base; use the base that is passed",
    # Exponentials and logarithms
    "maximum_not_subtracted": "exp overflows; subtract the largest score of each row, or call softmax",
    "no_max_shift": "the exponentials overflow at small temperatures; use logsumexp or cross-entropy on masked logits",
    "cast_but_not_shifted": (
        "half precision is cast to float32, but no maximum is subtracted: exp of a score of 89 "
        "or more overflows, and exp of a score far below 0 is 0; subtract the maximum in every dtype"
    ),
    "unshifted_in_half": (
        "half precision is cast to float32, but no maximum is subtracted, so exp overflows at small temperatures; "
        "use logsumexp or cross-entropy in every dtype"
    ),
    "overflows_in_half": (
        "half precision is cast to float32, where eˣ overflows from x = 89 on; for log(1 + eˣ), use logaddexp, "
        "softplus or logsigmoid in every dtype"
    ),
    "softplus_cut_off": (
        "softplus gets a threshold below its default of 20, and returns x itself where log(1 + eˣ) still "
        "differs from x; keep the default"
    ),
    "eps_in_the_sum": (
        "an eps is added to the sum of the exponentials, which is at least 1 once each row's maximum is subtracted; "
        "leave the eps out"
    ),
    "zero_times_infinity": (
        "0 times the logarithm of 0 or of 0/0 is NaN; where the factor is 0, put 1 inside the logarithm"
    ),
    "half_becomes_float32": "half precision comes back as float32; return the dtype of the inputs",
    "sign_lost": "the loss has the wrong sign; put a minus before the log-probabilities",
    # Contrastive losses
    "not_normalised": "not every row is divided by its own Euclidean norm; use cosine similarities",
    "norms_detached": "the norms are detached, so the gradient of the features lacks their part; do not detach them",
    "eps_added_to_the_norm": "an eps is added to the norms, so the length of the rows matters; leave the eps out",
    "squares_overflow_in_half": (
        "squares or products of the rows are added up in float16, where they overflow even if the norms fit; first "
        "normalise with F.normalize"
    ),
    "self_not_excluded": "each row is in its own denominator; leave its similarity with itself out",
    "self_as_the_positive": (
        "each row is its own positive (labels arange), so nothing pulls the two views together; "
        "mask the row itself, and make the other view the positive"
    ),
    "positives_interleaved": "rows 2i and 2i + 1 are taken for a pair; a pair is rows i and i + N",
    "one_view_as_anchors": "only the first view's rows are anchors; average the losses of all 2N rows",
    "temperature_misused": (
        "the similarities are multiplied by the temperature, divided by it twice or not at all; divide them once"
    ),
    "mask_float16_cannot_hold": (
        "the mask constant, such as −9e15 or −1e9, does not fit float16; fill with −inf, or with the dtype's lowest "
        "number"
    ),
    # Scores, norms and distances
    "near_scores_merged": (
        "close but unequal scores count as ties, by a tolerance or a cast to float32; only equal scores should be ties"
    ),
    "sigmoid_of_the_scores": (
        "the scores go through a sigmoid, which makes large ones equal and changes the thresholds; use the raw scores"
    ),
    "float32_on_the_way": (
        "numbers are rounded to float32 or half precision (a quotient of integers is float32); divide and add up in "
        "float64"
    ),
    "every_threshold_at_once": (
        "every score is compared with every threshold at once, in a table of N × K; sort once, and a cumsum gives all "
        "counts"
    ),
    "another_library": "another library does the work; count with torch",
    "eps_outside_the_root": "eps is added to the root; add it to the variance",
    "loop_over_the_channels": "the channels go through a Python loop; mean and var do all of them at once",
    "expanded_square": (
        "the squared distance is taken as ‖a‖² + ‖b‖² − 2⟨a, b⟩, which loses digits of small distances; subtract first"
    ),
    "receives_first": (
        "every rank receives before it sends, so all wait for each other; send first, since `send` never waits"
    ),
    "hop_too_few": "there is one step too few: W ranks take W − 1 steps",
}
