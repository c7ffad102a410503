"""Known wrong answers to conv2d."""

from graders.kata import Mistake

PAIRS = "(kh, kw), (sh, sw), (ph, pw), (dh, dw) ="
SWAPPED = "(sw, sh), (pw, ph), (dw, dh)", "(sw, sh), (ph, pw), (dh, dw)", "(sh, sw), (ph, pw), (dw, dh)"
ROUND = "(pw, pw, ph, ph)"
MIXED_UP = "(ph, ph, pw, pw)", "(ph, pw, ph, pw)"
ONE_SIDE = "(pw, 0, ph, 0)", "(0, pw, 0, ph)", "(2 * pw, 0, 2 * ph, 0)", "(0, 2 * pw, 0, 2 * ph)"
SHARED = "(pw // 2, pw - pw // 2, ph // 2, ph - ph // 2)"
AXES = "((2, kh, sh, dh), (3, kw, sw, dw))"
CUT = "x = x.unfold(axis, length, s)[..., ::d]"
LONGER = "x = F.pad(x, (0, 0, 0, s - 1), value=fill)\n        "
WEIGHT = "seen, weight)"
SEEN = "seen = windows(x, weight.shape[2:], stride, padding, dilation)"
BY_ONE = "*((FEW) if weight.shape[2:] == (1, 1) else (stride, padding)), dilation"
RESHAPED = "out.reshape(len(x), O, *seen.shape[2:4])"
CUTTING = "x = F.pad(x, (pw, pw, ph, ph), value=fill)"
ONE_OF_A_PAIR = [
    {CUTTING: f"{name}{axis} = {name}{other}\n    {CUTTING}"} for name in "spd" for axis, other in ("wh", "hw")
]
SUM = 'out = torch.einsum("bcyzij,ocij->boyz", seen, weight)'
BIAS = "return out if bias is None else out + bias[:, None, None]"
POOL_SEEN = "seen = windows(x, kernel_size, kernel_size if stride is None else stride, padding, fill=-torch.inf)"
STEP = "kernel_size if stride is None else stride"
FILL = "fill=-torch.inf"
MAX = "return seen.amax((-2, -1))"
# As torch does: a window may hang over the edge, but begins within x or the padding before it.
IN_CEIL_MODE = f"""(H, W), (sh, sw) = x.shape[2:], pair({STEP})
    x = F.pad(x, (0, sw - 1, 0, sh - 1), value=-torch.inf)
    {POOL_SEEN}
    return seen[:, :, : -(-(H + ph) // sh), : -(-(W + pw) // sw)].amax((-2, -1))"""
SIZED = f"""{SUM}
    sizes = zip(x.shape[2:], weight.shape[2:], pair(stride), pair(padding), pair(dilation))
    out = out.reshape(len(x), O, *((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in sizes))"""
BY_PLACE = """rows = []
    for y in range(seen.shape[2]):
        rows.append(torch.stack([EACH for one in seen[:, :, y].unbind(2)], -1))
    """


def padded_by(*pads: str) -> tuple[dict[str, str], ...]:
    """In one of the two functions: both have a padding of their own where no function serves both."""
    in_conv = "ph, pw = pair(padding)\n    " + SEEN.replace("padding", "0").replace("x,", "F.pad(x, PADS),")
    in_pool = POOL_SEEN.replace("padding", "0").replace("(x,", "(F.pad(x, PADS, value=-torch.inf),")
    both = (SEEN, in_conv), (POOL_SEEN, in_pool)
    forms = [{old: new.replace("PADS", one)} for old, new in both for one in pads]
    return (*forms, *(form | {SUM: SIZED} for form in forms if SEEN in form))


def wrong(
    name: str,
    diagnosis: str,
    old: str,
    *new: str,
    sized: bool = False,
    more: tuple[dict[str, str], ...] = (),
    slow: bool = False,
) -> Mistake:
    """One form for each text of `new`, in place of `old`; `sized` adds forms that raise for a wrong shape."""
    forms: list[dict[str, str]] = [{old: one} for one in new]
    forms += [{old: one, SUM: SIZED} for one in new if sized]
    return Mistake(name, diagnosis, forms[0], *(forms[1:]), *more, slow=slow)


