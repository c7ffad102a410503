"""Known wrong answers to perplexity."""

from graders.kata import Mistake

MEAN = "F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=ignore_index)"
ROWS, TOKENS = "logits.flatten(0, 1)", "target.flatten()"
RESULT = "loss.exp()"
COUNTS = "counts = target != ignore_index"
EACH = MEAN.replace("_index)", '_index, reduction="none").view(B, S)')
SUM = MEAN.replace("_index)", '_index, reduction="sum")')
ONE = 'F.cross_entropy(*one, ignore_index=ignore_index, reduction="sum")'
BY_SEQUENCES = f"sum({ONE} for one in zip(logits, target)) / counts.sum()"
OF_SEQUENCES = f"({EACH}.sum(1) / counts.sum(1).clamp(min=1))"
OF_ANY = "({} * counts.any(1)).sum() / counts.any(1).sum()"  # empty sequences left out
SAFE = "target.where(counts, 0)"
PICKED = f"gather(-1, {SAFE}[..., None])[..., 0]"
MASKED = f"(-logits.log_softmax(-1).{PICKED} * counts)"
IN_FLOAT32 = f"(logits.float().exp().sum(-1).log() - logits.{PICKED})[counts].mean().to(logits.dtype)"
REPLACED = {MEAN: "F.cross_entropy(logits.flatten(0, 1), target.where(counts, -100).flatten())"}


def log_of(probability: str) -> dict[str, str]:
    """Of the softmax, where others take the softmax's log."""
    return {MEAN: f"-({probability.replace('p', f'logits.softmax(-1).{PICKED}[counts]', 1)}).log().mean()"}


