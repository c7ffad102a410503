"""Known wrong answers to weight_init."""

from graders.kata import Mistake

XAVIER_BOUND, XAVIER_STD = "math.sqrt(6 / (fan_in + fan_out))", "math.sqrt(2 / (fan_in + fan_out))"
KAIMING_BOUND, KAIMING_STD = "math.sqrt(6 / fan_in)", "math.sqrt(2 / fan_in)"
FIELD = "math.prod(tensor.shape[2:])  # 1 for a matrix"
FANS = "return tensor.shape[1] * field, tensor.shape[0] * field"
NO_GRAD, WRITTEN = "    with torch.no_grad():\n        return ", "    with torch.no_grad():\n        "
LOOP, RETURNED = "for part in tensor.unbind(1):\n            ", "\n    return tensor"
UNIFORM, NORMAL = "tensor.uniform_(-bound, bound, generator=generator)", "tensor.normal_(0, std, generator=generator)"
TRUNCATED = "torch.nn.init.trunc_normal_(tensor, 0, std, -2 * std, 2 * std, generator=generator)"
RAND = "((2 * torch.rand(tensor.shape, generator=generator) - 1) * bound).to(tensor.dtype)"
RANDN = "(torch.randn(tensor.shape, generator=generator) * std).to(tensor.dtype)"
SIGNS = "torch.tensor([1, -1]).to(tensor.dtype)"
MIRRORED = f"tensor.copy_(torch.outer({{0}}.flatten(), {SIGNS}).flatten()[: tensor.numel()].view(tensor.shape))"

HALVES = (
    "tensor.copy_(torch.cat([half := {0}.flatten()[: (tensor.numel() + 1) // 2], -half])"
    "[: tensor.numel()].view(tensor.shape))"
)


def filled(uniform: str, normal: str, lead: str = NO_GRAD, end: str = "") -> dict[str, str]:
    """Other fillings than the two, in all four functions."""
    scales = ((XAVIER_BOUND, UNIFORM), (XAVIER_STD, NORMAL), (KAIMING_BOUND, UNIFORM), (KAIMING_STD, NORMAL))
    new = {UNIFORM: uniform, NORMAL: normal}
    return {f"{scale}\n{NO_GRAD}{draw}": f"{scale}\n{lead}{new[draw]}{end}" for scale, draw in scales}


