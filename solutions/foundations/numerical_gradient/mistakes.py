"""Known wrong answers to numerical_gradient."""

from graders.kata import Mistake

EPS = "torch.finfo(x.dtype).eps ** (1 / 3)"
DEFAULT = EPS + " * x.abs().clamp_min(1)"
GIVEN = "torch.full_like(x, h)"
GUARD = "    with torch.no_grad():\n"
RETURN = "return gradient"
INDICES = "itertools.product(*map(range, x.shape))"
LOOP = f"        for i in {INDICES}:  # once, with i = (), where x has no axes\n"
POINTS = "            up, down = x.clone(), x.clone()\n"
QUOTIENT = "(f(up) - f(down)) / (2 * steps[i])"
ENTRY = f"            gradient[i] = {QUOTIENT}\n"
WHOLE = LOOP + POINTS + "            up[i] += steps[i]\n            down[i] -= steps[i]\n" + ENTRY


def one_sided(quotient: str) -> dict[str, str]:
    """The same with f(x), asked once, in one of the two places."""
    return {LOOP: "        here = f(x.clone())\n" + LOOP, QUOTIENT: quotient}


def body(*lines: str) -> dict[str, str]:
    """Other lines in place of the loop."""
    return {WHOLE: "".join(f"        {line}\n" for line in lines)}


def moved(z: str, old: str, up: str, down: str, back: str = "", value: str = "float(f({}))") -> dict[str, str]:
    """One tensor is moved up, down and back, in place of two copies."""
    ask = value.format(z)
    lines = (f"old = {old}", up, f"above = {ask}", down, f"below = {ask}", back)
    entry = "gradient[i] = (above - below) / (2 * steps[i])"
    start = () if z == "x" else (f"{z} = x.clone()",)
    return body(*start, LOOP.strip(), *(f"    {line.format(z)}" for line in (*lines, entry) if line))


SET = ("{}[i] = old + steps[i]", "{}[i] = old - steps[i]", "{}[i] = old")
WALK = ("{}[i] += steps[i]", "{}[i] -= 2 * steps[i]", "{}[i] += steps[i]")


def through(flat: str) -> dict[str, str]:
    """A copy of x is moved through its flat form."""
    return body(
        f"z, gradient, size = x.clone(), torch.zeros_like(x), {flat.format('steps')}",
        f"flat = {flat.format('z')}",
        "for i in range(x.numel()):",
        "    old = flat[i].item()",
        *(f"    flat[i] = old {sign} size[i]\n            {name} = float(f(z))" for sign, name in ("+a", "-b")),
        "    flat[i] = old",
        f"    {flat.format('gradient')}[i] = (a - b) / (2 * size[i])",
    )


