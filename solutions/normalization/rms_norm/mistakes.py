"""Known wrong answers to rms_norm."""

from graders.kata import Mistake

# The same line in the function and in its backward pass.
RMS, RMS_BACK = (f"rms = torch.sqrt({x}.square().mean(-1, keepdim=True) + eps)" for x in ("wide", "x"))
WIDE, WIDE_BACK = (
    "wide = x.to(torch.promote_types(x.dtype, torch.float32))",
    "torch.promote_types(dtype, torch.float32)",
)
WEIGHTED = "    y = wide / rms\n    if weight is not None:\n        y = y * weight\n"
FITS, FITS_BACK = "weight.shape != (D,)", "weight.shape != x.shape[-1:]"
GRAD_FITS = "grad_output.shape != x.shape:"
GRAD_N = "grad_n = g if weight is None else g * weight"
GRAD_X = "grad_x = (grad_n - n * (grad_n * n).mean(-1, keepdim=True)) / rms"
GRAD_WEIGHT = "grad_weight = (g * n).flatten(0, -2).sum(0) if x.dim() > 1 else g * n"
G_KEPT = {GRAD_WEIGHT: GRAD_WEIGHT.replace("g * n", "kept * n")}

# What a row is divided by: {x} is the row, in float32 or more.
DIVISORS = {
    "eps_outside_the_root": (
        ("{x}.square().mean(-1, keepdim=True).sqrt() + eps",),
        "eps is added to the root; add it to the mean of the squares",
    ),
    "no_eps": (
        ("torch.sqrt({x}.square().mean(-1, keepdim=True))",),
        "eps is not used, so a row of zeros gives NaN; add it to the mean of the squares",
    ),
    "eps_as_the_least_mean": (
        ("torch.sqrt({x}.square().mean(-1, keepdim=True).clamp_min(eps))",),
        "max(mean(x²), eps) is used; use mean(x²) + eps",
    ),
    "eps_ignored": (
        (
            "torch.sqrt({x}.square().mean(-1, keepdim=True) + 1e-6)",
            "torch.sqrt({x}.square().mean(-1, keepdim=True) + max(eps, 1e-8))",
            "torch.sqrt({x}.square().mean(-1, keepdim=True) + torch.finfo({x}.dtype).eps)",
        ),
        "eps is ignored, or a small eps is replaced; add the eps that is passed",
    ),
    "mean_subtracted": (
        ("torch.sqrt({x}.var(-1, correction=0, keepdim=True) + eps)",),
        "the variance is taken, which subtracts the mean, as in layer norm; take the mean of the squares",
    ),
    "sum_for_mean": (
        ("torch.sqrt({x}.square().sum(-1, keepdim=True) + eps)",),
        "the squares are added up, but not divided by D; take their mean",
    ),
    "one_less_than_d": (
        ("torch.sqrt({x}.square().sum(-1, keepdim=True) / ({x}.shape[-1] - 1) + eps)",),
        "the sum of the squares is divided by D − 1; divide by D",
    ),
    "no_root": (
        ("{x}.square().mean(-1, keepdim=True) + eps",),
        "the rows are divided by mean(x²) + eps; divide by its root",
    ),
    "absolute_values": (
        ("{x}.abs().mean(-1, keepdim=True) + eps",),
        "absolute values are averaged; take √(mean(x²) + eps)",
    ),
    "over_all_axes": (
        ("torch.sqrt({x}.square().mean() + eps)",),
        "one mean is taken over all of x; take one for each row, over the last axis",
    ),
    "over_the_first_axis": (
        ("torch.sqrt({x}.square().mean(0, keepdim=True) + eps)",),
        "the mean is taken over the first axis; take it over the last",
    ),
}
# All in half precision; the squares and their mean; the squares alone. Each in the function, and in its backward pass.
SQUARES, SQUARES_BACK = (f"rms = ({x}.square().mean(-1, keepdim=True) + eps).sqrt()" for x in ("x", "x.to(dtype)"))
IN_HALF = (
    ({WIDE: "wide = x"}, {WIDE_BACK: "dtype"}),
    ({RMS: SQUARES}, {RMS_BACK: SQUARES_BACK}),
    (
        {RMS: SQUARES.replace("True", "True, dtype=wide.dtype")},
        {RMS_BACK: SQUARES_BACK.replace("True", "True, dtype=x.dtype")},
    ),
)


