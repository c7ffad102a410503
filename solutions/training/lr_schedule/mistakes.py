"""Known wrong answers to lr_schedule."""

from graders.kata import Mistake

IN_WARMUP = "if step < warmup_steps:"
WARMUP = "base_lr * (step + 1) / warmup_steps"
AT_THE_END = "if step >= total_steps:"
END = "        return min_lr\n"
PAST_THE_END = f"    {AT_THE_END}\n{END}"
PROGRESS = "(step - warmup_steps) / (total_steps - warmup_steps)"
SHAPE = "(1 + math.cos(math.pi * progress)) / 2"
DECAY = f"min_lr + (base_lr - min_lr) * {SHAPE}"
BY_TENSOR = f"float({DECAY.replace('math.cos', 'torch.cos')})"
IMPORT = {"import math": "import math\n\nimport torch"}

MISTAKES = (
    Mistake(
        "rounded", "the rate is rounded to some decimal places; return it unrounded", {DECAY: f"round({DECAY}, 15)"}
    ),
    Mistake(
        "first_step_zero",
        "the warm-up begins with the rate 0, and the first step changes nothing; step 0 should already have 1/W of "
        "base_lr, so use (step + 1) / W",
        {WARMUP: ["base_lr * step / warmup_steps", "base_lr * step / max(1, warmup_steps - 1)"]},
    ),
    Mistake(
        "one_step_too_many",
        "the warm-up divides by W + 1, so that its last step stays below base_lr; divide by W",
        {WARMUP: "base_lr * (step + 1) / (warmup_steps + 1)"},
    ),
    Mistake(
        "warmup_one_step_longer",
        "step W still belongs to the warm-up, so that its rate is above base_lr; the cosine should begin at step W",
        {IN_WARMUP: ["if step <= warmup_steps:", "if warmup_steps and step <= warmup_steps:"]},
    ),
    Mistake(
        "no_warmup_divides_by_zero",
        "the warm-up's rate is computed even if there is no warm-up, and W = 0 divides by zero; compute it only "
        "where the step is in the warm-up",
        {IN_WARMUP: f"rising = {WARMUP}\n    {IN_WARMUP}", f"return {WARMUP}": "return rising"},
    ),
    Mistake(
        "no_warmup_no_decay",
        "without warm-up the rate stays at base_lr; W = 0 should begin with the cosine",
        {IN_WARMUP: f"if not warmup_steps:\n        return base_lr\n    {IN_WARMUP}"},
    ),
    Mistake(
        "min_lr_in_the_warmup",
        "the warm-up begins at min_lr or is kept above it; min_lr should play no part in the warm-up",
        {WARMUP: "min_lr + (base_lr - min_lr) * (step + 1) / warmup_steps"},
        {f"return {WARMUP}": f"return max(min_lr, {WARMUP})"},
    ),
    Mistake(
        "warmup_not_subtracted",
        "the cosine's progress is counted from step 0; count it from step W, (step − W) / (T − W), and keep the "
        "cosine out of the warm-up",
        {PROGRESS: "step / total_steps"},
        {
            f"    {IN_WARMUP}\n        return {WARMUP}\n": f"    warm = min(1, {WARMUP.replace('base_lr * ', '')})"
            " if warmup_steps else 1\n",
            PROGRESS: "step / total_steps",
            f"return {DECAY}": f"return warm * ({DECAY})",
        },
    ),
    Mistake(
        "decay_over_all_steps",
        "the cosine takes T steps, so it has not reached min_lr at step T; it should end there, after T − W steps",
        {PROGRESS: "(step - warmup_steps) / total_steps"},
        {AT_THE_END: "if step >= warmup_steps + total_steps:", PROGRESS: "(step - warmup_steps) / total_steps"},
    ),
    Mistake(
        "ends_one_step_early",
        "min_lr is reached at step T − 1; it should be at step T, so divide by T − W",
        {PROGRESS: "(step - warmup_steps) / max(1, total_steps - warmup_steps - 1)"},
    ),
    Mistake(
        "cosine_one_step_ahead",
        "the cosine uses step + 1 − W; it should begin with base_lr at step W",
        {PROGRESS: "(step + 1 - warmup_steps) / (total_steps - warmup_steps)"},
    ),
    Mistake(
        "rises_again",
        "past step T the cosine goes on or starts anew, and the rate rises again; it should stay at min_lr",
        {PAST_THE_END: ""},
        {PAST_THE_END: "", PROGRESS: PROGRESS.replace(" / ", " % (total_steps - warmup_steps) / ")},
    ),
    Mistake(
        "another_rate_at_the_end",
        "past the cosine the rate is 0 or base_lr; from step T on it should be min_lr",
        {END: "        return 0.0\n"},
        {PAST_THE_END: "    if step > total_steps:\n        return 0.0\n"},
        {END: "        return base_lr\n"},
    ),
    Mistake(
        "min_lr_added",
        "min_lr is added to a cosine that falls from base_lr to 0, which begins too high; "
        "multiply the cosine by base_lr − min_lr",
        {DECAY: f"min_lr + base_lr * {SHAPE}"},
    ),
    Mistake(
        "decay_to_zero",
        "the cosine falls to 0, and min_lr cuts it off or comes with a jump at step T; "
        "let it fall from base_lr to min_lr",
        {f"return {DECAY}": f"return max(min_lr, base_lr * {SHAPE})"},
        {DECAY: f"base_lr * {SHAPE}"},
    ),
    Mistake(
        "min_lr_as_a_share",
        "min_lr is multiplied by base_lr; it is a rate, not a share of base_lr",
        {IN_WARMUP: f"min_lr *= base_lr\n    {IN_WARMUP}"},
    ),
    Mistake(
        "factor_returned",
        "the result is the factor that LambdaLR would take; multiply it by base_lr",
        {WARMUP: "(step + 1) / warmup_steps", END: "        return min_lr / base_lr\n", DECAY: f"({DECAY}) / base_lr"},
    ),
    Mistake(
        "degrees",
        "the angle is in degrees; math.cos takes radians, and half a period is π",
        {"math.pi * progress": "180 * progress"},
    ),
    Mistake(
        "not_from_1_to_0",
        "base_lr − min_lr has a wrong factor; with the progress p it should be (1 + cos πp) / 2, which falls "
        "from 1 to 0",
        {SHAPE: ["math.cos(math.pi * progress)", "(1 + math.cos(math.pi * progress))"]},
        {SHAPE: ["(1 - math.cos(math.pi * progress)) / 2", "math.cos(math.pi / 2 * progress)"]},
        {"math.pi * progress": "2 * math.pi * progress"},
    ),
    Mistake(
        "straight_line",
        "the decay is a straight line; it should follow the cosine",
        {SHAPE: "(1 - progress)"},
    ),
    Mistake(
        "float32_inside",
        "a float32 tensor, torch's default, rounds the step or the rate; use Python floats or float64",
        {**IMPORT, PROGRESS: f"torch.tensor({PROGRESS})", DECAY: BY_TENSOR},
        {**IMPORT, PAST_THE_END: "", PROGRESS: f"torch.tensor(min(1.0, {PROGRESS}))", DECAY: BY_TENSOR},
        {**IMPORT, f"    {IN_WARMUP}": f"    step = torch.tensor(float(step)).item()\n    {IN_WARMUP}"},
        {**IMPORT, WARMUP: "(torch.tensor(base_lr) * (step + 1) / warmup_steps).item()"},
        {**IMPORT, WARMUP: f"torch.tensor({WARMUP}).item()", DECAY: f"torch.tensor({DECAY}).item()"},
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    "if step >= total_steps: -> if step > total_steps:": "at step T the cosine is exactly −1, and the rate min_lr",
}
