"""Known wrong answers to entropy_kl."""

import re
from collections.abc import Iterator

from graders.kata import Mistake

# The terms of each sum, as right answers have them. KL has two usual forms: this one, and CE − H.
H = "-p * torch.where(p == 0, 1, p).log()"
CE = "-p * torch.where((p == 0) & (q == 0), 1, q).log()"
KL = "p * (torch.where(p == 0, 1, p).log() - torch.where(p == 0, 1, q).log())"
SWAPPED = "-q * torch.where((p == 0) & (q == 0), 1, p).log()"
REVERSED = "q * (torch.where(q == 0, 1, q).log() - torch.where(q == 0, 1, p).log())"
NATS = "math.log(base or math.e)"
CHECK = "base is not None and (base <= 0 or base == 1)"
TOTAL = """from torch import Tensor


def total(terms, dim, base):
    if {check}:
        raise ValueError("base should be positive and not 1")
    return ({summed}) / ({unit})
"""
EVERY_EPS = ("{0} + 1e-8", "{0} + 1e-10", "{0} + 1e-12", "{0}.clamp_min(1e-8)", "{0}.clamp_min(1e-12)")
LOG_Q, ZERO = "torch.where((p == 0) & (q == 0), 1, q).log()", "(p == 0) & (q == 0)"
BASED = "nats if base is None else nats / math.log(base)"
DIVERGENCE = "cross_entropy_of(p, q, dim, base) - entropy(p, dim, base)"
ROWS = "torch.stack([row.sum() for row in terms.movedim(dim, -1).flatten(0, -2)]).view_as(terms.sum(dim))"


def forms(h: str = H, ce: str = CE, kl: str = "", **total: str) -> Iterator[dict[str, str]]:
    """The three functions with a sum of their own each; KL in both forms, unless one is given.

    A sum that is made in another way is so in all three, then in each alone.
    """
    usual = {"check": CHECK, "unit": NATS, "summed": "terms.sum(dim)"}
    sums = TOTAL.format(**usual | total)
    for own_kl in (kl,) if kl else (KL, f"{ce} - ({h})"):
        yield functions(
            sums,
            f"return total({h}, dim, base)",
            f"return total({ce}, dim, base)",
            f"return total({own_kl}, dim, base)",
        )
    if total:
        plain = TOTAL.format(**usual).partition("\n\n\n")[2].replace("def total", "def plain")
        for one in range(3):
            names = ["total" if one == number else "plain" for number in range(3)]
            texts = (f"return {name}({terms}, dim, base)" for name, terms in zip(names, (h, ce, kl or KL), strict=True))
            yield functions(f"{sums}\n\n{plain}", *texts)


def functions(sums: str, entropy: str, cross_entropy: str, divergence: str) -> dict[str, str]:
    return {
        f"if {CHECK}:": "if False:",
        "from torch import Tensor\n": sums,
        "return cross_entropy_of(p, p, dim, base)": entropy,
        "nats = -(p * log_q).sum(dim)": cross_entropy,
        f"return {DIVERGENCE}": divergence,
    }


def mistake(
    name: str, diagnosis: str, *changes: dict[str, str], short: dict[str, str] | None = None, slow: bool = False
) -> Mistake:
    """`short` is an edit of the reference as it stands, for debug rounds."""
    made = [edits for change in changes for edits in forms(**change)]
    return Mistake(name, diagnosis, *made, *([short] if short else []), slow=slow)


def each(h: str, ce: str, kl: str) -> tuple[dict[str, str], ...]:
    """All three wrong, then each alone."""
    return ({"h": h, "ce": ce, "kl": kl}, {"h": h}, {"ce": ce}, {"kl": kl})


def normalised(terms: str) -> str:
    return re.sub(r"\b[pq]\b", r"(\g<0> / \g<0>.sum(dim, keepdim=True))", terms)