def divided_by(text: str) -> tuple[dict[str, str], ...]:
    """In both functions, in the first alone, and in the backward pass alone."""
    one, other = {RMS: f"rms = {text.format(x='wide')}"}, {RMS_BACK: f"rms = {text.format(x='x')}"}
    return one | other, one, other


def dividing(name: str, texts: tuple[str, ...], wrong: str) -> Mistake:
    return Mistake(name, wrong, *(edits for text in texts for edits in divided_by(text)))


def of_x(name: str, wrong: str, *texts: str, slow: bool = False) -> Mistake:
    return Mistake(name, wrong, {GRAD_X: [f"grad_x = {text}" for text in texts]}, slow=slow)


def of_weight(name: str, wrong: str, *texts: str, slow: bool = False) -> Mistake:
    return Mistake(name, wrong, {GRAD_WEIGHT: [f"grad_weight = {text}" for text in texts]}, slow=slow)


MISTAKES = (
    *(dividing(name, texts, wrong) for name, (texts, wrong) in DIVISORS.items()),
    Mistake(
        "squares_in_half_precision",
        "the squares are taken in half precision, where float16 overflows from 256 on and rounds squares of small "
        "numbers to 0; cast to float32 first",
        *(edits for one, other in IN_HALF for edits in (one | other, one, other)),
        {RMS: "r = torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)", "y = wide / rms": "y = wide * r"},
    ),
    Mistake(
        "centred",
        "the mean is subtracted from x, as in layer norm; divide x itself by √(mean(x²) + eps)",
        {"    y = wide / rms\n": "    y = (wide - wide.mean(-1, keepdim=True)) / rms\n"},
        {WIDE: f"{WIDE}\n    wide = wide - wide.mean(-1, keepdim=True)"},
        {
            RMS: "rms = torch.sqrt(wide.var(-1, keepdim=True) + eps)",
            "y = wide / rms": "y = (wide - wide.mean(-1, keepdim=True)) / rms",
        },
    ),
    Mistake(
        "rms_detached",
        "the root is detached, so the gradient of x lacks the root's part; do not detach it",
        {"y = wide / rms": "y = wide / rms.detach()"},
    ),
    Mistake(
        "weight_before_the_norm",
        "x is multiplied by weight before its mean square is taken; divide first, then multiply",
        {WIDE: f"{WIDE} * (1 if weight is None else weight)", WEIGHTED: "    y = wide / rms\n"},
    ),
    Mistake(
        "one_plus_weight",
        "the rows are multiplied by 1 + weight, as in Gemma; multiply by weight",
        {"y = y * weight": "y = y * (1 + weight)"},
    ),
    Mistake(
        "weight_compared_in_part",
        "a weight of another shape is accepted if it broadcasts, or fits in part; compare its shape with (D,)",
        {FITS: "weight.shape[-1:] != (D,)", FITS_BACK: "weight.shape[-1:] != x.shape[-1:]"},
        {FITS: "weight.numel() != D"},
        {FITS_BACK: "weight.numel() != x.shape[-1]"},
        {FITS: "(weight.dim() > 1 or weight.numel() not in (1, D))"},
        {FITS_BACK: "(weight.dim() > 1 or weight.numel() not in (1, x.shape[-1]))"},
    ),
    Mistake(
        "grad_output_compared_in_part",
        "a grad_output of another shape is accepted if it broadcasts, or fits in part; compare whole shapes",
        {GRAD_FITS: "torch.broadcast_shapes(grad_output.shape, x.shape) != x.shape:"},
        {GRAD_FITS: "grad_output.shape[-1:] != x.shape[-1:]:"},
        {GRAD_FITS: ["grad_output.numel() != x.numel():", "grad_output.dim() != x.dim():"]},
    ),
    of_x(
        "no_projection",
        "rms is treated as a constant; before you divide by rms, subtract n · mean(g · n) from g, with n = x / "
        "rms and g = w · grad_output",
        "grad_n / rms",
    ),
    of_x(
        "projection_summed",
        "the sum of w · grad_output · x / rms over a row is not divided by D; take the mean",
        "(grad_n - n * (grad_n * n).sum(-1, keepdim=True)) / rms",
    ),
    of_x(
        "diagonal_of_the_jacobian",
        "each entry of x counts only in its own entry of y, but through rms it changes the whole row; take the mean of "
        "w · grad_output · x / rms over the row",
        "(grad_n - n * (grad_n * n) / x.shape[-1]) / rms",
        "(grad_n - n * (grad_n * n)) / rms",
    ),
    of_x(
        "projection_added",
        "the gradient of x adds n · mean(g · n), with n = x / rms and g = w · grad_output; subtract it from g",
        "(grad_n + n * (grad_n * n).mean(-1, keepdim=True)) / rms",
    ),
    of_x(
        "projection_along_x",
        "the gradient of x has x where x / rms belongs; subtract n · mean(g · n) from g, with n = x / rms and g = w · "
        "grad_output",
        "(grad_n - x * (grad_n * x).mean(-1, keepdim=True)) / rms",
        "(grad_n - n * (grad_n * x).mean(-1, keepdim=True)) / rms",
        "(grad_n - x * (grad_n * n).mean(-1, keepdim=True)) / rms",
    ),
    of_x(
        "projection_without_eps",
        "the gradient of x divides once by the mean of the squares without eps; divide by rms², which contains eps",
        "(grad_n - x * (grad_n * x).mean(-1, keepdim=True) / x.square().mean(-1, keepdim=True)) / rms",
    ),
    of_x(
        "as_layer_norm",
        "the mean of w · grad_output is also subtracted, as in layer norm's backward pass; RMS norm subtracts no mean",
        "(grad_n - grad_n.mean(-1, keepdim=True) - n * (grad_n * n).mean(-1, keepdim=True)) / rms",
    ),
    of_x(
        "projection_over_all_rows",
        "the mean of w · grad_output · x / rms is taken over all rows together; take one for each row",
        "(grad_n - n * (grad_n * n).mean()) / rms",
    ),
    of_x(
        "not_divided_by_rms",
        "the gradient of x is not divided by rms; divide by rms last",
        "grad_n - n * (grad_n * n).mean(-1, keepdim=True)",
    ),
    Mistake(
        "weight_after_the_projection",
        "in the gradient of x, the product with weight comes last; multiply grad_output by weight first",
        {
            GRAD_N: "grad_n = g",
            GRAD_X: f"{GRAD_X} * (1 if weight is None else weight)",
        },
    ),
    Mistake(
        "weight_left_out",
        "the gradient of x ignores weight; multiply grad_output by weight first",
        {GRAD_N: "grad_n = g"},
    ),
    of_x(
        "projection_without_weight",
        "the mean in the gradient of x ignores weight; take the mean of w · grad_output · x / rms over the row",
        "(grad_n - n * (g * n).mean(-1, keepdim=True)) / rms",
    ),
    Mistake(
        "written_in_place",
        "x or grad_output is changed in place, as by mul_ or *=, so the caller's tensor changes; make a new tensor",
        {"y = wide / rms": ["y = wide.div_(rms)", "y = wide.mul_(1 / rms)"]},
        {"y = wide / rms": "y = wide.div_(rms)", "y = y * weight": "y = y.mul_(weight)"},
        {"n = x / rms": "n = x.div_(rms)"},
        {GRAD_N: GRAD_N.replace("g * weight", "g.mul_(weight)")},
        {GRAD_N: f"kept = g.clone()\n    {GRAD_N.replace('g * weight', 'g.mul_(weight)')}", **G_KEPT},
    ),
    of_weight(
        "grad_weight_by_x",
        "in the gradient of weight, grad_output is multiplied by x; multiply it by x / rms",
        GRAD_WEIGHT.removeprefix("grad_weight = ").replace("g * n", "g * x"),
    ),
    of_weight(
        "grad_weight_over_one_axis",
        "the gradient of weight is summed over one axis, or none; all rows share weight, so sum over all leading axes",
        "(g * n).sum(0) if x.dim() > 1 else g * n",
        "(g * n).sum(-2) if x.dim() > 1 else g * n",
        "g * n",
        "(g * n).sum(0)",
    ),
    of_weight(
        "grad_weight_averaged",
        "the gradient of weight is averaged over the rows; sum over them",
        "(g * n).flatten(0, -2).mean(0) if x.dim() > 1 else g * n",
    ),
    of_weight(
        "grad_weight_with_weight",
        "the gradient of weight contains weight itself; sum grad_output · x / rms over the rows",
        "(grad_n * n).flatten(0, -2).sum(0) if x.dim() > 1 else grad_n * n",
    ),
    of_weight(
        "divided_by_weight",
        "the normalised x is taken as y / weight, which is NaN for a weight of 0; take x / rms instead",
        "(g * (n * weight / weight)).flatten(0, -2).sum(0) if x.dim() > 1 else g * n",
    ),
    Mistake(
        "a_gradient_without_weight",
        "a gradient is returned for a weight that was not given; return None instead",
        {"return grad_x.to(dtype), None": "return grad_x.to(dtype), (g * n).reshape(-1, x.shape[-1]).sum(0).to(dtype)"},
        {"return grad_x.to(dtype), None": "return grad_x.to(dtype), x.new_zeros(x.shape[-1])"},
    ),
    Mistake(
        "loop_over_the_rows",
        "the rows go through a Python loop; mean(-1) takes all of them at once",
        {
            RMS: "rows = [*wide.reshape(-1, D), wide.new_ones(D)]\n"
            "    rms = torch.stack([(row.square().mean() + eps).sqrt() for row in rows])[:-1].reshape(*x.shape[:-1], 1)"
        },
        slow=True,
    ),
    Mistake(
        "loop_over_the_features",
        "the squares are added up in a Python loop over the features; mean(-1) does it in one call",
        {RMS: "rms = torch.sqrt(sum(wide[..., i, None].square() for i in range(D)) / D + eps)"},
        slow=True,
    ),
    Mistake(
        "matrix_of_features",
        "a D × D matrix is made, of weight or of all products of features; multiply entry by entry",
        {"y = y * weight": "y = y @ torch.diag(weight).to(y.dtype)"},
        {GRAD_N: "grad_n = g if weight is None else g @ torch.diag(weight).to(g.dtype)"},
        {GRAD_WEIGHT: "grad_weight = (g.reshape(-1, x.shape[-1]).mT @ n.reshape(-1, x.shape[-1])).diagonal()"},
        slow=True,
    ),
    of_x(
        "jacobian_of_each_row",
        "a D × D Jacobian is made for each row; one mean for each row is enough",
        "((torch.eye(x.shape[-1]).to(n) - n[..., None] * n[..., None, :] / n.shape[-1]) * grad_n[..., None, :]).sum(-1)"
        " / rms",
        slow=True,
    ),
)

SYMMETRIC = "promote_types is symmetric"
EQUIVALENT = {
    "wide = x.to(torch.promote_types(x.dtype, torch.float32))"
    " -> wide = x.to(torch.promote_types(torch.float32, x.dtype))": SYMMETRIC,
    "g, x = (tensor.to(torch.promote_types(dtype, torch.float32)) for tensor in (grad_output, x))"
    " -> g, x = (tensor.to(torch.promote_types(torch.float32, dtype)) for tensor in (grad_output, x))": SYMMETRIC,
    "builtin.py runs detach": "it prepares the inputs of autograd, and computes nothing",
    "builtin.py runs rsqrt": "it is an operator of a norm by hand",
}
