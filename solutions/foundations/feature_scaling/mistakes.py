"""Known wrong answers to feature_scaling."""

from graders.kata import Mistake

DIVIDED, WIDENED = "x / torch.where(scale == 0, 1, scale)", "x.to(torch.promote_types(x.dtype, torch.float32))"
LIMITS, TOP = "wide.amin(0), wide.amax(0)", "x.abs().amax(0)"
FIRST, FIRST_TOP = "wide.min(0).values, wide.max(0).values", "x.abs().max(0).values"  # of equal ones
SHIFTED, STD = "wide - wide[0]", "shifted.std(0, correction=0)"
QUARTILES = "torch.quantile(wide, wide.new_tensor([0.25, 0.5, 0.75]), dim=0)"
LOG = "torch.log1p(x)"
L1, L2 = "wide.abs().sum(1, keepdim=True)", "torch.linalg.vector_norm(wide, dim=1, keepdim=True)"
BY_ROW = (
    {LIMITS: "wide.amin(1, keepdim=True), wide.amax(1, keepdim=True)"},
    {SHIFTED: "wide", "shifted.mean(0)": "shifted.mean(1, keepdim=True)", STD: "shifted.std(1, False, True)"},
    {TOP: "x.abs().amax(1, keepdim=True)"},
    {QUARTILES: QUARTILES.replace("dim=0", "dim=1, keepdim=True")},
)
BY_COLUMN = ({L1: "wide.abs().sum(0)"}, {L2: "torch.linalg.vector_norm(wide, dim=0)"})
BY_TABLE = ({LIMITS: "wide.min(), wide.max()"}, {TOP: "x.abs().max()"}, {L2: "torch.linalg.vector_norm(wide)"})
ONE_PASS = "wide.square().mean(0) - wide.mean(0).square()"
ROOT_OF_MEAN = {STD: "(shifted - shifted.mean(0)).square().mean(0).sqrt()"}
AFTER_WIDENED = ("low", "shifted", "q1", "return divided(wide, wide.abs()", "return divided(wide, torch.linalg")


def quotients(name: str, diagnosis: str, quotient: str, *more: dict[str, str], eps: tuple[str, ...] = ("",)) -> Mistake:
    """Another quotient in all functions, or in one of them, with each eps."""
    pairs = [("wide - low", "high - low"), ("shifted - shifted.mean(0)", STD), ("x", TOP), ("wide - median", "q3 - q1")]
    pairs += [("wide", L1), ("wide", L2)]
    made = [quotient.format("{0}", "{1}", one) for one in eps]
    alone = [{f"divided({x}, {scale})": one.format(f"({x})", f"({scale})")} for one in made for x, scale in pairs]
    return Mistake(name, diagnosis, {DIVIDED: made[0].format("x", "scale")}, *alone, *more)


def everywhere(quotient: str, *eps: str) -> tuple[dict[str, str], ...]:
    """A quotient in all functions, which may be written down without the reference's care."""
    careless = (
        {SHIFTED: "wide"},
        {SHIFTED: "wide", WIDENED: "x"},
        {SHIFTED: "wide", WIDENED: "x", LIMITS: FIRST, TOP: FIRST_TOP},
    )
    made = ({DIVIDED: quotient.format(one)} for one in eps or ("1e-12", "1e-10", "1e-8", "1e-7", "1e-6", "1e-5"))
    return tuple(one | more for one in made for more in ({}, *careless))


