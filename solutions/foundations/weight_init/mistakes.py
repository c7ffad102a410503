"""Known wrong answers to weight_init."""

from graders.kata import Mistake

XAVIER_BOUND, XAVIER_STD = "math.sqrt(6 / (fan_in + fan_out))", "math.sqrt(2 / (fan_in + fan_out))"
KAIMING_BOUND, KAIMING_STD = "math.sqrt(6 / fan_in)", "math.sqrt(2 / fan_in)"
FIELD = "math.prod(tensor.shape[2:])  # 1 for a matrix"
FANS = "return tensor.shape[1] * field, tensor.shape[0] * field"
NO_GRAD = "    with torch.no_grad():\n        return "
UNIFORM, NORMAL = "tensor.uniform_(-bound, bound, generator=generator)", "tensor.normal_(0, std, generator=generator)"
SCALES = {XAVIER_BOUND: UNIFORM, XAVIER_STD: NORMAL, KAIMING_BOUND: UNIFORM, KAIMING_STD: NORMAL}
ENTRIES = "(tensor[index] for index in itertools.product(*map(range, tensor.shape)))"
SEEDED = f"    if generator is not None:\n        torch.manual_seed(generator.initial_seed())\n{NO_GRAD}"
RAND, RANDN = "(2 * torch.rand({}, generator=generator) - 1) * bound", "torch.randn({}, generator=generator) * std"


def everywhere(uniform: str, normal: str) -> dict[str, str]:
    """Both fillings with all of their two lines, in all four functions."""
    return {
        f"{scale}\n{NO_GRAD}{draw}": f"{scale}\n{uniform if draw == UNIFORM else normal}"
        for scale, draw in SCALES.items()
    }


def filled_by(uniform: str, normal: str) -> dict[str, str]:
    """Another way of drawing, under no_grad as before."""
    return everywhere(NO_GRAD + uniform, NO_GRAD + normal)


def first(line: str) -> dict[str, str]:
    """A line before each filling."""
    return everywhere(f"    {line}\n{NO_GRAD}{UNIFORM}", f"    {line}\n{NO_GRAD}{NORMAL}")


def looped(parts: str, draw: str) -> str:
    """A filling of one part after another."""
    return f"    with torch.no_grad():\n        for part in {parts}:\n            part{draw[6:]}\n    return tensor"


def uniform_only(draw: str) -> dict[str, str]:
    return filled_by(draw, NORMAL)