def logarithms_of(change: str) -> tuple[dict[str, str], ...]:
    """KL by a difference and by a quotient, which overflows in float16."""
    p, q = f"({change.format('p')})", f"({change.format('q')})"
    h, ce, kl, quotient = f"-p * {p}.log()", f"-p * {q}.log()", f"p * ({p}.log() - {q}.log())", f"p * ({p} / {q}).log()"
    return ({"h": h, "ce": ce, "kl": quotient}, {"kl": quotient}, *each(h, ce, kl))


MISTAKES = (
    Mistake(
        "zero_times_infinity",
        "0 · log 0 and 0 · log(0/0) are NaN; in these terms, and only in these, take the logarithm of 1",
        {LOG_Q: "q.log()"},
        *(edits for change in logarithms_of("{0}") for edits in forms(**change)),
    ),
    mistake(
        "patched_after_the_logarithm",
        "the NaN of 0 · log 0 is replaced only after the logarithm, so the gradient is still NaN (and nan_to_num "
        "makes +∞ finite); in that term, take the logarithm of 1 instead",
        *each(
            "torch.where(p > 0, -p * p.log(), 0)",
            "torch.where((p > 0) | (q > 0), -p * q.log(), 0)",
            "torch.where(p > 0, p * (p.log() - q.log()), 0)",
        ),
        {"kl": "torch.where(p > 0, p * (p / q).log(), 0)"},
        {"ce": "(-p * q.log()).nan_to_num()", "kl": "(p * (p / q).log()).nan_to_num()"},
    ),
    mistake(
        "special_function_alone",
        "torch.xlogy and torch.special.entr have no finite gradient at 0 · log 0; there, take the logarithm of 1",
        {"h": "-torch.xlogy(p, p)", "ce": "-torch.xlogy(p, q)"},
        {"ce": "-torch.xlogy(p, q)"},
        {"ce": "-torch.xlogy(p, q)", "kl": "torch.xlogy(p, p) - torch.xlogy(p, q)"},
        {"h": "torch.special.entr(p)"},
    ),
    mistake(
        "eps_in_the_logarithm",
        "an eps or a clamp raises the probabilities before the logarithm; change them only in 0 · log 0",
        *(change for eps in EVERY_EPS for change in logarithms_of(eps)),
        short={LOG_Q: "(q + 1e-12).log()"},
    ),
    mistake(
        "gradient_lost_where_p_is_0",
        "the cross-entropy skips all entries with p = 0, where its gradient with respect to p should be −log q; skip "
        "only those with p = q = 0",
        {"ce": "-p * torch.where(p == 0, 1, q).log()"},
        short={ZERO: "p == 0"},
    ),
    mistake(
        "logarithm_detached",
        "log p is detached in H(p) or in KL, so the gradient with respect to p lacks the part that comes from the "
        "logarithm; do not detach it",
        *each(H.replace("log()", "log().detach()"), CE, KL.replace("log()", "log().detach()", 1))[0:2],
        {"kl": KL.replace("log()", "log().detach()", 1)},
    ),
    mistake(
        "impossible_left_out",
        "where q is 0 and p is not, the result is finite; it should be infinite",
        {"ce": "-p * torch.where(q == 0, 1, q).log()"},
        {"kl": "p * (torch.where(p == 0, 1, p).log() - torch.where(q == 0, 1, q).log())"},
        {"kl": KL.replace("p == 0", "(p == 0) | (q == 0)")},
        short={ZERO: "q == 0"},
    ),
    mistake(
        "divergence_reversed",
        "KL(q ‖ p) is returned; return KL(p ‖ q)",
        {"kl": REVERSED},
        short={DIVERGENCE: "cross_entropy_of(q, p, dim, base) - entropy(q, dim, base)"},
    ),
    mistake(
        "weighted_by_q",
        "the logarithm in KL is weighted by q; weight log p − log q by p",
        {"kl": KL.replace("p * (", "q * (", 1)},
        {"kl": f"-({KL.replace('p * (', 'q * (', 1)})"},
    ),
    mistake(
        "entropy_added",
        "KL adds H(p) to H(p, q); subtract it",
        {"kl": f"{CE} + {H}"},
        short={DIVERGENCE: DIVERGENCE.replace("- entropy", "+ entropy")},
    ),
    mistake(
        "quotient_of_logarithms",
        "log p is divided by log q; the logarithm of p / q is log p − log q",
        {"kl": "p * (torch.where(p == 0, 1, p).log() / torch.where(p == 0, 0.5, q).log())"},
    ),
    Mistake(
        "arguments_not_passed_on",
        "KL uses dim or base in only one of its parts, or dim and base in none; use both throughout",
        *(
            {DIVERGENCE: f"cross_entropy_of(p, q{ce}) - entropy(p{h})"}
            for ce, h in (
                ("", ""),
                (", dim, base", ""),
                ("", ", dim, base"),
                (", dim, base", ", dim"),
                (", dim", ", dim, base"),
            )
        ),
    ),
    mistake(
        "softmax_of_probabilities",
        "a softmax is taken of p or q, which are probabilities already; take them as they are",
        {"ce": "-p * q.log_softmax(dim)"},
        {"h": "-p.softmax(dim) * p.log_softmax(dim)"},
        {"ce": "-p.softmax(dim) * q.log_softmax(dim)"},
        {"kl": "p * (torch.where(p == 0, 1, p).log() - q.log_softmax(dim))"},
        {"kl": "p.softmax(dim) * (p.log_softmax(dim) - q.log_softmax(dim))"},
        {
            "h": "-p.softmax(dim) * p.log_softmax(dim)",
            "ce": "-p.softmax(dim) * q.log_softmax(dim)",
            "kl": "p.softmax(dim) * (p.log_softmax(dim) - q.log_softmax(dim))",
        },
    ),
    mistake("symmetric", "KL is made symmetric in p and q; return only KL(p ‖ q)", {"kl": f"({KL} + {REVERSED}) / 2"}),
    mistake("cross_entropy_reversed", "H(q, p) is returned; swap p and q", {"ce": SWAPPED}),
    mistake(
        "divergence_without_entropy",
        "H(p, q) is returned for KL(p ‖ q); subtract H(p)",
        {"kl": CE},
        short={DIVERGENCE: "cross_entropy_of(p, q, dim, base)"},
    ),
    mistake(
        "entropy_of_the_other",
        "KL subtracts H(q) from H(p, q); subtract H(p)",
        {"kl": f"{CE} + q * torch.where(q == 0, 1, q).log()"},
        short={DIVERGENCE: DIVERGENCE.replace("entropy(p", "entropy(q")},
    ),
    mistake(
        "quotient_overflows_in_half",
        "p / q overflows float16 where q is tiny; take log p − log q, or a wider dtype",
        {"kl": "p * (torch.where(p == 0, 1, p) / torch.where(p == 0, 1, q)).log()"},
    ),
    Mistake(
        "normalised",
        "p and q are divided by their sums; take them as they are",
        {"    log_q =": "    p, q = (each / each.sum(dim, keepdim=True) for each in (p, q))\n    log_q ="},
        *(edits for change in each(*map(normalised, (H, CE, KL))) for edits in forms(**change)),
    ),
    mistake(
        "generalised_divergence",
        "−p + q is added in KL, which changes its gradients; leave it out",
        {"kl": f"{KL} - p + q"},
    ),
    Mistake(
        "clamped_at_0",
        "results that rounding makes slightly negative are clamped at 0, which cuts the gradients of KL where p is "
        "nearly q; do not clamp",
        *[*forms(summed="terms.sum(dim).clamp(min=0)")][:2],
    ),
    mistake(
        "bits",
        "without a base the result is in bits; use the natural logarithm",
        {"unit": "math.log(base or 2)"},
        short={BASED: BASED.replace("nats", "nats / math.log(2)", 1)},
    ),
    mistake(
        "bits_and_base",
        "log2 is taken, and the result is still divided by log(base); take the natural logarithm",
        {"unit": f"{NATS} * math.log(2)"},
        short={LOG_Q: LOG_Q.replace("log()", "log2()")},
    ),
    mistake(
        "base_ignored",
        "`base` is ignored; divide by its logarithm",
        {"unit": "1"},
        short={BASED: "nats"},
    ),
    mistake(
        "base_multiplied",
        "the result is multiplied by log(base); divide by it",
        {"unit": f"1 / {NATS}"},
        short={BASED: BASED.replace("/", "*")},
    ),
    mistake(
        "base_applied_twice",
        "KL is divided by log(base) although its parts are already in that base; divide once",
        {"kl": f"{KL} / {NATS}"},
        short={DIVERGENCE: f"({DIVERGENCE}) / {NATS}"},
    ),
    mistake(
        "divided_by_the_base", "the result is divided by base itself; divide by its logarithm", {"unit": "base or 1"}
    ),
    mistake(
        "some_bases_only",
        "only base 2, or 2 and 10, is heeded; divide by the logarithm of whichever base is given",
        {"unit": "{2: math.log(2)}.get(base, 1)"},
        {"unit": "{2: math.log(2), 10: math.log(10)}.get(base, 1)"},
    ),
    mistake("base_in_float32", "log(base) is in float32; use math.log", {"unit": "torch.tensor(base or math.e).log()"}),
    mistake(
        "base_0_for_none",
        "a base of 0 is treated as None; check `base is None`",
        {"check": "base and (base < 0 or base == 1)"},
    ),
    mistake(
        "base_below_1",
        "bases below 1 are refused, but every positive base except 1 is valid, 0.5 for example",
        {"check": "base is not None and base <= 1"},
        short={CHECK: "base is not None and base <= 1"},
    ),
    mistake(
        "mean_for_sum",
        "the terms are averaged; sum them",
        {"summed": "terms.mean(dim)"},
        short={"(p * log_q).sum(dim)": "(p * log_q).mean(dim)"},
    ),
    mistake(
        "everything_summed",
        "all entries are summed up; sum only along `dim`",
        {"summed": "terms.sum()"},
        short={"(p * log_q).sum(dim)": "(p * log_q).sum()"},
    ),
    mistake(
        "axis_kept", "the result has an axis of length 1 for `dim`; drop it", {"summed": "terms.sum(dim, keepdim=True)"}
    ),
    mistake(
        "one_axis_always",
        "`dim` is ignored and the last axis is summed, or the first, or the second; use dim",
        *({"summed": f"terms.sum({axis})"} for axis in (-1, 0, 1)),
        short={"(p * log_q).sum(dim)": "(p * log_q).sum(-1)"},
    ),
    mistake(
        "wrong_sign",
        "the sign is wrong; with a base above 1, all three results are at least 0",
        {"unit": f"-{NATS}"},
        {"h": H[1:]},
        {"kl": f"-({KL})"},
        short={"-(p * log_q)": "(p * log_q)"},
    ),
    mistake(
        "summed_one_by_one",
        "the rows or the outcomes are summed one by one; sum along `dim` in one call",
        {"summed": ROWS},
        {"summed": "sum(terms.unbind(dim))"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    "log_q = torch.where((p == 0) & (q == 0), 1, q).log() -> log_q = torch.where((p == 0) & (q == 0), 2, q).log()": (
        "any positive number is multiplied by p = 0, and any finite gradient is right there"
    ),
} | {
    f"if {CHECK}: -> if {CHECK.replace('<= 0', other)}:": "math.log also raises ValueError for what is not positive"
    for other in ("< 0", "<= -1")
}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "dim": "from the last to the first axis of three, in either way of counting",
}