MISTAKES = (
    Mistake(
        "variance_for_std",
        "the variance is given to the normal draws as their standard deviation; take its square root",
        {XAVIER_STD: "2 / (fan_in + fan_out)", KAIMING_STD: "2 / fan_in"},
        {KAIMING_STD: "2 / fan_in"},
    ),
    Mistake(
        "fans_swapped",
        "fan_in and fan_out are swapped; the shape is (out, in, *kernel), and Kaiming takes fan_in",
        {FANS: "return tensor.shape[0] * field, tensor.shape[1] * field"},
    ),
    Mistake(
        "receptive_field_forgotten",
        "the kernel's size is left out of a fan; multiply both fans by the number of the kernel's entries",
        {FIELD: "1"},
        {FANS: "return tensor.shape[1] * field, tensor.shape[0]"},
    ),
    Mistake(
        "kernel_miscounted",
        "a fan counts the kernel's entries wrongly; multiply both fans by the product of the kernel's sizes, even if "
        "there is one output",
        {FIELD: "tensor.shape[2] ** 2 if tensor.dim() > 2 else 1"},
        {FIELD: "tensor.shape[2] ** (tensor.dim() - 2) if tensor.dim() > 2 else 1"},
        {FIELD: ["math.prod(tensor.shape[2:4])", "sum(tensor.shape[2:]) or 1"]},
        {FANS: FANS + " if tensor.shape[0] > 1 else 1"},
    ),
    Mistake(
        "gain",
        "Kaiming lacks ReLU's gain of √2, or Xavier has it; the variance should be 2 / fan_in for Kaiming, and 2 / "
        "(fan_in + fan_out) for Xavier",
        {KAIMING_BOUND: "math.sqrt(3 / fan_in)", KAIMING_STD: "math.sqrt(1 / fan_in)"},
        {KAIMING_STD: "math.sqrt(1 / fan_in)"},
        {XAVIER_BOUND: "math.sqrt(12 / (fan_in + fan_out))", XAVIER_STD: "math.sqrt(4 / (fan_in + fan_out))"},
    ),
    Mistake(
        "gain_of_leaky_relu",
        "Kaiming has the gain of LeakyReLU, √(2 / (1 + slope²)); take ReLU's gain, √2",
        {KAIMING_BOUND: "math.sqrt(6 / (1 + 0.01**2) / fan_in)", KAIMING_STD: "math.sqrt(2 / (1 + 0.01**2) / fan_in)"},
        {
            KAIMING_BOUND: "math.sqrt(6 / (1 + 0.2**2) / fan_in)",
            KAIMING_STD: "math.sqrt(2 / (1 + 0.2**2) / fan_in)",
        },
        {KAIMING_BOUND: "math.sqrt(6 / (1 + 0.2**2) / fan_in)"},
    ),
    Mistake(
        "slope_of_linear_layers",
        "Kaiming has nn.Linear's default gain, √⅓, so its bound is 1 / √fan_in; with ReLU's √2 the bound is √(6 / "
        "fan_in), and the variance 2 / fan_in",
        {KAIMING_BOUND: "math.sqrt(1 / fan_in)"},
        {KAIMING_BOUND: "math.sqrt(1 / fan_in)", KAIMING_STD: "math.sqrt(1 / 3 / fan_in)"},
    ),
    Mistake(
        "gain_of_another_activation",
        "the gain is 5/3 or 3/4, torch's for tanh or SELU; it should be 1 for Xavier, and √2 for Kaiming",
        {XAVIER_BOUND: f"5 / 3 * {XAVIER_BOUND}", XAVIER_STD: f"5 / 3 * {XAVIER_STD}"},
        *(
            {KAIMING_BOUND: f"{gain} * math.sqrt(3 / fan_in)", KAIMING_STD: f"{gain} * math.sqrt(1 / fan_in)"}
            for gain in ("5 / 3", "3 / 4")
        ),
    ),
    Mistake(
        "gain_squared",
        "Kaiming's gain is 2, which makes the variance 4 / fan_in; it should be √2, which makes the variance 2 / "
        "fan_in",
        {KAIMING_BOUND: "math.sqrt(12 / fan_in)", KAIMING_STD: "math.sqrt(4 / fan_in)"},
    ),
    Mistake(
        "bound_without_root_3",
        "the standard deviation is used as the bound; multiply it by √3, as U(−a, a) has the standard deviation a / √3",
        {XAVIER_BOUND: "math.sqrt(2 / (fan_in + fan_out)) * 1", KAIMING_BOUND: "math.sqrt(2 / fan_in) * 1"},
    ),
    Mistake(
        "xavier_by_fan_in",
        "Xavier uses only fan_in; its variance should be 2 / (fan_in + fan_out)",
        {XAVIER_BOUND: "math.sqrt(3 / fan_in)", XAVIER_STD: "math.sqrt(1 / fan_in)"},
    ),
    Mistake(
        "half_the_interval",
        "the uniform numbers lie between 0 and the bound; they should lie between −bound and bound",
        filled(UNIFORM.replace("-bound", "0"), NORMAL),
    ),
    Mistake(
        "cut_off",
        "the normal numbers are cut off at a few standard deviations, such as two; use normal numbers without limits",
        filled(UNIFORM, NORMAL + ".clamp_(-2 * std, 2 * std)"),
        filled(UNIFORM, NORMAL + ".clamp_(-4 * std, 4 * std)"),
        filled(UNIFORM, TRUNCATED),
        filled(UNIFORM, TRUNCATED.replace("std", "std / 0.8796")),  # with the right variance, as Keras does it
    ),
    Mistake(
        "mirrored",
        "half of the numbers are drawn, and the others are their negatives; draw every number",
        filled(MIRRORED.format(RAND), MIRRORED.format(RANDN)),
        filled(HALVES.format(RAND), HALVES.format(RANDN)),
        filled(UNIFORM, HALVES.format(RANDN)),
    ),
    Mistake(
        "generator_ignored",
        "the numbers come from torch's global generator, even if a generator is given; pass `generator` on",
        filled("tensor.uniform_(-bound, bound)", "tensor.normal_(0, std)"),
    ),
    Mistake(
        "seeded_in_each_call",
        "a seed is set in each call; set none, and continue from the state of the given generator, or of torch's "
        "global one",
        filled(UNIFORM, NORMAL, "    torch.manual_seed(0)\n" + NO_GRAD),
        filled(UNIFORM, NORMAL, "    generator = generator or torch.Generator().manual_seed(0)\n" + NO_GRAD),
        filled(UNIFORM, NORMAL, "    generator and generator.manual_seed(generator.initial_seed() + 1)\n" + NO_GRAD),
    ),
    Mistake(
        "gradients_recorded",
        "autograd records the writing, which raises an error for a parameter; write under torch.no_grad()",
        filled(UNIFORM, NORMAL, "    return "),
    ),
    Mistake(
        "data_replaced",
        "the numbers are written to new memory; write them into the memory of the given tensor",
        filled(RAND, RANDN, "    tensor.data = ", RETURNED),
        filled(RAND, RANDN, "    return "),
    ),
    Mistake(
        "added_to_what_is_there",
        "the draws are added to the old values, which may be anything, NaN included; overwrite them",
        filled(f"tensor.add_({RAND})", f"tensor.add_({RANDN})"),
    ),
    Mistake(
        "flattened_copy_filled",
        "reshape(-1) copies a tensor such as a transposed matrix, and the copy is filled; fill the tensor itself",
        filled("tensor.reshape(-1)" + UNIFORM[6:], "tensor.reshape(-1)" + NORMAL[6:], WRITTEN, RETURNED),
    ),
    Mistake(
        "loop_over_the_inputs",
        "a Python loop fills the tensor one input at a time; fill the whole tensor with one call",
        filled("part" + UNIFORM[6:], "part" + NORMAL[6:], WRITTEN + LOOP, RETURNED),
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "length of view": "the names of three views",
}