MISTAKES = (
    Mistake(
        "variance_for_std",
        "the variance is given to the normal draws as their standard deviation; take its square root",
        {XAVIER_STD: "2 / (fan_in + fan_out)", KAIMING_STD: "2 / fan_in"},
        also=({XAVIER_STD: "2 / (fan_in + fan_out)"}, {KAIMING_STD: "2 / fan_in"}),
    ),
    Mistake(
        "fans_swapped",
        "fan_in and fan_out are swapped; the shape is (out, in, *kernel), and Kaiming takes fan_in",
        {FANS: "return tensor.shape[0] * field, tensor.shape[1] * field"},
    ),
    Mistake(
        "receptive_field_forgotten",
        "the kernel's size is left out of the fans; both are multiplied by the number of the kernel's entries",
        {FIELD: "1"},
        also=({FANS: "return tensor.shape[1], tensor.shape[0] * field"},),
    ),
    Mistake(
        "field_missing_in_fan_out",
        "fan_out is the number of outputs alone; it is multiplied by the kernel's size as fan_in is",
        {FANS: "return tensor.shape[1] * field, tensor.shape[0]"},
    ),
    Mistake(
        "kernel_taken_as_square",
        "the kernel is taken as square; multiply all of its sides, however many there are",
        {FIELD: "tensor.shape[2] ** 2 if tensor.dim() > 2 else 1"},
        also=({FIELD: "math.prod(tensor.shape[2:4])"}, {FIELD: "sum(tensor.shape[2:]) or 1"}),
    ),
    Mistake(
        "kernel_first",
        "the axes are read as (*kernel, in, out), as TensorFlow has them; here they are (out, in, *kernel)",
        {FIELD: "math.prod(tensor.shape[:-2])", FANS: "return tensor.shape[-2] * field, tensor.shape[-1] * field"},
    ),
    Mistake(
        "gain_missing",
        "Kaiming lacks the gain √2 of ReLU; the variance is 2 / fan_in",
        {KAIMING_BOUND: "math.sqrt(3 / fan_in)", KAIMING_STD: "math.sqrt(1 / fan_in)"},
        also=({KAIMING_BOUND: "math.sqrt(3 / fan_in)"}, {KAIMING_STD: "math.sqrt(1 / fan_in)"}),
    ),
    Mistake(
        "gain_in_xavier",
        "Xavier has the gain of ReLU, too; its gain is 1",
        {XAVIER_BOUND: "math.sqrt(12 / (fan_in + fan_out))", XAVIER_STD: "math.sqrt(4 / (fan_in + fan_out))"},
    ),
    Mistake(
        "slope_of_linear_layers",
        "the bound is 1 / √fan_in, as nn.Linear starts its own weights; with the gain of ReLU it is √(6 / fan_in)",
        {KAIMING_BOUND: "math.sqrt(1 / fan_in)"},
    ),
    Mistake(
        "bound_without_root_3",
        "the standard deviation is used as the bound; U(−a, a) has the standard deviation a / √3",
        {XAVIER_BOUND: "math.sqrt(2 / (fan_in + fan_out)) * 1", KAIMING_BOUND: "math.sqrt(2 / fan_in) * 1"},
    ),
    Mistake(
        "sum_of_fans_for_their_mean",
        "Xavier's variance is taken as 1 / (fan_in + fan_out); it is 1 over their mean",
        {XAVIER_BOUND: "math.sqrt(3 / (fan_in + fan_out))", XAVIER_STD: "math.sqrt(1 / (fan_in + fan_out))"},
    ),
    Mistake(
        "xavier_by_fan_in",
        "Xavier uses fan_in alone; its variance is 2 / (fan_in + fan_out)",
        {XAVIER_BOUND: "math.sqrt(3 / fan_in)", XAVIER_STD: "math.sqrt(1 / fan_in)"},
    ),
    Mistake(
        "uniform_from_zero",
        "the uniform numbers lie between 0 and the bound; they should lie between −bound and bound",
        uniform_only("tensor.uniform_(0, bound, generator=generator)"),
        also=(uniform_only("tensor.copy_((torch.rand(tensor.shape, generator=generator) - 0.5) * bound)"),),
    ),
    Mistake(
        "other_distribution",
        "normal numbers are drawn where uniform ones are asked for; their variance alone is right",
        uniform_only("tensor.normal_(0, bound / math.sqrt(3), generator=generator)"),
    ),
    Mistake(
        "cut_at_two_sigma",
        "the normal numbers are cut at two standard deviations; nothing is cut off here",
        filled_by(UNIFORM, NORMAL + ".clamp_(-2 * std, 2 * std)"),
    ),
    Mistake(
        "generator_ignored",
        "the numbers come from torch's global generator, whichever is given; pass `generator` on",
        filled_by("tensor.uniform_(-bound, bound)", "tensor.normal_(0, std)"),
    ),
    Mistake(
        "global_generator_seeded",
        "torch's global generator draws, with the seed of the given one; draw from the given one, and leave the global",
        everywhere(SEEDED + "tensor.uniform_(-bound, bound)", SEEDED + "tensor.normal_(0, std)"),
    ),
    Mistake(
        "seeded_in_each_call",
        "a seed is set in each call, so all layers of one shape start alike; draw on from where the generator stands",
        first("torch.manual_seed(0)"),
        also=(first("generator = generator or torch.Generator().manual_seed(0)"),),
    ),
    Mistake(
        "gradients_recorded",
        "the filling is recorded, and autograd refuses that for a parameter; write under torch.no_grad()",
        everywhere(f"    return {UNIFORM}", f"    return {NORMAL}"),
    ),
    Mistake(
        "gradients_off_for_good",
        "gradients are switched off and never on again; use `with torch.no_grad():`",
        everywhere(
            f"    torch.set_grad_enabled(False)\n    return {UNIFORM}",
            f"    torch.set_grad_enabled(False)\n    return {NORMAL}",
        ),
        also=(first("tensor.requires_grad_(False)"),),
    ),
    Mistake(
        "data_replaced",
        "tensor.data becomes another tensor, so views and optimisers keep the old memory; write into the tensor",
        everywhere(
            f"    tensor.data = {RAND.format('tensor.shape')}\n    return tensor",
            f"    tensor.data = {RANDN.format('tensor.shape')}\n    return tensor",
        ),
        also=(
            everywhere(
                f"    return ({RAND.format('tensor.shape')}).to(tensor.dtype)",
                f"    return ({RANDN.format('tensor.shape')}).to(tensor.dtype)",
            ),
        ),
    ),
    Mistake(
        "added_to_what_is_there",
        "the draws are added to the old values, which may be anything, NaN included; overwrite them",
        filled_by(f"tensor.add_({RAND.format('tensor.shape')})", f"tensor.add_({RANDN.format('tensor.shape')})"),
        also=(filled_by("tensor.mul_(0).add_(" + RAND.format("tensor.shape") + ")", NORMAL),),
    ),
    Mistake(
        "flattened_copy_filled",
        "reshape(-1) copies where strides are not contiguous, and the copy is filled; fill the tensor itself",
        everywhere(
            *(
                f"    with torch.no_grad():\n        tensor.reshape(-1){draw[6:]}\n    return tensor"
                for draw in (UNIFORM, NORMAL)
            )
        ),
    ),
    Mistake(
        "loop_over_the_entries",
        "each entry is drawn in a Python loop; fill the whole tensor with one call",
        {
            "import math\n": "import itertools\nimport math\n",
            **everywhere(*(looped(ENTRIES, draw) for draw in (UNIFORM, NORMAL))),
        },
        slow=True,
    ),
    Mistake(
        "loop_over_the_inputs",
        "a Python loop fills the tensor one input at a time; fill the whole tensor with one call",
        everywhere(*(looped("tensor.unbind(1)", draw) for draw in (UNIFORM, NORMAL))),
        slow=True,
    ),
    Mistake(
        "sums_of_uniform_numbers",
        "each normal number is the sum of 256 uniform ones; torch draws normal numbers directly",
        filled_by(
            UNIFORM,
            "tensor.copy_((torch.rand((*tensor.shape, 192), generator=generator) - 0.5).sum(-1) * std / 4)",
        ),
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
