"""Known wrong answers to mutual_information."""

from graders.kata import Mistake

# Terms of the joint p, its marginals x (X, 1) and y (1, Y), and z, the one that is given.
KL = "p * (log(p) - log(x) - log(y))"
CE = "p * (log(z) - log(p))"
RAW = ("p * (p.log() - x.log() - y.log())", "p * (z.log() - p.log())")
FORMS = (
    {"mi": KL, "ce": CE},
    {"mi": "h(x) + h(y) - h(p)", "ce": "h(p) - h(z)"},
    {"mi": "p * log(p / (x * y))", "ce": "-p * log(p / z)"},
    {"mi": "h(x) - (p * (log(y) - log(p))).sum()"},
)
RAISED = (" + 1e-8", " + 1e-10", " + 1e-12", ".clamp_min(1e-8)", ".clamp_min(1e-12)")
NATS = "math.log(base or math.e)"
CHECK = "base is not None and (base <= 0 or base == 1)"
DEFAULTS = {"inside": "torch.where(p == 0, 1, p)", "h": "-p * log(p)", "check": CHECK, "unit": NATS}
OWN = """from torch import Tensor


log = lambda p: ({inside}).log()
h = lambda p: ({h}).sum()


def total(p, base, terms):
    if p.dim() != 2 or ({check}):
        raise ValueError("bad arguments")
    return terms(p, p.sum(1, keepdim=True), p.sum(0, keepdim=True)).sum() / ({unit})
"""


def edits(mi: str = KL, ce: str = CE, **own: str) -> dict[str, str]:
    """Both functions with a sum of their own; with an empty `mi`, it is H(x) − H(x | y) by the other one."""
    made = OWN.format(**DEFAULTS | own)
    terms = {
        'h_x_given_y = conditional_entropy(joint, "y", base)': mi,
        'known = joint.sum(0 if given == "y" else 1, keepdim=True)': f"(lambda z: {ce})(y if given == 'y' else x)",
    }
    sums = {old: f"return total(joint, base, lambda p, x, y: {new})" for old, new in terms.items() if new}
    return {f"if {CHECK}:": "if False:", "from torch import Tensor\n": made} | sums


def mistake(
    name: str, diagnosis: str, *changes: dict[str, str], short: dict[str, str] | None = None, slow: bool = False
) -> Mistake:
    """`short` is an edit of the reference as it stands, for debug rounds."""
    made = [edits(**change) for change in changes]
    return Mistake(name, diagnosis, *made, *([short] if short else []), slow=slow)


def each(mi: str, ce: str) -> tuple[dict[str, str], ...]:
    """Both wrong, then each alone, and what H(x) − H(x | y) makes of it."""
    return ({"mi": mi, "ce": ce}, {"mi": mi}, *conditional(ce))


def conditional(*wrong: str) -> tuple[dict[str, str], ...]:
    return tuple(change for ce in wrong for change in ({"ce": ce}, {"ce": ce, "mi": ""}))