MISTAKES = (
    wrong(
        "flipped",
        "the kernel is flipped; weight[o, c, 0, 0] should meet the upper left of a window",
        WEIGHT,
        "seen, weight.flip(2, 3))",
    ),
    wrong(
        "other_order",
        "windows are flattened in another order than weight; flatten both in the order channels, kernel rows, kernel "
        "columns",
        WEIGHT,
        "seen, weight.permute(0, 2, 3, 1).reshape(weight.shape))",
        "seen, weight.reshape(O, *weight.shape[2:], C).permute(0, 3, 1, 2))",
        "seen, weight.mT.reshape(weight.shape))",
    ),
    wrong(
        "reshaped_for_permuted",
        "the product (B, oh, ow, O) is reshaped to (B, O, oh, ow), which mixes filters and places; permute its axes",
        SUM,
        f"{SUM.replace('boyz', 'byzo')}.reshape(len(x), O, *seen.shape[2:4])",
        f"{SUM.replace('boyz', 'byzo')} + (0 if bias is None else bias)\n    bias, out = None, {RESHAPED}",
    ),
    wrong(
        "padded_other_axis",
        "the paddings of height and width are mixed up; F.pad takes left, right, top, bottom",
        ROUND,
        *MIXED_UP,
        sized=True,
        more=padded_by(*MIXED_UP),
    ),
    wrong(
        "padded_on_one_side",
        "padding is added or counted on only one side of an axis; it belongs on both",
        ROUND,
        *ONE_SIDE,
        sized=True,
        more=padded_by(*ONE_SIDE),
    ),
    wrong(
        "padding_as_a_total",
        "padding is taken for the total of an axis and shared by its two sides; it belongs on each side",
        ROUND,
        SHARED,
        f"{SHARED} if not fill else {ROUND}",
        f"{SHARED} if fill else {ROUND}",
        sized=True,
    ),
    wrong(
        "pairs_swapped",
        "a pair is read as (width, height); it is (height, width)",
        PAIRS,
        *(f"(kh, kw), {swapped} =" for swapped in SWAPPED),
        sized=True,
    ),
    Mistake(
        "one_of_a_pair",
        "one number of a pair is used for both axes; the first belongs to the height, the second to the width",
        *ONE_OF_A_PAIR,
        {STEP: "kh if stride is None else stride"},
        {STEP: "kw if stride is None else stride"},
        *(form | {SUM: SIZED} for form in ONE_OF_A_PAIR[:4]),  # of dilations, as if they were swapped
    ),
    wrong(
        "stride_for_dilation",
        "stride and dilation are swapped; F.unfold takes kernel_size, dilation, padding, stride",
        PAIRS,
        "(kh, kw), (dh, dw), (ph, pw), (sh, sw) =",
        sized=True,
    ),
    wrong(
        "stride_ignored",
        "stride changes nothing; the next window should begin stride rows or columns further on",
        AXES,
        "((2, kh, 1, dh), (3, kw, 1, dw))",
        more=({SEEN: SEEN.replace("stride", "1")}, {POOL_SEEN: POOL_SEEN.replace(STEP, "1")}),
    ),
    wrong(
        "dilation_ignored",
        "dilation changes nothing; the kernel should read every dilation-th row and column",
        AXES,
        "((2, kh, sh, 1), (3, kw, sw, 1))",
        more=({CUT: CUT.replace("::d", ":k")},),  # the result has the right size
    ),
    wrong(
        "dilated_too_long",
        "a dilated kernel is taken to be dilation · k long; its length is dilation · (k − 1) + 1",
        "length = d * (k - 1) + 1",
        "length = d * k",
    ),
    wrong(
        "last_window_missing",
        "one row and one column of the result are missing; add 1 for the first window: ⌊…⌋ + 1",
        "return x\n",
        "return x[:, :, :-1, :-1]\n",
        "return x[:, :, : max(x.shape[2] - 1, 1), : max(x.shape[3] - 1, 1)]\n",  # at least one is left
        more=({SUM: f"{SUM}[:, :, :-1, :-1]"}, {MAX: f"{MAX}[:, :, :-1, :-1]"}),
    ),
    wrong(
        "one_by_one_shortcut",
        "a 1 × 1 kernel is treated apart, and its stride or padding is forgotten; treat it as any other kernel",
        SEEN,
        *(
            SEEN.replace("stride, padding, dilation", BY_ONE.replace("FEW", few))
            for few in ("1, 0", "1, padding", "stride, 0")
        ),
    ),
    wrong(
        "rounded_up",
        "a last window that hangs over the edge is counted; round down",
        CUT,
        f"{LONGER}{CUT}",
        more=(
            {
                POOL_SEEN: f"sh, sw = pair({STEP})\n    x = F.pad(x, (0, sw - 1, 0, sh - 1), value=-torch.inf)\n"
                f"    {POOL_SEEN}"
            },
            {MAX: IN_CEIL_MODE},
        ),
    ),
    wrong(
        "first_kernel_for_all_channels",
        "a filter uses the kernel of one channel for all channels; weight[o, c] belongs to channel c",
        WEIGHT,
        "seen, weight[:, :1].expand_as(weight))",
    ),
    wrong(
        "bias_along_the_width",
        "bias is added along the last axis; it belongs to the filters: bias[:, None, None]",
        BIAS,
        BIAS.replace("[:, None, None]", ""),
    ),
    wrong("bias_ignored", "bias changes nothing; add it to the filters' results", BIAS, "return out"),
    wrong("zeros_win", "the pool is padded with 0, which beats negative values; pad with −∞", FILL, "fill=0"),
    wrong(
        "constant_wins",
        "the pool is padded with a finite number, and x may lie below it; pad with −∞",
        FILL,
        *("fill=-1e9", "fill=-1e4", "fill=torch.finfo(torch.float16).min"),
    ),
    Mistake(
        "smallest_value_around",
        "the pool is padded with x's smallest value, so a window whose maximum is this value gives gradient to the "
        "padding; pad with −∞",
        {FILL: "fill=float(x.min())"},
        {FILL: "fill=float(x.min())", MAX: "return seen.flatten(-2).max(-1).values"},
    ),
    wrong("pool_stride_of_one", "without a stride, 1 is used; use the kernel's size", STEP, f"1{STEP[11:]}"),
    wrong(
        "no_stride_for_zero",
        "a stride of 0 is taken for no stride, and not refused; compare stride with None",
        STEP,
        "stride or kernel_size",
    ),
    wrong(
        "half_refused",
        "a padding of exactly half of the kernel is refused; it is allowed",
        "2 * ph > kh or 2 * pw > kw",
        "ph and 2 * ph >= kh or pw and 2 * pw >= kw",
    ),
    wrong(
        "fits_without_padding",
        "a kernel that fits into the padded x is refused; count the padding on both sides",
        "x.shape[axis] < length",
        "x.shape[axis] - 2 * (ph, pw)[axis - 2] < length",
    ),
    Mistake(
        "averaged",
        "the pool takes the mean of each window; take its largest value",
        {MAX: "return seen.mean((-2, -1))"},
        {FILL: "fill=0", MAX: "return seen.mean((-2, -1))"},
    ),
    wrong(
        "pooled_over_channels",
        "the maximum is taken over the channels as well; pool each channel by itself",
        MAX,
        "return seen.amax((1, -2, -1))",
        "return seen.amax((1, -2, -1), keepdim=True)[..., 0, 0].expand(-1, x.shape[1], -1, -1)",
    ),
    wrong("with_indices", "max along an axis returns a pair; take its values", MAX, "return seen.flatten(-2).max(-1)"),
    wrong(
        "all_products_at_once",
        "all products of windows and filters are kept in a table before they are summed; multiply matrices, or use "
        "einsum",
        SUM,
        "out = (seen[:, None] * weight[:, :, None, None]).sum((2, 5, 6))",
        slow=True,
    ),
    Mistake(
        "place_by_place",
        "a loop runs over the places where the kernel is put; loop over the kh · kw entries of the kernel, or not at "
        "all",
        {SUM: BY_PLACE.replace("EACH", 'torch.einsum("bcij,ocij->bo", one, weight)') + "out = torch.stack(rows, 2)"},
        {MAX: BY_PLACE.replace("EACH", "one.amax((-2, -1))") + "return torch.stack(rows, 2)"},
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
FIXED = {"length of *": "a size is an int or a pair"}