MISTAKES = (
    Mistake(
        "forward_difference",
        "the slope is taken on one side of x, so its error is proportional to h; take (f(x + h) − f(x − h)) / 2h, "
        "with ε^(1/3) in the default step",
        one_sided("(f(up) - here) / steps[i]"),
        one_sided("(here - f(down)) / steps[i]"),
        {**one_sided("(f(up) - here) / steps[i]"), EPS: EPS.replace("(1 / 3)", "0.5")},
    ),
    Mistake(
        "divided_by_h",
        "the difference is not divided by 2h, the distance between the two points; write / (2 * h), brackets included",
        {QUOTIENT: ["(f(up) - f(down)) / steps[i]", "(f(up) - f(down)) / 2 * steps[i]"]},
    ),
    Mistake(
        "sign_turned",
        "f(x + h) is subtracted from f(x − h); subtract f(x − h) from f(x + h)",
        {QUOTIENT: "(f(down) - f(up)) / (2 * steps[i])"},
    ),
    Mistake(
        "step_of_1",
        "the default step is max(1, |x|) without ε, as where the exponent is 1 // 3, which is 0; write 1 / 3",
        {EPS: "1"},
    ),
    Mistake(
        "half_steps",
        "f is called at x ± h/2 for a given h; it should be called at x ± h",
        {POINTS: POINTS + "            steps[i] /= 2\n"},
    ),
    Mistake(
        "step_relative_to_x_alone",
        "the default step shrinks with |x|, so near x = 0 it is tiny or even 0; multiply ε^(1/3) by max(1, |x|)",
        {DEFAULT: [EPS + " * x.abs()", EPS + " * x.abs().clamp_min(1e-8)", EPS + " * x.abs().clamp_max(1)"]},
        {DEFAULT: EPS + " * (x.abs() + 1e-12)"},
    ),
    Mistake(
        "one_step_for_all_sizes",
        "the default step does not grow with |x|, or only for positive x, so rounding spoils the slopes at large "
        "entries; multiply the step by max(1, |x|) of each entry",
        {DEFAULT: [f"torch.full_like(x, {EPS})", EPS + " * x.clamp_min(1)"]},
    ),
    Mistake(
        "fixed_default_step",
        "the default step is a fixed number, such as 1e-4, which suits neither every dtype nor every size of x; take "
        "ε^(1/3) of the dtype of x, times max(1, |x|) of each entry",
        {DEFAULT: "torch.full_like(x, 1e-4)"},
        {DEFAULT: [f"torch.full_like(x, {step})" for step in ("1e-5", "1e-3", "1e-6", "1e-7", "1e-2")]},
    ),
    Mistake(
        "step_of_the_largest_entry",
        "the largest entry, or the norm, sets the default step of all entries; give each entry its own step",
        {DEFAULT: f"torch.full_like(x, {EPS} * x.abs().max().clamp_min(1))"},
        {DEFAULT: f"torch.full_like(x, {EPS} * x.norm().clamp_min(1))"},
    ),
    Mistake(
        "step_of_another_dtype",
        "the default step does not follow the dtype of x; take ε^(1/3) of x.dtype",
        {EPS: [EPS.replace("x.dtype", "torch.float64"), EPS.replace("x.dtype", "torch.float32"), "1e-3"]},
    ),
    Mistake(
        "step_too_short",
        "the default step is √ε, ε or less, so short that rounding spoils the difference; take the cube root of ε",
        {EPS: [EPS.replace("(1 / 3)", "0.5"), EPS.replace(" ** (1 / 3)", ""), EPS.replace("(1 / 3)", "3")]},
    ),
    Mistake(
        "given_h_changed",
        "the h that is given is ignored, clamped, rounded, or multiplied by the magnitude of x; use it as it is",
        {GIVEN: "h * x.abs().clamp_min(1)"},
        {GIVEN: [DEFAULT, "torch.full_like(x, min(h, 1e-3))", "torch.full_like(x, max(h, 1e-5))"]},
        {
            GIVEN: "torch.full_like(x, 2 ** round(math.log2(h)))",
            "import itertools\n": "import itertools\nimport math\n",
        },
    ),
    Mistake(
        "f_called_too_often",
        "f is called at x again for each entry; two calls an entry are enough",
        {POINTS: POINTS + "            f(x.clone())\n"},
    ),
    Mistake(
        "all_entries_moved",
        "all entries, or a whole row, move at once, so the slopes add up; move one entry at a time",
        body("gradient = (f(x + steps) - f(x - steps)) / (2 * steps)"),
        {INDICES: "(range(len(x)) if x.dim() else [()])"},
    ),
    Mistake(
        "not_put_back",
        "an entry stays moved while the next ones are tried; put it back first",
        moved("z", "z[i].item()", *SET[:2]),
    ),
    Mistake(
        "x_put_back_inexactly",
        "x is moved and walked back by adding and subtracting, which rounds; put the old value back, or move a copy",
        moved("x", "None", *WALK),
    ),
    Mistake(
        "old_value_is_a_view",
        "(f(x + h) − f(x)) / 2h comes back, as where the old value is x[i], a view that moves with the entry; ask f at "
        "x − h, and take the number of x[i], or clone it",
        moved("z", "z[i]", *SET),
        moved("x", "x[i]", *SET),
        moved("x", "x[i]", *SET, value="f({})"),
        *({**moved("x", "x[i]", *SET), DEFAULT: f"torch.full_like(x, {step})"} for step in ("1e-5", "1e-4")),
    ),
    Mistake(
        "value_is_a_view",
        "f may return a view of its argument, so f(x + h) changes when you move the entry to x − h; turn f's value "
        "into a number first",
        moved("z", "z[i].item()", *SET, value="f({})"),
    ),
    Mistake(
        "reshape_copies",
        "a transposed tensor has no flat view: view(-1) raises, reshape(-1) copies, and changing the copy does not "
        "change x; use an index for each axis",
        through("{}.reshape(-1)"),
        through("{}.view(-1)"),
    ),
    Mistake(
        "f_given_another_tensor",
        "f is given a flattened x, or another dtype; give it the shape and dtype of x",
        {GUARD: GUARD + "        shape, x = x.shape, x.reshape(-1)\n", RETURN: "return gradient.view(shape)"},
        {GUARD: GUARD + "        dtype, x = x.dtype, x.double()\n", RETURN: "return gradient.to(dtype)"},
    ),
    Mistake(
        "result_has_a_graph",
        "gradients are not switched off, so the result has a graph, or an x that requires grad cannot be written to; "
        "compute under torch.no_grad()",
        {GUARD: ["    if True:\n", "    x = x.detach()\n    if True:\n"]},
        {GUARD: "    if True:\n", **moved("x", "x[i].item()", *SET, value="f({}).clone()")},
    ),
    Mistake(
        "gradients_left_off",
        "gradients are switched off, in torch or for x itself, and stay off after the call; leave both as they were",
        {GUARD: ["    torch.set_grad_enabled(False)\n    if True:\n", "    x.requires_grad_(False)\n" + GUARD]},
    ),
    Mistake(
        "all_points_at_once",
        "all moved points, or the graphs of all calls, are kept at once; make two points at a time, without gradients",
        body(
            "moves = torch.diag(steps.reshape(-1)).reshape(-1, *x.shape)",
            "rises = [float(f(x + move)) - float(f(x - move)) for move in moves]",
            "gradient = torch.tensor(rises, dtype=x.dtype).reshape(x.shape) / (2 * steps)",
        ),
        {GUARD: "    if True:\n", "empty_like(x)": "empty_like(x.detach())", RETURN: "return gradient.detach()"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"steps = {DEFAULT} -> steps = {DEFAULT.replace('(1)', '(2)')}": "steps twice as long are accurate enough",
}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "length of formula": "the formulas that the statement names",
    "axis 2 of x": "of three axes and of four",
    "axis 3 of x": "one entry along the fourth axis",
    "h": "a step of 16, one of 0.3, and two that are met at jumps",
}
