"""Known wrong answers to beam_search."""

import itertools

from graders.kata import Mistake

TOPK = "rows.topk(min(beam_width, rows.shape[1]))"
LIVE = "live = [one for one in beam if not one[2]]"
ROWS = "rows = log_probs(batch)  # (n, V)"
BATCH = "batch = torch.tensor([tokens for tokens, _, _ in live])"
BEST = "beam = sorted(beam, key=score, reverse=True)[:beam_width]"
RESULT = "return [(one[0], score(one)) for one in beam]"
SCORE = "return total / (len(tokens) - 1) ** length_penalty"
TAKEN = "(value := rows[n, i].item())"
BEGIN = "beam = [([start], 0.0, False)]"

PRODUCT = {BEGIN: "beam = [([start], 1.0, False)]", "total + value": "total * math.exp(value)"}


def returned(what: str) -> dict[str, str]:
    return {RESULT: f"return {what}"}


LOOP = """best = rows.topk(min(beam_width, rows.shape[1])).indices.tolist()  # of one hypothesis, no more can be kept
        beam = [one for one in beam if one[2]]
        for n, (tokens, total, _) in enumerate(live):
            for i in best[n]:
                if (value := rows[n, i].item()) > -math.inf:
                    beam.append(([*tokens, i], total + value, i == eos))"""
IN_ONE_ROW = """sums = torch.tensor([total for _, total, _ in live])
        best, places = (sums[:, None] + rows).flatten().topk(min(beam_width, rows.numel()))
        beam = [one for one in beam if one[2]]
        for total, place in zip(best.tolist(), places.tolist(), strict=True):
            n, i = divmod(place, rows.shape[1])
            beam.append(([*live[n][0], i], total, i == eos))"""

POSSIBLE_IN_ONE_ROW = IN_ONE_ROW.replace("in live])", "in live], dtype=torch.float64)").replace(
    "            beam.append", "            if total > -math.inf:\n                beam.append"
)
IN_FLOAT32 = POSSIBLE_IN_ONE_ROW.replace("float64", "float32")
ADDED_AGAIN = """beam = [
            (tokens, total + value, True)
            for tokens, total, done in beam
            if done and (value := log_probs(
                torch.tensor([tokens + [eos] * (len(live[0][0]) - len(tokens))])
            )[0, eos].item()) > -math.inf
        ]"""
EOS_NOT_COUNTED = {SCORE: SCORE.replace("(len(tokens) - 1)", "max(1, len(tokens) - 1 - hypothesis[2])")}
CANDIDATES = (("beam_width", "beam_width"), ("2 * beam_width", "2 * beam_width"), ("beam_width", "len(beam)"))
LEFT = ("done + beam", "done + beam * (len(done) < beam_width)", "done or beam")


def set_aside(how: tuple[str, str], left: str, stops: bool) -> dict[str, str]:
    """A list of finished ones, as in Hugging Face's library, where twice as many candidates keep the beam full."""
    of_each, candidates = how
    stop = "        if len(done) >= beam_width:\n            break\n" if stops else ""
    return {
        BEGIN: f"done = []\n    {BEGIN}",
        TOPK: TOPK.replace("beam_width", of_each),
        f"        {BEST}\n": f"        {BEST.replace('beam_width', candidates)}\n"
        "        done += [one for one in beam[:beam_width] if one[2]]\n"
        f"        beam = [one for one in beam if not one[2]][:beam_width]\n{stop}",
        RESULT: f"beam = sorted({left}, key=score, reverse=True)[:beam_width]\n    {RESULT}",
    }