MISTAKES = (
    quotients(
        "divided_by_0",
        "a divisor of 0, such as a constant column's or a zero row's, gives NaN or ∞; divide by 1 there",
        "({0} / {1})",
        *everywhere("x / scale", "0"),
    ),
    quotients(
        "repaired_too_late",
        "0 / 0 is replaced after the division, or a square root is taken of 0: the gradient is NaN there, even if the "
        "value is right; replace the 0 before you divide or take the root",
        "torch.where({1} == 0, {0}, {0} / {1})",
        {DIVIDED: "(x / scale).nan_to_num(0)"},
        {**ROOT_OF_MEAN, L2: "wide.square().sum(1, keepdim=True).sqrt()"},
    ),
    quotients(
        "eps_added",
        "an eps is added to the divisor, or under its root, which is wrong where the divisor is small; divide by 1 "
        "where the divisor is 0",
        "({0} / ({1} + {2}))",
        *everywhere("x / (scale + {})"),
        *({STD: f"(shifted.var(0, correction=0) + {eps}).sqrt()"} for eps in (1e-5, 1e-8)),
        eps=("1e-8", "1e-12", "1e-6", "1e-5"),
    ),
    quotients(
        "scale_clamped",
        "tiny divisors are raised to a bound such as 1e-12, so results, or gradients in float16, are wrong; replace "
        "only a divisor of exactly 0, by 1",
        "({0} / {1}.clamp_min(1e-12))",
        *everywhere("x / scale.clamp_min({})"),
    ),
    quotients(
        "statistics_detached",
        "the divisor or another statistic of x is detached; all of them depend on x, so let gradients flow through "
        "them",
        "({0} / torch.where({1} == 0, 1, {1}).detach())",
        {"wide - low, high - low": "wide - low.detach(), (high - low).detach()"},
    ),
    Mistake(
        "wrong_axis",
        "the wrong axis is reduced; take axis 1 in l1_normalize and l2_normalize, and axis 0 in min_max, z_score, "
        "max_abs and robust",
        *(*BY_ROW, *BY_COLUMN),
    ),
    Mistake(
        "whole_table", "one statistic is taken of the whole table; take one for each column, or for each row", *BY_TABLE
    ),
    Mistake(
        "sample_std",
        "the variance is divided by N − 1, as torch.std does by default; divide by N: correction=0",
        *({STD: "shifted.std(0)"}, {STD: "shifted.std(0)", SHIFTED: "wide"}),
        {STD: "torch.where(shifted.any(0), shifted.std(0), 0)"},
    ),
    Mistake(
        "root_missing",
        "the variance, or the sum of the squares, is used without its root; take the square root",
        *({STD: STD.replace("std", "var")}, {L2: L2 + ".square()"}),
    ),
    Mistake(
        "mean_rounds",
        "the mean of a constant column is rounded, so x − mean is not 0 there; ask whether the column is constant, "
        "or subtract one of its entries first",
        {SHIFTED: "wide"},
        {SHIFTED: "wide", **ROOT_OF_MEAN},
    ),
    Mistake(
        "nearly_constant",
        "a column far from 0 counts as constant where its numbers are close to each other; ask whether they are equal",
        {"high - low": "(high - low).where(~torch.isclose(high, low, atol=0), 0)"},
        {STD: f"{STD}.where(~torch.isclose(wide.amax(0), wide.amin(0), atol=0), 0)"},
    ),
    Mistake(
        "one_pass_variance",
        "the variance is taken as mean(x²) − mean(x)², which cancels far from 0; average (x − mean)²",
        {SHIFTED: "wide", STD: f"({ONE_PASS}).sqrt()"},
        {STD: f"torch.where(shifted.any(0), {ONE_PASS}, 0).sqrt()"},
    ),
    Mistake(
        "abs_missing",
        "the absolute values are left out, or taken after the maximum; max_abs should divide by max |x|, and "
        "l1_normalize by Σ |x|",
        *({TOP: "x.amax(0)"}, {TOP: "x.amax(0).abs()"}, {L1: "wide.sum(1, keepdim=True)"}),
    ),
    Mistake(
        "lower_median",
        "torch.median gives the lower of the two middle numbers; take their mean, as torch.quantile does",
        {"wide - median": "wide - wide.median(0).values"},
    ),
    Mistake(
        "mean_for_median", "robust subtracts the mean; subtract the median", {"wide - median": "wide - wide.mean(0)"}
    ),
    Mistake(
        "not_interpolated",
        "the quartiles are not interpolated linearly between the two nearest numbers; use torch.quantile's default",
        {QUARTILES: [QUARTILES[:-1] + f', interpolation="{how}")' for how in ("lower", "nearest", "midpoint")]},
        {QUARTILES: QUARTILES[:-1] + ', interpolation="nearest")', "wide - median": "wide - wide.quantile(0.5, dim=0)"},
    ),
    Mistake(
        "equal_quartiles_give_0",
        "robust makes a whole column 0 where its quartiles are equal; only subtract the median there",
        {"divided(wide - median, q3 - q1)": "divided(wide - median, q3 - q1).where(q3 > q1, 0)"},
    ),
    Mistake("log_of_1_plus_x", "1 + x rounds a small x away; use torch.log1p", {LOG: "torch.log(1 + x)"}),
    Mistake(
        "log_of_another",
        "the logarithm is taken of another number than 1 + x, or x is changed first; take torch.log1p of x as it is, "
        "even if x is negative",
        *(
            {LOG: "torch.log(x)"},
            {LOG: "x.sign() * torch.log1p(x.abs())"},
            {LOG: "torch.log1p(x.clamp_min(0))"},
            {LOG: "torch.log1p(x.clamp_min(-0.999999))"},
        ),
    ),
    Mistake(
        "half_precision_inside",
        "a sum, square or difference overflows float16, or torch.quantile refuses float16; compute half precision in "
        "float32",
        {WIDENED: "x"},
        *({f"wide = widened(x)\n    {after}": f"wide = x\n    {after}"} for after in AFTER_WIDENED),
    ),
    Mistake(
        "all_pairs",
        "all rows are compared with all rows, N² · F numbers; reduce over axis 0 instead",
        {"high - low": "(wide[:, None] - wide).amax((0, 1))"},
        {STD: "torch.linalg.vector_norm(shifted[:, None] - shifted, dim=(0, 1)) / (2**0.5 * len(x))"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    "shifted = wide - wide[0] -> shifted = wide - wide[-1]": "any row serves: it only makes constant columns 0",
    f"return {WIDENED} -> return x.to(torch.promote_types(torch.float32, x.dtype))": "the wider one has no order",
}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "axis * of low": "numbers ever closer to −1; a column has no length of its own to depend on",
    "axis * of w": "what a result is multiplied with, of its shape",
}
