"""Known wrong answers to gradient_descent."""

from graders.kata import Mistake

RESET = "        for p in params:\n            p.grad = None  # backward adds to what is there\n"
LOSS = "        loss = loss_fn(*params)\n        loss.backward()\n"
MOVE = "        with torch.no_grad():\n            for p in params:\n                p -= lr * p.grad\n"
UPDATE = "p -= lr * p.grad"
APPEND = "        losses.append(loss.item())\n"
LOSSES = "    return losses\n"
W = "w = torch.zeros(D, dtype=x.dtype, device=x.device, requires_grad=True)"
RESIDUALS = "x @ w + b - y"
MEAN = "residuals.square().sum() / N"
DESCEND = "gradient_descent(loss_fn, [w, b], lr, steps)"
RESULT = "return w.detach(), b.detach()"
APART = {
    DESCEND: "for _ in range(steps):\n        for p, g in zip((w, b), torch.autograd.grad(loss_fn(w, b), (w, b))):\n"
    "            p.data -= lr * g"
}


def in_descent(name: str, diagnosis: str, *forms: dict[str, str]) -> Mistake:
    """A mistake in gradient_descent that changes linear_regression_gd, unless that has a loop of its own."""
    first, *others = (form for edits in forms for form in (edits, {**edits, **APART}))
    return Mistake(name, diagnosis, first, also=tuple(others))


MISTAKES = (
    in_descent(
        "gradients_add_up",
        "the gradients of all steps add up, since backward adds to .grad; clear it before every backward",
        {RESET: ""},
        {RESET: RESET.replace("p.grad = None", "p.grad = p.grad if losses else None")},
    ),
    Mistake(
        "old_gradient_counts",
        "a .grad that was there before the call counts in the first step; clear it before every backward, not after",
        {RESET: "", UPDATE: UPDATE + "\n                p.grad = None"},
        also=({RESET: RESET.replace("in params", "in params if params[0].grad is not None else []")},),
    ),
    Mistake(
        "old_gradient_times_zero",
        ".grad is cleared by a multiplication with 0, which leaves NaN as it is; set it to None or fill it with 0",
        {RESET: RESET.replace("p.grad = None", "p.grad = None if p.grad is None else 0 * p.grad")},
    ),
    in_descent(
        "cleared_before_the_update",
        ".grad is cleared between backward and update, so nothing moves; clear it before backward",
        {LOSS: LOSS + "        for p in params:\n            p.grad.zero_()\n"},
    ),
    in_descent("uphill", "the gradient is added; subtract it to go down", {UPDATE: UPDATE.replace("-=", "+=")}),
    Mistake(
        "loss_after_the_step",
        "each loss is taken after its step; take it before",
        {APPEND: APPEND.replace("loss.item()", "loss_fn(*params).item()")},
    ),
    Mistake(
        "last_loss_added",
        "the loss after the last step is listed, too; return one loss for each step, taken before it",
        {LOSSES: "    return [*losses, loss_fn(*params).item()]\n"},
    ),
    in_descent(
        "one_parameter_after_the_other",
        "a gradient is taken after other parameters were moved; take all gradients first, then move all parameters",
        {
            LOSS: "        loss = loss_fn(*params)\n",
            MOVE: "        for p in params:\n            (g,) = torch.autograd.grad(loss_fn(*params), p)\n"
            "            p.data -= lr * g\n",
        },
    ),
    in_descent(
        "parameters_rebound",
        "new tensors take the parameters' place, and those of the caller stay as they were; update them in place",
        {MOVE: "        params = [(p - lr * p.grad).detach().requires_grad_() for p in params]\n"},
        {MOVE: "        params[:] = [(p - lr * p.grad).detach().requires_grad_() for p in params]\n"},
        {UPDATE: "p = p - lr * p.grad"},
    ),
    Mistake(
        "memory_replaced",
        "p.data is assigned, so the parameter leaves the memory that others share with it; write into that memory",
        {UPDATE: "p.data = p - lr * p.grad"},
    ),
    Mistake(
        "shared_gradient_scaled",
        "gradients are scaled in place, which scales one twice that two parameters share; make a new tensor",
        {
            LOSS: "        loss = loss_fn(*params)\n        gradients = torch.autograd.grad(loss, params)\n",
            MOVE: MOVE.replace("p in params", "p, g in zip(params, gradients)").replace("lr * p.grad", "g.mul_(lr)"),
        },
    ),
    Mistake(
        "losses_are_tensors",
        "the losses are tensors, and with them their graphs may stay alive; return Python floats",
        {APPEND: APPEND.replace("loss.item()", "loss")},
        also=({APPEND: APPEND.replace("loss.item()", "loss.detach()")},),
    ),
    in_descent(
        "stops_early",
        "it stops before the last step, where the loss rises or hardly changes; make all steps",
        {APPEND: APPEND + "        if losses[1:] and abs(losses[-2] - losses[-1]) < 1e-6:\n            break\n"},
        {APPEND: APPEND + "        if losses[1:] and losses[-1] > losses[-2]:\n            break\n"},
    ),
    Mistake("half_the_mean", "the loss has a factor of ½; take the mean of the squares", {MEAN: MEAN + " / 2"}),
    Mistake("sum_for_mean", "the squares are summed; take their mean over the rows", {MEAN: MEAN[:-4]}),
    Mistake(
        "every_target_for_every_row",
        "predictions (N, 1) minus targets (N,) are N × N residuals; give both the same shape",
        {RESIDUALS: "(x @ w + b)[:, None] - y", MEAN: "residuals.square().mean()"},
    ),
    Mistake(
        "bias_after_the_weights",
        "the gradient of b is taken with the new w; take both gradients first, then update both",
        {
            DESCEND: "for _ in range(steps):\n        gradient_descent(lambda w: loss_fn(w, b.detach()), [w], lr, 1)\n"
            "        gradient_descent(lambda b: loss_fn(w.detach(), b), [b], lr, 1)"
        },
    ),
    Mistake("random_start", "w starts at random values; start at zeros", {W: W.replace("zeros(D,", "randn(D,")}),
    Mistake("result_learns", "w and b still require gradients; return them detached", {RESULT: "return w, b"}),
    Mistake(
        "row_by_row",
        "every row makes an update of its own; use the gradient of all rows in each step",
        {
            DESCEND: "for _ in range(steps):\n        for row, target in zip(x, y):\n"
            "            gradient_descent(lambda w, b: (row @ w + b - target).square(), [w, b], lr, 1)"
        },
    ),
    Mistake(
        "graphs_kept",
        "all graphs stay alive until the end, so memory grows with the steps; take loss.item() in each step",
        {
            LOSS: LOSS.replace("backward()", "backward(retain_graph=True)"),
            APPEND: APPEND.replace("loss.item()", "loss"),
            LOSSES: "    return [loss.item() for loss in losses]\n",
        },
        slow=True,
    ),
    Mistake(
        "loop_over_the_rows",
        "a Python loop takes the residual of one row after the other; take all rows at once",
        {RESIDUALS: "torch.stack([row @ w + b - target for row, target in zip(x, y)])"},
        slow=True,
    ),
    Mistake(
        "all_pairs_but_the_diagonal",
        "all N × N residuals are made, and all but the diagonal is thrown away; subtract (N,) from (N,)",
        {RESIDUALS: "((x @ w + b)[:, None] - y).diagonal()"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
