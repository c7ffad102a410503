"""Known wrong answers to train_step."""

from graders.kata import Mistake

COUNT = "int((targets != -100).sum())"
ZERO = "    optimizer.zero_grad()\n"
LOOP = "for inputs, targets in batches:"
LOGITS = "        logits = model(inputs)"
LOSS = 'F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")'
MEAN = LOSS.replace(', reduction="sum"', "")
BACKWARD = "        (loss / tokens).backward()\n"
TOTAL = "        total += loss.item()\n"
NORM = "nn.utils.clip_grad_norm_(model.parameters(), max_norm)"
CLIP = f"    if max_norm is not None:\n        {NORM}\n"
GROUP = 'group["params"]'
SCALED = """        for p in model.parameters():
            if p.grad is not None:
                p.grad *= max_norm / norm"""
STEP = "    optimizer.step()\n"
SCHEDULE = "    if scheduler is not None:\n        scheduler.step()\n"
RETURN = "    return total / tokens\n"
EVAL = "    model.eval()\n"
IN_LOOP = {ZERO: "", LOGITS: f"    {ZERO}{LOGITS}"}
DIVIDE = "    for p in model.parameters():\n        if p.grad is not None:\n            p.grad /= {}\n"
AT_LEAST_ONE = {CLIP: f"    {NORM[:-1]} or 1.0)\n"}
BY_ROWS = f"(max(1, {COUNT}) / len(inputs) * sum(len(x) for x, y in batches if (y != -100).any()))"
BY_PLACES = f"(max(1, {COUNT}) / targets.numel() * sum(y.numel() for _, y in batches))"
BY_BATCHES = {BACKWARD: BACKWARD.replace("tokens", "len(batches)"), RETURN: RETURN.replace("tokens", "len(batches)")}


def inside(lines: str) -> dict[str, str]:
    """They are moved to the end of the loop."""
    return {lines: "", TOTAL: TOTAL + "".join(f"    {line}" for line in lines.splitlines(keepends=True))}


