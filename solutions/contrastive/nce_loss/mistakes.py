"""Known wrong answers to nce_loss."""

from graders.kata import Mistake

K = "neg_scores.shape[1]"
LOG_K = f"math.log({K})"
DELTA = "{0}_scores - log_noise_{0} - log_K"
POS, NEG = DELTA.format("pos"), DELTA.format("neg")
LOG_POS, LOG_NEG, PLUS_SUM = "F.logsigmoid(pos_delta)", "F.logsigmoid(-neg_delta)", ".sum(1)"
RESULT = "-log_likelihood.mean()"


def deltas(new: str) -> dict[str, str]:
    """Both logits found in another way."""
    return {DELTA.format(side): new.format(side) for side in ("pos", "neg")}


def log_probs(new: str) -> dict[str, str]:
    """Both log σ(x) found in another way, out of x, which {} stands for."""
    return {LOG_POS: new.format("pos_delta"), LOG_NEG: new.format("(-neg_delta)")}


IN_FLOAT32 = "(-(1 + (-{0}.float()).exp()).log().to({0}.dtype) if {0}.dtype.itemsize < 4 else F.logsigmoid({0}))"

MISTAKES = (
    Mistake("overflows_in_half", log_probs(IN_FLOAT32)),
    Mistake(
        "softplus_cut_off",
        log_probs("-F.softplus(-{}, threshold=8)"),
        *(log_probs(f"-F.softplus(-{{}}, threshold={at})") for at in (5, 10, 15, 19)),
    ),
    Mistake(
        "log_k_left_out",
        "log K is left out, which is right only for K = 1; subtract it from every logit",
        deltas("{0}_scores - log_noise_{0}"),
    ),
    Mistake(
        "log_k_on_one_side",
        "log K is subtracted only from the logits of the data or only from the noise's; subtract it from both",
        {POS: POS.replace(" - log_K", "")},
        {NEG: NEG.replace(" - log_K", "")},
    ),
    Mistake(
        "log_k_added",
        "log K is added; subtract log K, since the noise is K times as frequent as the data",
        deltas("{0}_scores - log_noise_{0} + log_K"),
    ),
    Mistake(
        "log_k_in_float32",
        "log K is computed in float32, so float64 results are right to only seven digits; use math.log, or give the "
        "tensor the dtype of the scores",
        {LOG_K: f"torch.tensor({K}).log()", "import math\n": "import torch\n"},
    ),
    Mistake(
        "log_of_the_batch",
        "log N stands in place of log K; K is the number of noise samples in a row, the second axis of neg_scores",
        {K: "neg_scores.shape[0]"},
    ),
    Mistake(
        "noise_added",
        "log pₙ is added to the scores; subtract it, as the logit is the log of a ratio",
        deltas("{0}_scores + log_noise_{0} - log_K"),
    ),
    Mistake(
        "noise_left_out",
        "log pₙ is left out, as in the negative sampling of word2vec; NCE subtracts log pₙ and log K from every score",
        deltas("{0}_scores"),
        deltas("{0}_scores - log_K"),
    ),
    Mistake(
        "noise_of_the_positive",
        "the noise samples get the log pₙ of their row's positive; each has its own, in log_noise_neg",
        {NEG: NEG.replace("log_noise_neg", "log_noise_pos[:, None]")},
    ),
    Mistake(
        "one_softmax",
        "a single softmax picks the positive out of K + 1 samples, as InfoNCE does; NCE asks of every sample on its "
        "own whether it is data or noise",
        {
            f"{LOG_POS} + {LOG_NEG}{PLUS_SUM}": "torch.cat([pos_delta[:, None], neg_delta], 1).log_softmax(1)[:, 0]",
            "import math\n": "import math\n\nimport torch\n",
        },
    ),
    Mistake(
        "sign_of_the_noise",
        "the noise samples count as data, by log σ(δ); use log σ(−δ), since σ(−δ) is the probability of noise",
        {LOG_NEG: "F.logsigmoid(neg_delta)"},
    ),
    Mistake(
        "mean_over_the_noise",
        "the mean is over a row's K noise samples, or over all N (K + 1) samples; add up each row, then take the mean "
        "over the N rows",
        {PLUS_SUM: ".mean(1)"},
        {RESULT: f"{RESULT} / (1 + {K.replace('[1]', '[-1]')})"},
    ),
    Mistake("sum_over_the_rows", "the rows are added up; take their mean", {RESULT: RESULT.replace("mean", "sum")}),
    Mistake(
        "log_of_a_sigmoid",
        "the log is taken of a sigmoid, which rounds to 0 or 1 for large |δ|, and an eps does not help; use "
        "logsigmoid of δ and −δ",
        log_probs("{}.sigmoid().log()"),
        {LOG_POS: "pos_delta.sigmoid().log()", LOG_NEG: "(1 - neg_delta.sigmoid()).log()"},
        {LOG_POS: "pos_delta.sigmoid().log()"},
        {LOG_NEG: "(1 - neg_delta.sigmoid()).log()"},
        log_probs("({}.sigmoid() + 1e-8).log()"),
    ),
    Mistake(
        "exp_overflows",
        "log(1 + eˣ) is taken as it stands, and overflows where x is large; use logsigmoid, softplus or logaddexp",
        log_probs("-(1 + (-{}).exp()).log()"),
    ),
    Mistake(
        "ratio_of_exponentials",
        "eˢ and pₙ are computed, and both round to 0 or overflow where their logs are far from 0; take logsigmoid of "
        "the logs' difference",
        {
            LOG_POS: "(pos_scores.exp() / (pos_scores.exp() + (log_noise_pos + log_K).exp())).log()",
            LOG_NEG: "((log_noise_neg + log_K).exp() / (neg_scores.exp() + (log_noise_neg + log_K).exp())).log()",
        },
    ),
    Mistake(
        "wrong_slope_at_zero",
        "where δ is exactly 0 the slope is not ±½, since clamp or relu has a slope of 0 or 1 there; use logsigmoid, "
        "softplus or logaddexp",
        log_probs("-((-{0}).clamp_min(0) + (-{0}.abs()).exp().log1p())"),
    ),
    Mistake(
        "one_row_of_noise",
        "log_noise_neg of another shape, such as (1, K) or (N, 1), is accepted and broadcast; refuse all shapes but "
        "(N, K)",
        {"if log_noise_neg.shape != neg_scores.shape:": "if (neg_scores - log_noise_neg).shape != neg_scores.shape:"},
    ),
    Mistake(
        "loop_over_the_noise",
        "the noise samples go through a Python loop; take logsigmoid of all N × K, and sum along the rows",
        {f"{LOG_NEG}{PLUS_SUM}": f"sum(F.logsigmoid(-neg_delta[:, k]) for k in range({K.replace('[1]', '[-1]')}))"},
        slow=True,
    ),
    Mistake(
        "all_pairs",
        "an N × N table is made, of each positive's score minus each positive's log pₙ, and only its diagonal is kept; "
        "subtract elementwise",
        {POS: "(pos_scores[:, None] - log_noise_pos).diagonal() - log_K"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
