"""Known wrong answers to layer_norm."""

from graders.kata import Mistake, normalized

FITS = "x.shape[-k:] != shape"
OTHER = "{0} is not None and {0}.shape != shape"
SCALED = "    if weight is not None:\n        y = y * weight\n"
SHIFTED = "    if bias is not None:\n        y = y + bias\n"

# What the mean and the variance are taken over.
OVER = {
    "last_axis_only": ("[-1]", "the last axis only; take the last axes, as many as normalized_shape has"),
    "all_but_the_first_axis": (
        "list(range(1, x.dim())) or [0]",
        "every axis but the first; take the last axes, as many as normalized_shape has",
    ),
    "axes_from_the_front": ("list(range(k))", "the first axes of x; normalized_shape means the last ones"),
    "over_the_other_axes": (
        "list(range(x.dim() - k)) or list(range(k))",
        "the leading axes, as in batch norm; take the last ones, as many as normalized_shape has",
    ),
    "one_for_everything": ("list(range(x.dim()))", "the whole of x; take both for each block"),
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
ROWS = "rows = (x - mean).reshape(-1, torch.Size(shape).numel())\n    "
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
        "all blocks are multiplied with each other, and all but the diagonal is thrown away; square each value instead",
    ),
}


MISTAKES = (
    *normalized.mistakes(SCALED, SHIFTED),
    Mistake(
        "weight_beside_1",
        "the values are multiplied by 1 + weight, as in Gemma; multiply them by weight alone",
        {SCALED: SCALED.replace("weight\n", "(1 + weight)\n")},
    ),
    Mistake(
        "weight_after_the_means",
        "backward multiplies by weight only at the end; it belongs in the two means that backward subtracts: multiply "
        "the gradient that arrives by weight first",
        unplanted=[
            {
                "axes = …": "axes = …\n    own = 1 if weight is None else weight.detach()\n"
                "    x = x.detach() + (x - x.detach()) * own",
                SCALED: SCALED.replace("y * weight", "y.detach() * weight + (y - y.detach())"),
            }
        ],
    ),
    *(
        Mistake(name, f"the mean and the variance are taken over {wrong}", {"axes = …": f"axes = {axes}"})
        for name, (axes, wrong) in OVER.items()
    ),
    Mistake(
        "list_is_never_equal",
        "a part of x.shape is never equal to a list, so every list is refused; make normalized_shape a tuple first",
        {FITS: "x.shape[-k:] != normalized_shape"},
    ),
    Mistake(
        "empty_is_the_end_of_nothing",
        "an empty normalized_shape is accepted where x has no axes, since x.shape[-0:] is all of x.shape; refuse it",
        {"not shape or ": ""},
    ),
    Mistake(
        "compared_in_part",
        "not all of normalized_shape is compared with x.shape; each size must fit, and x needs at least as many axes",
        {FITS: "x.shape[-1:] != shape[-1:]"},
        {FITS: "any(a != b for a, b in zip(shape[::-1], x.shape[::-1]))"},
        {FITS: "x.shape[-k:].numel() != torch.Size(shape).numel()"},
    ),
    Mistake(
        "weight_or_bias_compared_in_part",
        "weight or bias of another shape is accepted if it broadcasts, or fits in part; compare whole shapes",
        IN_PART[0],
        *(IN_PART[1:]),
    ),
    *(
        Mistake(name, wrong, normalized.variance(f"{text}.reshape(mean.shape)", ROWS), slow=True)
        for name, (text, wrong) in SLOW.items()
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "length of normalized_shape": "one to four axes",
    "axis 3 of [wb]*": "five values along the fourth axis that is normalised",
    "axis 6 of x": "the seventh axis, of three values",
}
