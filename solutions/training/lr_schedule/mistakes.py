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
IMPORT = {"import math": "import math\n\nimport torch"}

MISTAKES = (
    Mistake(
        "first_step_zero",
        "the warm-up uses step / W, so that the first step has the rate 0 and changes nothing; "
        "the step is counted from 0, so use step + 1",
        {WARMUP: "base_lr * step / warmup_steps"},
        also=({WARMUP: "base_lr * step / max(1, warmup_steps - 1)"},),
    ),
    Mistake(
        "one_step_too_many",
        "the warm-up divides by W + 1, so that its last step stays below base_lr; divide by W",
        {WARMUP: "base_lr * (step + 1) / (warmup_steps + 1)"},
    ),
    Mistake(
        "warmup_one_step_longer",
        "step W still belongs to the warm-up, so that its rate is above base_lr; there the cosine begins",
        {IN_WARMUP: "if step <= warmup_steps:"},
        also=({IN_WARMUP: "if warmup_steps and step <= warmup_steps:"},),
    ),
    Mistake(
        "no_warmup_divides_by_zero",
        "the warm-up's rate is computed even if there is no warm-up, and W = 0 divides by zero; "
        "compute it where the step is in the warm-up",
        {IN_WARMUP: f"rising = {WARMUP}\n    {IN_WARMUP}", f"return {WARMUP}": "return rising"},
    ),
    Mistake(
        "no_warmup_no_decay",
        "without warm-up the rate stays at base_lr; W = 0 should begin with the cosine",
        {IN_WARMUP: f"if not warmup_steps:\n        return base_lr\n    {IN_WARMUP}"},
    ),
    Mistake(
        "warmup_from_min_lr",
        "the warm-up begins at min_lr; min_lr should play no part in it",
        {WARMUP: "min_lr + (base_lr - min_lr) * (step + 1) / warmup_steps"},
    ),
    Mistake(
        "warmup_kept_above_min_lr",
        "the warm-up is not let below min_lr; min_lr should play no part in it",
        {f"return {WARMUP}": f"return max(min_lr, {WARMUP})"},
    ),
    Mistake(
        "warmup_not_subtracted",
        "the cosine's progress is counted from step 0, so that the rate drops where the warm-up ends; "
        "use (step − W) / (T − W)",
        {PROGRESS: "step / total_steps"},
        also=(
            {
                f"    {IN_WARMUP}\n        return {WARMUP}\n": f"    warm = min(1, {WARMUP.replace('base_lr * ', '')})"
                " if warmup_steps else 1\n",
                PROGRESS: "step / total_steps",
                f"return {DECAY}": f"return warm * ({DECAY})",
            },
        ),
    ),
    Mistake(
        "decay_over_all_steps",
        "the cosine is stretched over T steps, so it has not reached min_lr at step T; T − W steps are left for it",
        {PROGRESS: "(step - warmup_steps) / total_steps"},
    ),
    Mistake(
        "total_without_warmup",
        "the cosine takes T steps after the warm-up and ends at W + T; T counts the steps of the warm-up, too",
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
        also=({PAST_THE_END: "", PROGRESS: PROGRESS.replace(" / ", " % (total_steps - warmup_steps) / ")},),
    ),
    Mistake(
        "zero_at_the_end",
        "the rate is 0 from step T on; it should be min_lr",
        {END: "        return 0.0\n"},
        also=({PAST_THE_END: "    if step > total_steps:\n        return 0.0\n"},),
    ),
    Mistake(
        "min_lr_added",
        "min_lr is added to a cosine that falls from base_lr to 0, which begins too high; "
        "multiply the cosine by base_lr − min_lr",
        {DECAY: f"min_lr + base_lr * {SHAPE}"},
    ),
    Mistake(
        "min_lr_cuts_off",
        "the cosine falls to 0 and is cut off at min_lr; it should reach min_lr at step T and not before",
        {f"return {DECAY}": f"return max(min_lr, base_lr * {SHAPE})"},
    ),
    Mistake(
        "min_lr_only_at_the_end",
        "the cosine falls to 0 and the rate jumps to min_lr at step T; let it fall to min_lr",
        {DECAY: f"base_lr * {SHAPE}"},
    ),
    Mistake(
        "degrees",
        "the angle is in degrees; math.cos takes radians, and half a period is π",
        {"math.pi * progress": "180 * progress"},
    ),
    Mistake(
        "another_part_of_the_period",
        "the cosine does not run through half a period; (1 + cos πp) / 2 falls from 1 to 0 as p goes from 0 to 1",
        {SHAPE: "math.cos(math.pi / 2 * progress)"},
        also=({"math.pi * progress": "2 * math.pi * progress"},),
    ),
    Mistake(
        "cosine_below_zero",
        "the cosine itself is used, which falls to −1; (1 + cos πp) / 2 falls to 0",
        {SHAPE: "math.cos(math.pi * progress)"},
    ),
    Mistake(
        "float32_inside",
        "the rate is computed with float32 tensors, torch's default; use Python floats or float64",
        {**IMPORT, SHAPE: "(1 + torch.cos(math.pi * torch.tensor(progress))).item() / 2"},
        also=(
            {**IMPORT, f"    {IN_WARMUP}": f"    step = torch.tensor(float(step)).item()\n    {IN_WARMUP}"},
            {**IMPORT, WARMUP: f"torch.tensor({WARMUP}).item()", DECAY: f"torch.tensor({DECAY}).item()"},
        ),
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    "if step >= total_steps: -> if step > total_steps:": "at step T the cosine is exactly −1, and the rate min_lr",
}