MISTAKES = (
    mistake(
        "given_swapped",
        '`given` is taken the wrong way round; "y" should give H(x | y), which needs p(y), the sums over x',
        *conditional(CE.replace("z", "(x if given == 'y' else y)")),
        short={'0 if given == "y" else 1': '1 if given == "y" else 0'},
    ),
    Mistake("given_ignored", '`given` is ignored; sum over y for "x"', {'0 if given == "y" else 1': "0"}),
    Mistake("given_x_by_default", '`given` is "x" by default; it should be "y"', {'str = "y"': 'str = "x"'}),
    Mistake("given_in_a_text", '`in "xy"` also finds "" and "xy"; use a tuple of "x" and "y"', {'("x", "y")': '"xy"'}),
    mistake(
        "wrong_axis",
        "H(x) − H(y | x) or H(y) − H(x | y) is returned; return H(x) − H(x | y), or H(y) − H(y | x)",
        *({"mi": f"2 * h({one}) - h(p)"} for one in "xy"),
    ),
    mistake(
        "sums_across",
        "the sums lie along the wrong axis of the table; p(x) should be (X, 1), and p(y) (1, Y)",
        *each(KL.replace("x", "y.T").replace("(y)", "(x.T)"), CE.replace("z", "z.T"))[:3],
    ),
    Mistake(
        "zero_times_infinity",
        {"torch.where(p == 0, 1, p).log() for p": "p.log() for p"},
        *(edits(**form, inside="p") for form in FORMS),
    ),
    mistake(
        "patched_after_the_logarithm",
        "zeros are replaced only after the logarithm or the division, or left to xlogy or entr, so gradients are not "
        "finite; replace them first",
        *each("torch.where(p > 0, p * (p / (x * y)).log(), 0)", "torch.where(p > 0, -p * (p / z).log(), 0)"),
        *each(*(f"torch.where(p > 0, {one}, 0)" for one in RAW)),
        *each("p * torch.where(p > 0, p / (x * y), 1).log()", "-p * torch.where(p > 0, p / z, 1).log()"),
        *each("(p * (p / (x * y)).log()).nansum()", "(-p * (p / z).log()).nan_to_num()"),
        *(form | {"h": h} for h in ("-torch.xlogy(p, p)", "torch.special.entr(p)") for form in each(**FORMS[1])),
    ),
    mistake(
        "eps_in_the_logarithm",
        "an eps or a clamp raises the input of the logarithm; change that input only in 0 · log 0",
        *(form | {"inside": f"p{raised}"} for raised in RAISED for form in FORMS),
        *each("p * (log(p) - (x * y + 1e-12).log())", "p * ((z + 1e-12).log() - log(p))"),
        *({"mi": f"p * ((p + {eps}) / (x * y + {eps})).log()"} for eps in ("1e-12", "1e-10")),
        {"mi": "p * (p / (x * y + 1e-12) + 1e-12).log()"},
    ),
    mistake(
        "product_underflows",
        "p(x) p(y) is 0 in float32 where both are 1e-30; subtract both logarithms, or multiply in float64",
        {"mi": "p * (torch.where(p == 0, 1, p) / torch.where(p == 0, 1, x * y)).log()"},
        {"mi": "p * (log(p) - log(x * y))"},
        {"mi": "p[p > 0] * (p[p > 0] / (x * y)[p > 0]).log()"},
    ),
    mistake(
        "conditions_unweighted",
        "the entropies of p(x | y) are summed or averaged as if all y were equally likely; weigh each by p(y)",
        *conditional("h(p / torch.where(z == 0, 1, z))", "h(p / torch.where(z == 0, 1, z)) / z.numel()"),
        {"ce": "h(p.double() / torch.where(z == 0, 1, z.double())).to(p.dtype)"},
    ),
    mistake(
        "another_entropy",
        "H(x, y) is returned for H(x | y); subtract H(y)",
        *conditional("h(p)"),
        short={"(log_known - log_joint)": "-log_joint"},
    ),
    mistake(
        "nothing_known",
        "H(x) is returned for H(x | y); return −Σ p(x, y) log p(x | y)",
        *conditional("h(x if given == 'y' else y)"),
    ),
    mistake(
        "no_information",
        "the result is H(x, y), or H(x | y) + H(y | x), or a normalised information; return I = H(x) + H(y) − H(x, y)",
        *({"mi": mi} for mi in ("h(p)", "2 * h(p) - h(x) - h(y)")),
        *({"mi": f"({KL}).sum() / {by}"} for by in ("(h(x) * h(y)).sqrt()", "(h(x) + h(y)) * 2", "h(x)", "h(p)")),
    ),
    mistake(
        "reversed",
        "KL(p(x) p(y) ‖ p(x, y)) is returned; swap its arguments",
        {"mi": "x * y * (log(x) + log(y) - log(p))"},
    ),
    mistake(
        "sign_of_the_information",
        "mutual_information has the wrong sign; with a base above 1 it is at least 0",
        {"mi": f"-({KL})"},
        short={
            "(h_x if base is None else h_x / math.log(base)) - h_x_given_y": "h_x_given_y - "
            "(h_x if base is None else h_x / math.log(base))"
        },
    ),
    mistake(
        "clamped_at_0",
        "results below 0 are clamped or lose their sign, but with a base below 1 they are right; keep them",
        *each(f"(({KL}).sum() / {NATS}).clamp(min=0) * {NATS}", f"(({CE}).sum() / {NATS}).clamp(min=0) * {NATS}"),
        {"mi": f"(({KL}).sum() / {NATS}).abs() * {NATS}"},
    ),
    mistake(
        "renormalised",
        "the joint is divided by its sum, which changes the gradients; take it as it is",
        *each(f"({KL}).sum() / p.sum() + p.sum().log()", f"({CE}) / p.sum()"),
    ),
    mistake(
        "marginals_detached",
        "a marginal is detached, but it depends on the joint; keep its graph",
        *each(KL.replace("x", "x.detach()").replace("y", "y.detach()"), CE.replace("z", "z.detach()")),
        short={"1, keepdim=True)": "1, keepdim=True).detach()"},
    ),
    Mistake(
        "entropy_of_one_column",
        "H(x) is computed as H(x | y) of a table with one column, but the p(y) of this table adds a constant to "
        "every gradient; use −Σ p(x) log p(x)",
        {
            "x = joint.sum(1)": "x = joint.sum(1, keepdim=True)",
            "h_x = …": 'h_x = conditional_entropy(x, "y", base)',
            "(h_x if base is None else h_x / math.log(base))": "h_x",
        },
    ),
    mistake(
        "bits",
        "without a base the result is in bits; use the natural logarithm",
        {"unit": "math.log(base or 2)"},
        {"mi": f"({KL}) * {NATS} / math.log(base or 2)"},
        short={one: one.replace(" if", " / math.log(2) if") for one in ("nats if base", "h_x if base")},
    ),
    mistake(
        "base_ignored",
        "`base` is ignored; divide by its logarithm",
        *each(f"({KL}) * {NATS}", f"({CE}) * {NATS}"),
        short={"nats if …": "nats"},
    ),
    mistake(
        "multiplied_by_the_base",
        "the result is multiplied by the logarithm of `base`; divide by it",
        *each(f"({KL}) * {NATS} ** 2", f"({CE}) * {NATS} ** 2")[:3],
    ),
    mistake(
        "base_0_for_none",
        "a base of 0 is treated as None; check `base is None`",
        {"check": "base and (base < 0 or base == 1)"},
    ),
    mistake(
        "base_1",
        "base 1 is not refused; raise ValueError, since log 1 is 0",
        {"check": "base is not None and base <= 0"},
        short={CHECK: "base is not None and base <= 0"},
    ),
    mistake(
        "base_below_1",
        "bases below 1 are refused, but every positive base except 1 is valid, 0.5 for example",
        {"check": "base is not None and base <= 1"},
        short={CHECK: "base is not None and base <= 1"},
    ),
    mistake(
        "diagonal_matrix",
        "a marginal is made the diagonal of a square matrix; let it broadcast",
        {"mi": "p * (log(p) - log(y)) - log(x).flatten().diag() @ p"},
        {"ce": "log(z).flatten().diag() @ (p if given == 'x' else p.T) + h(p) / p.numel()"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    f"{line} -> {line.replace(' 1,', ' 2,')}": "its logarithm is multiplied by 0, where any finite gradient is right"
    for line in (
        "h_x = -(x * torch.where(x == 0, 1, x).log()).sum()",
        "log_joint, log_known = (torch.where(p == 0, 1, p).log() for p in (joint, known))",
    )
} | {
    f"if {CHECK}: -> if {CHECK.replace('<= 0', other)}:": "math.log also raises ValueError for what is not positive"
    for other in ("< 0", "<= -1")
}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "base": "below 1, near 1, whole and fractional ones: the base is a factor alone",
}
