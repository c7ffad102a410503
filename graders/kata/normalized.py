"""What layer norm and instance norm share: the mistakes that people make in both, as edits of either reference."""

from graders.kata.mistakes import Mistake
from graders.kata.tolerances import last_places

ROUNDED = last_places(6)  # gradients are made of mean, variance and root, each of them rounded

VAR = "var = x.var(axes, correction=0, keepdim=True)"
Y = "y = (x - mean) / torch.sqrt(var + eps)"
# What x − μ is divided by.
DIVISORS = {
    "eps_as_the_least_variance": ("torch.sqrt(var.clamp_min(eps))", "max(variance, eps) is used; use variance + eps"),
    "no_eps": ("torch.sqrt(var)", "eps is not used, so equal values give NaN; add it to the variance"),
    "eps_in_the_sum": (
        "torch.sqrt(var + eps * var.numel() / x.numel())",
        "eps is added to the sum of the squares and divided with it; add it to the variance, their mean",
    ),
    "no_root": ("(var + eps)", "the values are divided by the variance; divide by √(variance + eps)"),
    "sum_of_squares": (
        "torch.sqrt((x - mean).square().sum(axes, keepdim=True) + eps)",
        "the squares are added up, but not divided by their number; take their mean",
    ),
    "std_plus_eps": (
        "(x.std(axes, keepdim=True) + eps)",
        "x.std() takes the unbiased variance, and eps is added outside the root; use √(biased variance + eps)",
    ),
}


def variance(text: str, before: str = "") -> dict[str, str]:
    """`before` are lines that stand before the one that sets it."""
    return {VAR: f"{before}var = {text}"}


def result(text: str) -> dict[str, str]:
    return {Y: f"y = {text}"}


def mistakes(scaled: str, shifted: str) -> tuple[Mistake, ...]:
    """`scaled` and `shifted` are the two lines each by which the reference applies weight and bias."""
    with_bias = {scaled: scaled.replace("if weight", "if bias is not None and weight")}
    with_weight = {shifted: shifted.replace("if bias", "if weight is not None and bias")}
    return (
        Mistake(
            "unbiased",
            "the variance divides by one less than the number of values; divide by their number",
            variance("x.var(axes, keepdim=True)"),
        ),
        Mistake(
            "eps_outside_the_root",
            result("(x - mean) / (torch.sqrt(var) + eps)"),
            result("(x - mean) / (x.std(axes, correction=0, keepdim=True) + eps)"),
        ),
        *(Mistake(name, wrong, result(f"(x - mean) / {text}")) for name, (text, wrong) in DIVISORS.items()),
        Mistake(
            "eps_ignored",
            "in some calls or in all of them, 1e-5 is used in place of eps; use the eps that is passed",
            result("(x - mean) / torch.sqrt(var + 1e-5)"),
            *(
                result(f"(x - mean) / torch.sqrt(var + ({eps}))")
                for eps in ("eps or 1e-5", "1e-5 if weight is None else eps", "1e-5 if bias is None else eps")
            ),
        ),
        Mistake(
            "a_least_eps",
            "an eps below a constant such as 1e-12 is replaced by the constant, which is wrong for a tiny variance; "
            "add eps as it is",
            result("(x - mean) / torch.sqrt(var + max(eps, 1e-12))"),
        ),
        Mistake(
            "not_centred",
            "the mean stays in x, as in RMS norm; use (x − mean) / √(variance + eps)",
            result("x / torch.sqrt(x.square().mean(axes, keepdim=True) + eps)"),
            result("x / torch.sqrt(var + eps)"),
        ),
        Mistake(
            "variances_averaged",
            "variances along the last axis are averaged, which ignores how the means of the rows differ; take one "
            "variance over the same axes as the mean",
            variance("x.var(-1, correction=0, keepdim=True).mean(axes, keepdim=True)"),
        ),
        Mistake(
            "difference_of_squares",
            "the variance is a difference of squares, as E[x²] − E[x]², and loses digits if both are large; take the "
            "mean of (x − μ)² instead",
            variance("(x * x).mean(axes, keepdim=True) - mean * mean"),
            variance("((x * x).mean(axes, keepdim=True) - mean * mean).clamp_min(0)"),
            variance("(x - x.mean()).square().mean(axes, keepdim=True) - (mean - x.mean()).square()"),
        ),
        Mistake(
            "statistics_detached",
            "the mean, the variance or both are detached, so the gradient of x lacks their part; detach neither",
            result("(x - mean.detach()) / torch.sqrt(var.detach() + eps)"),
            result("(x - mean.detach()) / torch.sqrt(var + eps)"),
            result("(x - mean) / torch.sqrt(var.detach() + eps)"),
        ),
        Mistake(
            "only_together",
            "weight is ignored without a bias, or bias without a weight; each may come alone",
            with_weight,
            with_bias,
            with_weight | with_bias,
        ),
        Mistake(
            "bias_before_weight",
            "bias is added too early, so weight also multiplies bias; first multiply by weight, then add bias",
            {scaled: "", shifted: shifted + scaled},
        ),
    )