MISTAKES = (
    Mistake("never_cleared", "backward adds to the gradients of earlier steps; clear them first", {ZERO: ""}),
    Mistake(
        "cleared_in_the_loop",
        "only the gradients of the last micro-batch are left; clear them once, before the first backward",
        IN_LOOP,
    ),
    Mistake(
        "cleared_before_the_step",
        "the optimiser finds no gradients, so nothing is learned; call backward, and clear old gradients only "
        "before it",
        {ZERO: "", CLIP: ZERO + CLIP},
    ),
    Mistake(
        "cleared_after_the_step",
        "gradients from before the first call are added in; clear .grad before the first backward, not after the step",
        {ZERO: "", STEP: STEP + ZERO},
    ),
    Mistake(
        "zeros_for_none",
        "each .grad becomes zeros, so the optimiser decays parameters that have no gradient; set it to None",
        {ZERO: "    for p in model.parameters():\n        p.grad = torch.zeros_like(p)\n"},
        {"zero_grad()": "zero_grad(set_to_none=False)"},
        {ZERO: "    for p in model.parameters():\n        p.grad = torch.zeros_like(p) if p.requires_grad else None\n"},
    ),
    Mistake(
        "mean_of_means",
        "each micro-batch counts alike, however many tokens it has; divide the sum over all tokens by their number",
        {LOSS: MEAN, **BY_BATCHES},
        {LOSS: f"{LOSS} / max(1, {COUNT})", **BY_BATCHES},
        {LOSS: f"{MEAN} * tokens / len(batches)"},
        {BACKWARD: f"        (loss / max(1, {COUNT}) / len(batches)).backward()\n"},  # the loss that is told is right
    ),
    Mistake(
        "divided_twice",
        "the sum is divided by the tokens of all micro-batches, and then by the number of micro-batches as well; "
        "divide it only by the tokens",
        {BACKWARD: BACKWARD.replace("tokens", "tokens / len(batches)")},  # the loss that is told is right
        {LOSS: f"{LOSS} / len(batches)"},
    ),
    Mistake(
        "means_added",
        "mean losses of micro-batches are added up; divide the sum over all tokens by their number",
        {LOSS: f"{MEAN} * tokens"},
        {LOSS: MEAN, **BY_BATCHES, BACKWARD: "        loss.backward()\n"},
        {BACKWARD: BACKWARD.replace("tokens", f"max(1, {COUNT})")},  # the loss that is told is right
    ),
    Mistake(
        "weighted_by_rows",
        "each micro-batch's mean counts by its rows, however many tokens they have; divide the sum over all tokens by "
        "their number",
        {BACKWARD: BACKWARD.replace("tokens", BY_ROWS)},
        {LOSS: f"{LOSS} / {BY_ROWS} * tokens"},
    ),
    Mistake(
        "weighted_by_places",
        "each micro-batch's mean counts by all its places, padding included; divide the sum over all tokens by their "
        "number",
        {LOSS: f"{LOSS} / {BY_PLACES} * tokens"},
        {BACKWARD: BACKWARD.replace("tokens", BY_PLACES)},  # the loss that is told is right
    ),
    Mistake(
        "padding_is_nan",
        "if all targets of a micro-batch are -100, its mean is NaN, and NaN times 0 is NaN; sum the losses instead",
        {LOSS: f"{MEAN} * {COUNT}"},
    ),
    Mistake(
        "not_divided",
        "backward runs on the sum of the losses; divide it by the number of tokens first",
        {"(loss / tokens)": "loss"},
    ),
    Mistake("padding_counted", "targets of -100 are counted as tokens; leave them out", {COUNT: "targets.numel()"}),
    Mistake(
        "rows_counted",
        "the loss is divided by the number of rows; divide by the number of tokens",
        {COUNT: "len(targets)"},
    ),
    Mistake(
        "class_0_left_out",
        "targets of 0 are left out as if they were padding, perhaps only from the number of tokens; only -100 does not "
        "count",
        {LOSS: LOSS.replace("flatten(),", "flatten().relu(), ignore_index=0,"), COUNT: COUNT.replace("!= -100", "> 0")},
        {COUNT: COUNT.replace("!= -100", "> 0")},  # only in the number of tokens
    ),
    Mistake(
        "targets_viewed",
        "view raises where targets are cut from longer rows, as they are not contiguous; use flatten or reshape",
        {LOSS: LOSS.replace("targets.flatten()", "targets.view(-1)")},
    ),
    Mistake(
        "shifted_again",
        "targets are shifted by a token, although they are shifted already; compare each logit with the target of its "
        "own place",
        {LOSS: LOSS.replace("logits.", "logits[:, :-1].").replace("targets.", "targets[:, 1:].")},
    ),
    Mistake(
        "not_clipped",
        "the optimiser steps with unclipped gradients; clip after the last backward, and before the step",
        {CLIP: "", STEP: STEP + CLIP},
    ),
    Mistake(
        "clipped_too_soon",
        "gradients are clipped before all of them are there; clip once, after the last backward",
        inside(CLIP),
    ),
    Mistake(
        "clipped_before_division",
        "gradients are clipped, and then divided by the number of tokens or micro-batches; divide them first",
        {"(loss / tokens)": "loss", CLIP: CLIP + DIVIDE.format("tokens")},
        {"(loss / tokens)": "(loss / tokens * len(batches))", CLIP: CLIP + DIVIDE.format("len(batches)")},
    ),
    Mistake(
        "clipped_one_by_one",
        "each parameter, or group of them, is clipped by a norm of its own; take the norm over all gradients together",
        {NORM: f"for p in model.parameters():\n            {NORM.replace('model.parameters()', 'p')}"},
        {NORM: f"for group in optimizer.param_groups:\n            {NORM.replace('model.parameters()', GROUP)}"},
    ),
    Mistake(
        "some_axes_clipped",
        "the norm and the clipping leave out gradients of vectors and single numbers, such as biases; take all "
        "gradients together",
        {NORM: NORM.replace("model.parameters()", "[p for p in model.parameters() if p.dim() > 1]")},
        {NORM: NORM.replace("model.parameters()", "[p for p in model.parameters() if p.dim()]")},
    ),
    Mistake(
        "first_group_clipped",
        "only the gradients of one parameter group are clipped; clip all gradients of the model",
        {NORM: NORM.replace("model.parameters()", 'optimizer.param_groups[0]["params"]')},
    ),
    Mistake(
        "clipped_by_value", "each entry is clipped by itself; scale all of them by one factor", {"norm_(": "value_("}
    ),
    Mistake(
        "another_norm",
        "the norm is the largest entry or the sum of absolute values; take the root of the sum of all squares",
        {NORM: [f"{NORM[:-1]}, {one})" for one in ("float('inf')", "1")]},
    ),
    Mistake(
        "norms_added",
        "the norms of the parameters' gradients are added up; take the root of the sum of all squares",
        {
            NORM: "norm = sum(p.grad.norm() for p in model.parameters() if p.grad is not None)\n"
            + SCALED.replace("max_norm / norm", "(max_norm / norm).clamp(max=1)")
        },
    ),
    Mistake(
        "scaled_up",
        "gradients shorter than max_norm are stretched to it; only shorten longer ones: min(1, max_norm / norm)",
        {NORM: f"norm = {NORM.replace('max_norm', '1e9')}\n{SCALED}"},
    ),
    Mistake(
        "divided_by_a_norm_of_0",
        "max_norm is divided by the norm of all gradients, which raises where all of them are 0; divide only if the "
        "norm is above max_norm",
        {
            NORM: f"norm = {NORM.replace('max_norm', '1e9')}.item()\n"
            + SCALED.replace("max_norm / norm", "min(1, max_norm / norm)")
        },
    ),
    Mistake(
        "always_clipped", "gradients are clipped to 1 where max_norm is None; leave them as they are", AT_LEAST_ONE
    ),
    Mistake("stepped_in_the_loop", "the optimiser steps after each micro-batch; step once, at the end", inside(STEP)),
    Mistake("two_steps", "the optimiser steps twice; step once, at the end", {STEP: STEP + STEP}),
    Mistake("no_step", "the optimiser never steps, so nothing is learned; step once, at the end", {STEP: ""}),
    Mistake(
        "scheduler_first",
        "the scheduler steps before the optimiser, whose first step has the second rate; the optimiser should come "
        "first",
        {SCHEDULE: "", STEP: SCHEDULE + STEP},
    ),
    Mistake(
        "scheduler_in_the_loop",
        "the scheduler steps with each micro-batch; step it once, at the end",
        inside(SCHEDULE),
        {SCHEDULE: f"    for _ in batches:\n    {SCHEDULE}".replace("\n        sch", "\n            sch")},
    ),
    Mistake("scheduler_forgotten", "the scheduler never steps, so the rate stays; step it last", {SCHEDULE: ""}),
    Mistake(
        "loss_with_its_graph", "the result is a tensor with its graph; add up loss.item()", {"loss.item()": "loss"}
    ),
    Mistake(
        "last_loss",
        "only the last micro-batch enters the loss that is returned; return the mean over the tokens of all "
        "micro-batches",
        {TOTAL: TOTAL.replace("+=", "=")},
        {RETURN: f"    return loss.item() / max(1, {COUNT})\n"},
    ),
    Mistake(
        "other_mean",
        "the loss that is returned is a sum, a mean of means, or divided by the number of micro-batches too; divide "
        "the sum over all tokens once, by their number",
        {RETURN: "    return total\n"},
        {RETURN: ["    return total / len(batches)\n", "    return total / tokens / len(batches)\n"]},
        {TOTAL: TOTAL.replace("()", f"() / max(1, {COUNT})")}
        | {RETURN: ["    return total\n", "    return total / len(batches)\n"]},
    ),
    Mistake(
        "in_eval_mode",
        "the step runs in eval mode, which switches dropout off; leave the mode as the caller set it",
        {ZERO: ZERO + EVAL},
        {ZERO: ZERO + EVAL, RETURN: f"    model.train()\n{RETURN}"},
    ),
    Mistake("left_in_eval_mode", "the model is left in eval mode; leave its mode alone", {RETURN: EVAL + RETURN}),
    Mistake(
        "everything_in_train_mode",
        "model.train() also reaches the parts that somebody keeps in eval mode; leave the mode to the caller",
        {ZERO: f"{ZERO}    model.train()\n"},
    ),
    Mistake(
        "batches_left_out",
        "some micro-batches are left out, or a generator is read twice; make a list of all of them first",
        {LOOP: [LOOP.replace("batches", "batches[:-1]"), LOOP.replace("batches", "batches[1:]")]},
        {"    batches = list(batches)\n": "", "{len(batches)}": "the"},
    ),
    Mistake(
        "one_backward_for_all",
        "the graphs of all micro-batches are alive until one backward at the end; call backward for each",
        {
            BACKWARD: "",
            TOTAL: TOTAL.replace(".item()", ""),
            CLIP: f"    (total / tokens).backward()\n{CLIP}",
            RETURN: RETURN.replace("total", "total.item()"),
        },
        slow=True,  # the values are right
    ),
)
FIXED = {
    "length of *": "these are names of parameters and kinds of iterables, not sizes",
    "old": "whatever .grad held before must not matter: 100 and NaN stand for all of it",
}
