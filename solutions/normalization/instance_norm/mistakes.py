"""Known wrong answers to instance_norm."""

from graders.kata import Mistake, normalized

FITS = "x.dim() < 3 or x.shape[2:].numel() == 1"
OTHER = "{0} is not None and {0}.shape != channels"
ALONG = "along = (-1, *[1] * len(axes))"
SCALED = "    if weight is not None:\n        y = y * weight.reshape(along)\n"
SHIFTED = "    if bias is not None:\n        y = y + bias.reshape(along)\n"

# What the mean and the variance are taken over.
OVER = {
    "as_batch_norm": (
        "[0, *range(2, x.dim())]",
        "the samples as well, as in batch norm; take both for each channel of each sample",
    ),
    "as_layer_norm_of_images": (
        "list(range(1, x.dim()))",
        "all channels of a sample together, as in layer norm of images; take both for each channel of each sample",
    ),
    "last_axis_only": ("[-1]", "the last axis only; take all axes after C"),
    "one_for_everything": ("list(range(x.dim()))", "the whole of x; take both for each channel of each sample"),
}
# When weight or bias, {0}, is refused.
IN_PART = [
    {OTHER.format(name): f"{name} is not None and {condition.format(name)}"}
    for name in ("weight", "bias")
    for condition in (
        "{0}.shape[-1:] != channels",
        "{0}.shape[:1] != channels",
        "{0}.numel() != x.shape[1]",
        "{0}.numel() not in (1, x.shape[1])",
    )
]
REPEATED = {
    name: {f"{name}.reshape(along)": f"{name}.repeat_interleave(len(x)).reshape(len(x), *along)"}
    for name in ("weight", "bias")
}
# How the variance is taken from the planes of x − μ, (N, C, positions).
PLANES = "planes = (x - mean).flatten(2)\n    "
SLOW = {
    "loop_over_the_channels": ("torch.stack([plane.square().mean(1) for plane in planes.unbind(1)], 1)",),
    "loop_over_the_positions": (
        "(sum(one.square() for one in planes.unbind(2)) / planes.shape[2])",
        "the squares are added up in a Python loop over the positions; mean and var do it in one call",
    ),
    "centred_by_a_matrix": (
        "(planes @ (torch.eye(planes.shape[2], dtype=x.dtype) - 1 / planes.shape[2])).square().mean(2)",
        "the mean is subtracted with a P × P matrix, for P positions; subtract it directly",
    ),
    "products_of_all_channels": (
        "((planes @ planes.mT).diagonal(dim1=1, dim2=2) / planes.shape[2])",
        "all channels are multiplied with each other, and all but the diagonal is thrown away; square each value "
        "instead",
    ),
}

# Of x̂ only the gradient is wrong: change − change.mean() is 0, and its gradient is the one of a backward by hand.
BACKWARD = (
    "((x - mean) / torch.sqrt(var + eps)).detach()\n"
    "    change = (x - x.detach()) / torch.sqrt(var + eps).detach()\n"
    "    y = y + change - change.mean([0, *axes], keepdim=True) - y * (y * change).mean([0, *axes], keepdim=True)"
)


def over(axes: str) -> dict[str, str]:
    return {"axes = …": f"axes = {axes}", ALONG: ALONG.replace("len(axes)", "(x.dim() - 2)")}


MISTAKES = (
    *(
        Mistake(name, f"the mean and the variance are taken over {wrong}", over(axes))
        for name, (axes, wrong) in OVER.items()
    ),
    Mistake(
        "last_two_axes",
        "the mean and the variance are taken over the last two axes, which only fits images; take all axes after C",
        over("[-2, -1]"),
        over("[-1] if x.dim() == 3 else [-2, -1]"),
    ),
    Mistake(
        "as_layer_norm_of_text",
        "sequences are normalised across the channels of each position, as layer norm does with the tokens of a text; "
        "take the mean and the variance over the positions of each channel",
        over("[1]"),
        over("[1] if x.dim() == 3 else list(range(2, x.dim()))"),
    ),
    Mistake(
        "affine_on_another_axis",
        "for some numbers of axes, weight and bias do not lie along the channels; give them an axis of length 1 "
        "for each axis after C",
        {ALONG: ["along = (-1,)", "along = (-1, 1)"]},
        {ALONG: ["along = (-1, 1, 1)", "along = (1, -1, 1, 1)", "along = (-1, *[1] * (x.dim() - 1))"]},
    ),
    Mistake(
        "affine_repeated_in_another_order",
        "for rows of all samples, the values of weight or bias are repeated one by one, so they meet other channels; "
        "repeat the whole vector, weight.repeat(N)",
        REPEATED["weight"] | REPEATED["bias"],
        *REPEATED.values(),
    ),
    *normalized.mistakes(SCALED, SHIFTED),
    Mistake(
        "variance_of_all_channels",
        "a sample's channels share the average of their variances; each channel has its own variance, as its own mean",
        normalized.variance("x.var(axes, correction=0, keepdim=True).mean(1, keepdim=True)"),
    ),
    Mistake(
        "weight_beside_1",
        "the values are multiplied by 1 + weight, as in SPADE; multiply them by weight alone",
        {SCALED: SCALED.replace("weight.reshape", "(1 + weight).reshape")},
    ),
    Mistake(
        "backward_as_in_batch_norm",
        "backward subtracts two means that also run over the samples, as in batch norm; take them over the positions "
        "of each channel of each sample",
        unplanted=[normalized.result(BACKWARD)],
    ),
    Mistake(
        "one_position_taken",
        "an x with a single position after C is not refused; raise ValueError, since x − mean would be 0 everywhere",
        {FITS: "x.dim() < 3"},
    ),
    Mistake(
        "samples_counted_as_positions",
        "the count of positions includes samples, or samples and channels, so an x with one position may be accepted; "
        "count only the positions after C",
        {FITS: ["x.dim() < 3 or x.numel() == x.shape[1]", "x.dim() < 3 or x.numel() == 1"]},
    ),
    Mistake(
        "one_axis_of_length_one_refused",
        "an axis of length 1 is refused, though other axes after C are longer; refuse x only if all axes after C have "
        "length 1",
        {FITS: "x.dim() < 3 or 1 in x.shape[2:]"},
        {FITS: ["x.dim() < 3 or x.shape[-1] == 1", "x.dim() < 3 or x.shape[2] == 1"]},
    ),
    Mistake(
        "weight_or_bias_compared_in_part",
        "weight or bias of another shape is accepted if it broadcasts, or fits in part; compare whole shapes",
        IN_PART[0],
        *(IN_PART[1:]),
    ),
    *(
        Mistake(name, *sentence, normalized.variance(f"{text}.reshape(mean.shape)", PLANES), slow=True)
        for name, (text, *sentence) in SLOW.items()
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"if {FITS}: -> if {FITS.replace('3', '2')}:": "of two axes, shape[2:] is empty, and its numel() is also 1"
}
