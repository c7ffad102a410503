"""Known wrong answers to layer_norm."""

from graders.kata import Mistake

FITS = "x.shape[-k:] != shape"
OTHER = "{0} is not None and {0}.shape != shape"
AXES = "axes = list(range(-k, 0))"
VAR = "var = x.var(axes, correction=0, keepdim=True)"
Y = "y = (x - mean) / torch.sqrt(var + eps)"
SCALED = "    if weight is not None:\n        y = y * weight\n"
SHIFTED = "    if bias is not None:\n        y = y + bias\n"

# What x − μ is divided by.
DIVISORS = {
    "eps_as_the_least_variance": ("torch.sqrt(var.clamp_min(eps))", "the variance is clamped to eps; add eps to it"),
    "no_eps": ("torch.sqrt(var)", "eps is not used, so a block of equal values gives NaN; add it to the variance"),
    "no_root": ("(var + eps)", "the values are divided by the variance; divide by its root"),
    "std_plus_eps": (
        "(x.std(axes, keepdim=True) + eps)",
        "x.std() + eps has two mistakes: it divides by n − 1, and eps is outside the root; use √(variance + eps)",
    ),
}
# What the mean and the variance are taken over.
OVER = {
    "last_axis_only": ("[-1]", "the last axis alone; take as many axes as normalized_shape has"),
    "all_but_the_first_axis": (
        "list(range(1, x.dim())) or [0]",
        "every axis but the first; take as many of the last as normalized_shape has",
    ),
    "axes_from_the_front": ("list(range(k))", "the first axes of x; normalized_shape means the last ones"),
    "over_the_other_axes": (
        "list(range(x.dim() - k)) or list(range(k))",
        "the axes in front of normalized_shape, as in batch norm; take those that it names",
    ),
    "one_for_everything": ("list(range(x.dim()))", "the whole of x; each block has its own"),
}
# When weight or bias, {0}, is refused.
IN_PART = [
    {OTHER.format(name): f"{name} is not None and {condition.format(name)}"}
    for name in ("weight", "bias")
    for condition in (
        "{0}.shape[-1:] != shape[-1:]",
        "{0}.numel() != torch.Size(shape).numel()",
        "torch.broadcast_shapes({0}.shape, shape) != shape",
        "torch.broadcast_shapes({0}.shape, x.shape) != x.shape",
    )
]
# How the variance is taken from rows of x − μ.
SLOW = {
    "loop_over_the_blocks": (
        "torch.stack([row.square().mean() for row in rows])",
        "the blocks go through a Python loop; mean and var do all of them at once",
    ),
    "loop_over_the_values": (
        "(sum(column.square() for column in rows.T) / rows.shape[1])",
        "the squares are added up in a Python loop over the values of a block; mean and var do it in one call",
    ),
    "products_of_all_blocks": (
        "((rows @ rows.T).diagonal() / rows.shape[1])",
        "all blocks are multiplied with each other, and all but the diagonal is thrown away; square instead",
    ),
}


def variance(text: str) -> dict[str, str]:
    return {VAR: f"var = {text}"}


def result(text: str) -> dict[str, str]:
    return {Y: f"y = {text}"}