MISTAKES = (
    Mistake(
        "mean_of_means",
        "the mean is taken in each sequence first, so tokens of short ones count more; take one mean over all tokens "
        "that count",
        {MEAN: [f"{OF_SEQUENCES}.mean()", OF_ANY.format(OF_SEQUENCES)]},
        {MEAN: [f"({one}.sum(1) / counts.sum(1)).{mean}()" for one in (EACH, MASKED) for mean in ("mean", "nanmean")]},
    ),
    Mistake(
        "mean_of_chunk_means",
        "the means of chunks of tokens are averaged, although the last chunk may be smaller; add up all losses, then "
        "divide by the number of tokens that count",
        {MEAN: [f"sum(map(Tensor.mean, parts := {EACH}[counts].split({n}))) / len(parts)" for n in (64, 128, 256)]},
    ),
    Mistake(
        "mean_of_perplexities",
        "exp is taken for each sequence or token, before the mean; take exp once, of the mean loss of all tokens that "
        "count",
        {MEAN: OF_SEQUENCES, RESULT: [f"{RESULT}.mean()", OF_ANY.format(RESULT)]},
        {
            MEAN: [f"({one}.sum(1) / counts.sum(1))" for one in (EACH, MASKED)],
            RESULT: [f"{RESULT}.mean()", f"{RESULT}.nanmean()"],
        },
        {MEAN: EACH, RESULT: ["loss.exp()[counts].mean()", "loss.exp().mean()"]},
    ),
    Mistake(
        "padding_in_the_divisor",
        "the sum of the losses is divided by B · S; divide by the number of tokens that are not ignored",
        {MEAN: f"{SUM} / target.numel()"},
    ),
    Mistake(
        "padding_counted",
        "ignored positions count as if some token were their target; leave them out of the sum and of the count",
        {MEAN: [f"F.cross_entropy({ROWS}, {SAFE}.flatten())", f"F.cross_entropy({ROWS}, (target % V).flatten())"]},
        {MEAN: f'F.cross_entropy({ROWS}, {SAFE}.flatten(), reduction="sum") / counts.sum()'},
    ),
    Mistake(
        "exp_of_a_sum",
        "the sum of the losses is not divided by the number of tokens; take exp of the mean over the tokens that count",
        {MEAN: [SUM, f"{SUM} / B", f"{SUM} / S", f"{SUM} / V", f"{SUM} / counts.any(1).sum()"]},
    ),
    Mistake(
        "base_two",
        "2 is raised to a loss in nats, or e to a loss in bits; the power should have the base of the log",
        {RESULT: ["loss.exp2()", "(loss / 0.6931471805599453).exp()"]},
    ),
    Mistake(
        "sign_lost",
        "e is raised to the mean log-probability, or 1 is divided by the perplexity, so a good model gets more; raise "
        "e to minus the mean log-probability",
        {RESULT: "(-loss).exp()"},
    ),
    Mistake(
        "log_left_out",
        "e is raised to a mean of probabilities, not of their logarithms; take the log-probability of each target",
        {MEAN: [f"{sign}logits.softmax(-1).{PICKED}[counts].mean()" for sign in ("-", "")]},
    ),
    Mistake(
        "one_for_each_sequence",
        "each sequence gets a perplexity of its own; take one mean over all tokens that count, for one number",
        {MEAN: f"({EACH}.sum(1) / counts.sum(1))"},
        {MEAN: OF_SEQUENCES},
    ),
    Mistake(
        "entropy_of_the_model",
        "the entropy of the predictions is averaged, which needs no target; average minus the log-probability of each "
        "target",
        {MEAN: "-(logits.log_softmax(-1) * logits.softmax(-1)).sum(-1)[counts].mean()"},
    ),
    Mistake(
        "product_underflows",
        "the probabilities are multiplied, and the product of many is 0; add up their logarithms",
        {MEAN: f"logits.softmax(-1).{PICKED}[counts].prod()", RESULT: "loss ** (-1 / counts.sum())"},
        {MEAN: f"logits.log_softmax(-1).exp().{PICKED}[counts].prod()", RESULT: "loss ** (-1 / counts.sum())"},
        {MEAN: f"logits.softmax(-1).{PICKED}[counts].prod().log() / -counts.sum()"},
    ),
    Mistake(
        "token_0_ignored",
        "token 0 is ignored as padding; ignore only ignore_index",
        {COUNTS: "counts = (target != 0) & (target != ignore_index)", **REPLACED},
        {COUNTS: "counts = target != 0", **REPLACED, "if ((target …": "if False:"},
    ),
    Mistake("no_exp", "the mean loss itself is returned; take exp of it", {RESULT: "loss"}),
    Mistake(
        "python_number",
        "the result is a Python number, which has no graph; return the tensor that exp makes",
        {RESULT: "loss.exp().item()"},
    ),
    Mistake(
        "targets_shifted",
        "the targets are shifted by one position; leave them as they are, since they already stand next to the logits "
        "that predict them",
        {MEAN: MEAN.replace("logits.", "logits[:, :-1].").replace("target.", "target[:, 1:].")},
        {MEAN: MEAN.replace("logits.", "logits[:, 1:].").replace("target.", "target[:, :-1].")},
    ),
    Mistake(
        "first_position_left_out",
        "the first position of each sequence is left out; count it, since the targets are shifted already, and its "
        "logits predict its target",
        {MEAN: [MEAN.replace(".flatten", f"[:, {first} :].flatten") for first in ("1", "int(S > 1)")]},
    ),
    Mistake(
        "ignored_token_left_out_of_the_softmax",
        "where ignore_index is a token, its logit is left out of the softmax; leave positions out, no token",
        {ROWS: f"{ROWS}.masked_fill(counts.new_ones(V).cumsum(0) - 1 == ignore_index, -float('inf'))"},
    ),
    Mistake(
        "positions_as_tokens",
        "the softmax runs over axis 1, as F.cross_entropy's does, but here the vocabulary is the last axis; "
        "flatten B and S first",
        {MEAN: MEAN.replace(".flatten(0, 1)", "").replace(".flatten()", "")},
        {MEAN: f"-logits.log_softmax(1).{PICKED}[counts].mean()"},
    ),
    Mistake(
        "reshaped_for_transposed",
        "logits end up next to the targets of other positions; flatten both alike, or transpose: reshape swaps no axes",
        {MEAN: MEAN.replace(".flatten(0, 1)", ".reshape(B, V, S)").replace(".flatten()", "")},
        {ROWS: ["logits.transpose(0, 1).flatten(0, 1)", "logits.reshape(B, V, S).mT.flatten(0, 1)"]},
    ),
    Mistake(
        "view_of_strided",
        "view may fail where the inputs are not contiguous; use reshape or flatten",
        {ROWS: "logits.view(-1, V)"},
        {TOKENS: "target.view(-1)"},
    ),
    Mistake(
        "softmax_left_out",
        "the logits are taken for log-probabilities; take their log_softmax first",
        {MEAN: f"-logits.{PICKED}[counts].mean()"},
    ),
    Mistake(
        "softmax_twice",
        "F.cross_entropy gets probabilities, and takes the softmax of them again; give it the logits",
        {ROWS: f"{ROWS}.softmax(-1)"},
    ),
    Mistake(
        "minus_100_always_ignored",
        "−100 is ignored whatever ignore_index is; ignore only ignore_index, and refuse any other target that is no "
        "token",
        {COUNTS: "counts = (target != -100) & (target != ignore_index)", **REPLACED},
        {COUNTS: "counts = target != -100", **REPLACED},
        {COUNTS: "counts = target != -100", **REPLACED, "if ((target …": "if False:"},
    ),
    Mistake(
        "negative_targets_ignored",
        "every negative target is ignored; ignore only ignore_index, and raise ValueError for any other target that "
        "is no token",
        {COUNTS: "counts = (target != ignore_index) & (target >= 0)", **REPLACED},
    ),
    Mistake(
        "no_max_shift",
        "exp overflows, or all of its results underflow; use F.cross_entropy or log_softmax, which shift the logits",
        {MEAN: f"(logits.exp().sum(-1).log() - logits.{PICKED})[counts].mean()"},
        {MEAN: f"-(logits.exp() / logits.exp().sum(-1, keepdim=True)).{PICKED}[counts].log().mean()"},
    ),
    Mistake("cast_but_not_shifted", {MEAN: f"{IN_FLOAT32} if logits.dtype.itemsize < 4 else {MEAN}"}),
    Mistake(
        "loss_capped",
        "the mean loss is capped against overflow, which changes perplexities that fit the dtype; do not cap it",
        {RESULT: ["loss.clamp(max=80).exp()", "loss.clamp(max=20).exp()"]},
    ),
    Mistake(
        "log_of_softmax",
        "the softmax underflows to 0 for unlikely tokens, or a small constant keeps it from 0; use log_softmax",
        log_of("p"),
        *(log_of(f"p{eps}") for eps in (" + 1e-9", " + 1e-12", ".clamp(min=1e-9)", ".clamp(min=1e-12)")),
    ),
    Mistake(
        "zero_times_infinity",
        "0 is multiplied by the −∞ of an impossible token; pick the target's entry, do not multiply by a one-hot table",
        {MEAN: f"-(logits.log_softmax(-1) * F.one_hot({SAFE}, V)).sum(-1)[counts].mean()"},
    ),
    Mistake(
        "identity_matrix",
        "a V × V identity is made, or a table that pairs every position with every target; gather one entry for each "
        "position",
        {MEAN: f"-{ROWS}.log_softmax(-1)[:, {SAFE}.flatten()].diagonal()[counts.flatten()].mean()"},
        {MEAN: f"-logits.log_softmax(-1)[(counts[..., None] * counts.new_ones(V).diag()[{SAFE}])].mean()"},
        slow=True,
    ),
    Mistake(
        "sequence_by_sequence",
        "a Python loop goes over the sequences or the positions; F.cross_entropy takes all of them at once",
        {MEAN: [BY_SEQUENCES, f"{MEAN} if counts.all() else {BY_SEQUENCES}"]},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    "not_refused_1": "`B, S, V = logits.shape` raises a ValueError of its own; only its message says less",
}