MISTAKES = (
    Mistake(
        "greedy",
        "each hypothesis is extended only by its likeliest token; keep the best beam_width of all extensions",
        {TOPK: "rows.topk(1)"},
    ),
    Mistake(
        "each_keeps_its_best",
        "each hypothesis keeps its own best extension; all extensions of all hypotheses should compete",
        {
            BEST: """first = {}
        for one in sorted(beam, key=score, reverse=True):
            first.setdefault(str(one[0][:-1]) if len(live) > 1 else str(one[0]), one)
        beam = sorted(first.values(), key=score, reverse=True)[:beam_width]"""
        },
    ),
    Mistake(
        "copies_of_start",
        "the search begins with beam_width copies of start, and their equal extensions fill the beam; begin with one",
        {BEGIN: f"{BEGIN} * beam_width"},
    ),
    Mistake(
        "finished_extended",
        "hypotheses that end in eos are extended further; keep them as they are",
        {"i == eos)": "False)"},
    ),
    Mistake(
        "eos_added_again",
        "the log-probability of another eos is added to finished hypotheses in every step; keep their sums as they are",
        {"beam = [one …": ADDED_AGAIN},
    ),
    Mistake(
        "parents_not_taken",
        "the chosen tokens are appended to the rows in their old order; append each to the hypothesis that it extends",
        {
            BEGIN: f"kept = [[start]]\n    {BEGIN}",
            BATCH: "batch = torch.tensor([row for row, one in zip(kept, beam) if not one[2]])",
            BEST: f"{BEST}\n        kept = [kept[min(k, len(kept) - 1)] + one[0][-1:] for k, one in enumerate(beam)]",
            RESULT: "return [(row[: len(one[0])], score(one)) for row, one in zip(kept, beam)]",
        },
    ),
    Mistake(
        "finished_dropped",
        "finished hypotheses are lost at the next step; they should stay, and compete with the others",
        {"beam = [one …": "beam = []"},
    ),
    Mistake(
        "finished_set_aside",
        "finished hypotheses are set aside and leave their place to unfinished ones; they should stay in the beam and "
        "compete",
        *(set_aside(*how) for how in itertools.product(CANDIDATES, LEFT, (False, True))),
    ),
    Mistake(
        "finished_never_displaced",
        "finished hypotheses always stay in the beam; a better extension of another should displace them",
        {
            BEST: """beam = sorted(beam, key=lambda one: (one[2], score(one)), reverse=True)[:beam_width]
        beam = sorted(beam, key=score, reverse=True)"""
        },
        {
            "beam = [one …": "done, beam = [one for one in beam if one[2]], []",
            BEST: """beam = sorted(beam, key=score, reverse=True)[: beam_width - len(done)]
        beam = sorted(done + beam, key=score, reverse=True)""",
        },
    ),
    Mistake(
        "ended_by_the_first",
        "the search ends as soon as a hypothesis is finished; it should end when all are",
        {"        if not live:\n            break\n": "        if len(live) < len(beam):\n            break\n"},
    ),
    Mistake(
        "ended_by_the_best",
        "the search ends when the best hypothesis is finished; it should end when all are",
        {"        if not live:\n            break\n": "        if beam[0][2]:\n            break\n"},
    ),
    Mistake(
        "probabilities_multiplied",
        "probabilities are multiplied, and a long product is 0; add log-probabilities",
        {**PRODUCT, SCORE: SCORE.replace("total", "math.log(total or 5e-324)")},
        {**PRODUCT, SCORE: SCORE.replace("total", "math.log(total)")},
        {
            **PRODUCT,
            SCORE: SCORE.replace("total", "math.log(total)"),
            f"{TAKEN} > -math.inf": f"total * math.exp{TAKEN} > 0",
        },
    ),
    Mistake(
        "sums_in_float32",
        "the sums are taken in float32, or in the dtype of log_probs, and long ones lose digits; take them in float64",
        {"total + value,": "float(torch.tensor(total).float() + value),"},
        {"total + value,": "float(torch.tensor(total).to(rows.dtype) + value),"},
        {LOOP: IN_FLOAT32},
        {LOOP: IN_FLOAT32.replace("torch.float32", "rows.dtype")},
    ),
    Mistake(
        "start_counted",
        "the length counts the start token; count the tokens after it, eos included",
        {SCORE: SCORE.replace("(len(tokens) - 1)", "len(tokens)")},
    ),
    Mistake(
        "eos_not_counted",
        "the length leaves out eos; count all tokens after start",
        EOS_NOT_COUNTED,
        EOS_NOT_COUNTED | {LOOP: POSSIBLE_IN_ONE_ROW},
    ),
    Mistake(
        "length_of_the_step",
        "finished hypotheses are divided by the number of steps so far; a finished one keeps its own length",
        {
            "for _ in range": "for now in range",
            SCORE: SCORE.replace("(len(tokens) - 1)", "(now + 1)"),
            BEGIN: f"now = 0\n    {BEGIN}",
            "            break\n": "            now -= 1\n            break\n",
        },
    ),
    Mistake(
        "no_length_penalty",
        "length_penalty changes nothing; divide the sum over n added tokens by n ** length_penalty",
        {SCORE: "return total"},
    ),
    Mistake(
        "length_multiplied",
        "the sum is multiplied by length ** length_penalty; divide by it, so that long hypotheses gain",
        {SCORE: SCORE.replace("/", "*")},
    ),
    Mistake(
        "penalty_of_gnmt",
        "the sum is divided by ((5 + n) / 6) ** length_penalty, as in Google's GNMT; divide by n ** length_penalty",
        {SCORE: SCORE.replace("(len(tokens) - 1)", "((len(tokens) + 4) / 6)")},
    ),
    Mistake(
        "divided_at_the_end",
        "the beam is chosen by sums, and the length counts only at the end; choose by score in every step",
        {
            BEST: BEST.replace("key=score", "key=lambda one: one[1]"),
            RESULT: f"beam.sort(key=score, reverse=True)\n    {RESULT}",
        },
    ),
    Mistake(
        "sums_returned",
        "the sums come back; return the scores that the beam is ordered by",
        returned("[(one[0], one[1]) for one in beam]"),
    ),
    Mistake(
        "divided_again",
        "the next log-probability is added to a score that is already divided; add it to the plain sum",
        {"total + value,": "(total + value) / len(tokens) ** length_penalty,", SCORE: "return total"},
        {BEST: f"{BEST}\n        beam = [one if one[2] else (one[0], score(one), False) for one in beam]"},
    ),
    Mistake(
        "start_is_the_end",
        "if start and eos are one token, the search ends before it begins; only a token that was added finishes a "
        "hypothesis",
        {
            BEGIN: "beam = [([start], 0.0, start == eos)]",
            SCORE: SCORE.replace("(len(tokens) - 1)", "max(1, len(tokens) - 1)"),
        },
        {BEGIN: "beam = [([start], 0.0, start == eos)]"},
        {
            BEGIN: "beam = [([start], 0.0, start == eos)]",
            SCORE: f"{SCORE} if tokens[1:] or not length_penalty else math.nan",
        },
    ),
    Mistake(
        "impossible_taken",
        "tokens with a log-probability of −∞ are taken where the others do not fill the beam; leave them out",
        {"> -math.inf": ">= -math.inf"},
        {LOOP: [IN_ONE_ROW, IN_ONE_ROW.replace("in live])", "in live], dtype=torch.float64)")]},
    ),
    Mistake(
        "more_beams_than_tokens",
        "topk raises if beam_width is above the length of its axis; take at most that many",
        {TOPK: "rows.topk(beam_width)"},
    ),
    Mistake(
        "last_token_alone",
        "log_probs is given only the last tokens; it needs the whole hypotheses",
        {BATCH: BATCH.replace("tokens for tokens", "tokens[-1:] for tokens")},
    ),
    Mistake(
        "worst_first",
        "the result is in the wrong order; put the best first",
        returned("[(one[0], score(one)) for one in beam[::-1]]"),
    ),
    Mistake(
        "least_likely",
        "the hypotheses with the lowest scores are kept; keep those with the highest",
        {BEST: BEST.replace("reverse=True", "reverse=False")},
    ),
    Mistake(
        "best_alone",
        "only the best hypothesis comes back; return all in the beam",
        returned("[(one[0], score(one)) for one in beam[:1]]"),
        returned("(beam[0][0], score(beam[0]))"),
        returned("beam[0][0]"),
    ),
    Mistake(
        "finished_alone",
        "hypotheses that max_len cuts off are left out, at least if another one has finished; return all in the beam",
        returned("[(one[0], score(one)) for one in beam if one[2]]"),
        returned("[(one[0], score(one)) for one in beam if one[2]] or [(one[0], score(one)) for one in beam]"),
    ),
    Mistake(
        "without_start",
        "the start token is cut off; keep it",
        returned("[(one[0][1:], score(one)) for one in beam]"),
    ),
    Mistake(
        "without_eos",
        "eos is cut off; keep it",
        returned("[(one[0][:-1] if one[2] else one[0], score(one)) for one in beam]"),
    ),
    Mistake(
        "tensors_returned",
        "scores or tokens are tensors; return Python's floats and ints",
        returned("[(one[0], torch.tensor(score(one))) for one in beam]"),
        returned("[(torch.tensor(one[0]), score(one)) for one in beam]"),
        returned("[([*torch.tensor(one[0])], score(one)) for one in beam]"),
    ),
    Mistake(
        "one_step_too_many",
        "max_len counts the start token, or one token more is added; add at most max_len tokens after start",
        {"range(max_len)": ["range(max_len + 1)", "range(max(max_len - 1, 1))", "range(max_len - 1)"]},
    ),
    Mistake(
        "one_call_a_hypothesis",
        "log_probs is called once for each hypothesis; call it once a step, with all unfinished hypotheses as rows",
        {"log_probs(…": "torch.cat([log_probs(row[None]) for row in batch])"},
    ),
    Mistake(
        "token_by_token",
        "a Python loop runs over all tokens; loop only over the few tokens that topk finds",
        {
            TOPK: "rows.sort(-1, descending=True)",
            ROWS: f"{ROWS}\n        [v for row in rows.tolist() for v in row if\n            v > 0]",
        },
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"best = {TOPK}.indices.tolist() -> best = rows.topk(min(rows.shape[1], beam_width)).indices.tolist()": (
        "min is symmetric"
    ),
}
# What every seed asks alike -> why.
FIXED = {
    "axis 1 of table": "rows of a table that stands for a model: an answer is given one of them for each hypothesis"
}