MISTAKES = (
    Mistake(
        "unbiased",
        "the variance divides by one less than the number of values; divide by their number",
        variance("x.var(axes, keepdim=True)"),
    ),
    Mistake(
        "eps_outside_the_root",
        "eps is added to the root; add it to the variance",
        result("(x - mean) / (torch.sqrt(var) + eps)"),
        also=(result("(x - mean) / (x.std(axes, correction=0, keepdim=True) + eps)"),),
    ),
    *(Mistake(name, wrong, result(f"(x - mean) / {text}")) for name, (text, wrong) in DIVISORS.items()),
    Mistake(
        "eps_ignored",
        "1e-5 is used in place of eps, for any eps, for 0 or without weight and bias; use the one that is passed",
        result("(x - mean) / torch.sqrt(var + 1e-5)"),
        also=tuple(
            result(f"(x - mean) / torch.sqrt(var + ({eps}))")
            for eps in ("eps or 1e-5", "1e-5 if weight is None else eps", "1e-5 if bias is None else eps")
        ),
    ),
    Mistake(
        "a_least_eps",
        "an eps below a tiny number is raised to it, which shows where eps is 0 and the variance tiny; add it as it is",
        result("(x - mean) / torch.sqrt(var + max(eps, 1e-12))"),
    ),
    Mistake(
        "not_centred",
        "the mean is not subtracted, as in RMS norm; subtract it from x",
        result("x / torch.sqrt(x.square().mean(axes, keepdim=True) + eps)"),
        also=(result("x / torch.sqrt(var + eps)"),),
    ),
    *(
        Mistake(name, f"the mean and the variance are taken over {wrong}", {AXES: f"axes = {axes}"})
        for name, (axes, wrong) in OVER.items()
    ),
    Mistake(
        "variances_averaged",
        "variances over the last axis are averaged, which leaves out how their means differ; take one over all axes",
        variance("x.var(-1, correction=0, keepdim=True).mean(axes, keepdim=True)"),
    ),
    Mistake(
        "difference_of_squares",
        "E[x²] − E[x]² loses its digits where the mean is large; subtract each block's own mean before squaring",
        variance("(x * x).mean(axes, keepdim=True) - mean * mean"),
        also=(
            variance("((x * x).mean(axes, keepdim=True) - mean * mean).clamp_min(0)"),
            variance("(x - x.mean()).square().mean(axes, keepdim=True) - (mean - x.mean()).square()"),
        ),
    ),
    Mistake(
        "statistics_detached",
        "the mean or the variance is detached, so the gradient of x misses how it depends on x",
        result("(x - mean.detach()) / torch.sqrt(var.detach() + eps)"),
        also=(
            result("(x - mean.detach()) / torch.sqrt(var + eps)"),
            result("(x - mean) / torch.sqrt(var.detach() + eps)"),
        ),
    ),
    Mistake(
        "only_together",
        "weight or bias is ignored where the other is not given; each may come alone",
        {SCALED: "", SHIFTED: "    if weight is not None and bias is not None:\n        y = y * weight + bias\n"},
        also=(
            {SHIFTED: SHIFTED.replace("if bias", "if weight is not None and bias")},
            {SCALED: SCALED.replace("if weight", "if bias is not None and weight")},
        ),
    ),
    Mistake(
        "bias_before_weight",
        "bias is added before weight multiplies, so it is multiplied, too; multiply first",
        {SCALED: "", SHIFTED: SHIFTED + SCALED},
    ),
    Mistake(
        "list_is_never_equal",
        "a part of x.shape is never equal to a list, so a right normalized_shape is refused; make it a tuple first",
        {FITS: "x.shape[-k:] != normalized_shape"},
    ),
    Mistake(
        "empty_is_the_end_of_nothing",
        "an empty normalized_shape passes where x has no axes, since x.shape[-0:] is all of x.shape; refuse it first",
        {"not shape or ": ""},
    ),
    Mistake(
        "compared_in_part",
        "not all of normalized_shape is compared with x.shape; each size should fit, and x have as many axes or more",
        {FITS: "x.shape[-1:] != shape[-1:]"},
        also=(
            {FITS: "any(a != b for a, b in zip(shape[::-1], x.shape[::-1]))"},
            {FITS: "x.shape[-k:].numel() != torch.Size(shape).numel()"},
        ),
    ),
    Mistake(
        "weight_or_bias_compared_in_part",
        "weight or bias of another shape is taken where it broadcasts, or fits in part; compare whole shapes",
        IN_PART[0],
        also=tuple(IN_PART[1:]),
    ),
    *(
        Mistake(
            name,
            wrong,
            {VAR: f"rows = (x - mean).reshape(-1, torch.Size(shape).numel())\n    var = {text}.reshape(mean.shape)"},
            slow=True,
        )
        for name, (text, wrong) in SLOW.items()
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
