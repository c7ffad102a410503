"""Known wrong answers to gradient_descent."""

from graders.kata import Mistake

RESET = "        for p in params:\n            p.grad = None  # backward adds to what is there\n"
LOSS = "        loss = loss_fn(*params)\n        loss.backward()\n"
MOVE = "        with torch.no_grad():\n            for p in params:\n                p -= lr * p.grad\n"
UPDATE = "p -= lr * p.grad"
NUMBER = "loss.item()"
APPEND = "        losses.append(loss.item())\n"
CONVERGED = "        if losses[1:] and abs(losses[-2] - losses[-1]) < {}:\n            break\n"
MEAN = "residuals.square().sum() / N"
ROWS, RESULT = "N, D = x.shape", "return w.detach(), b.detach()"
DESCEND = "gradient_descent(loss_fn, [w, b], lr, steps)"
LOOP = "for _ in range(steps):\n        for p, g in zip((w, b), {}):\n            p.data -= lr * g"
EXACTLY = """        size = torch.sqrt(sum(p.grad.square().sum() for p in params))
        for p in params:
            p.grad *= {0} / size.clamp(min={0})
"""
SOLVED = "w, b = (s := torch.cat([x, x[:, :1] * 0 + 1], 1).double().pinverse() @ y.double()).to(y)[:-1], s[-1].to(y)"
APART = {DESCEND: LOOP.format("torch.autograd.grad(loss_fn(w, b), (w, b))")}


def in_descent(name: str, diagnosis: str, *forms: dict[str, str]) -> Mistake:
    """A mistake in gradient_descent that changes linear_regression_gd, unless that has a loop of its own."""
    first, *others = (form for edits in forms for form in (edits, {**edits, **APART}))
    return Mistake(name, diagnosis, first, *(others))


MISTAKES = (
    in_descent(
        "gradients_add_up",
        "the gradients of all steps add up, since backward adds to .grad; clear it before every backward",
        {RESET: ""},
        {RESET: RESET.replace("= None", "= p.grad if losses else None")},
    ),
    Mistake(
        "old_gradient_counts",
        "a .grad from before the call counts, or is NaN and stays NaN when multiplied by 0; set each .grad to None "
        "before every backward",
        {RESET: "", UPDATE: UPDATE + "\n                p.grad = None"},
        {RESET: RESET.replace("in params", "in params if params[0].grad is not None else []")},
        {RESET: RESET.replace("= None", "= None if p.grad is None else 0 * p.grad")},
    ),
    in_descent(
        "nothing_moves",
        "the parameters never move; clear .grad before backward, not after it, and change p in place: `p = p - …` "
        "makes a new tensor",
        {UPDATE: "p = p - lr * p.grad"},
    ),
    Mistake(
        "uphill",
        "the gradient is added; subtract it to go down",
        {UPDATE: "p += lr * p.grad"},
        {UPDATE: "p += lr * p.grad", **APART},
        {DESCEND: DESCEND.replace("lr", "-lr")},
    ),
    Mistake(
        "loss_after_the_step", "each loss is taken after its step; take it before", {NUMBER: "loss_fn(*params).item()"}
    ),
    in_descent(
        "one_parameter_after_the_other",
        "a gradient is taken after other parameters were moved; take all gradients first, then move all parameters",
        {
            LOSS: "        loss = loss_fn(*params)\n",
            MOVE: "        for p in params:\n            p.data -= lr * torch.autograd.grad(loss_fn(*params), p)[0]\n",
        },
    ),
    in_descent(
        "parameters_rebound",
        "new tensors take the parameters' place, and the caller's tensors stay as they were; update the caller's "
        "tensors in place",
        {MOVE: "        params = [(p - lr * p.grad).detach().requires_grad_() for p in params]\n"},
        {  # in the caller's list
            MOVE: "        params[:] = [(p - lr * p.grad).detach().requires_grad_() for p in params]\n",
            DESCEND: "gradient_descent(loss_fn, params := [w, b], lr, steps)\n    w, b = params",
        },
    ),
    Mistake(
        "memory_replaced",
        "p.data is assigned, so the parameter leaves the memory that others share with it; write into that memory",
        {UPDATE: "p.data = p - lr * p.grad"},
    ),
    Mistake(
        "losses_are_tensors", "the losses are tensors; return Python floats, which hold no graph", {NUMBER: "loss"}
    ),
    in_descent(
        "stops_early",
        "steps are left out where the loss rises, hardly changes or is not finite; make all steps",
        *({APPEND: APPEND + CONVERGED.format(least)} for least in (1e-6, 1e-12)),
        *({APPEND: "", MOVE: APPEND + CONVERGED.format(least) + MOVE} for least in (1e-6, 1e-12)),  # before the move
        {APPEND: APPEND + "        if losses[1:] and losses[-1] > losses[-2]:\n            break\n"},
        {APPEND: APPEND + "        if losses[-1] == float('inf'):\n            break\n"},
        {MOVE: MOVE.replace("in params:", "in params if loss.isfinite() else []:")},
    ),
    in_descent(
        "gradient_clipped",
        "large gradients are clipped, by value or by norm; take the step with the gradient as it is",
        *({UPDATE: f"p -= lr * p.grad.clamp(-{most}, {most})"} for most in ("1e3", "1", "10", "100")),
        *({MOVE: f"        torch.nn.utils.clip_grad_norm_(params, {most})\n{MOVE}"} for most in ("1", "5", "10")),
        *({MOVE: EXACTLY.format(most) + MOVE} for most in ("1", "5", "10")),
        {UPDATE: "p -= lr * p.grad / p.grad.norm().clamp(min=1)"},
    ),
    in_descent(
        "direction_alone",
        "only the sign or the direction of the gradient counts; multiply lr by the gradient as it is",
        {UPDATE: "p -= lr * p.grad.sign()"},
        {UPDATE: "p -= lr * p.grad / p.grad.norm()"},
    ),
    Mistake(
        "one_step_more",
        "one step too many is made; make `steps` steps",
        {"for _ in range(steps):": "for _ in range(steps + 1):"},
        {"for _ in range(steps):": "for _ in range(steps + 1):", **APART},
        {DESCEND: DESCEND.replace("steps", "steps + 1")},
    ),
    Mistake(
        "one_loss_more",
        "the list also has the loss after the last step; return one loss for each step, taken before it",
        {"    return losses\n": "    losses.append(loss_fn(*params).item())\n    return losses\n"},
    ),
    Mistake(
        "solved_at_once",
        "if steps is large, the least-squares solution is returned, which a tiny rate does not reach; make all steps",
        {DESCEND: f"{DESCEND}\n    if steps >= 100:\n        {SOLVED}"},
    ),
    Mistake(
        "gradients_left_off",
        "gradients are switched off and stay off after the call; use torch.no_grad(), which switches them on again",
        {"    return w.detach()": "    torch.set_grad_enabled(False)\n    return w.detach()"},
    ),
    Mistake(
        "returned_leaves",
        "w and b still require gradients; return them detached",
        {"return w.detach(), b.detach()": "return w, b"},
    ),
    Mistake("half_the_mean", "the loss has a factor of ½; take the mean of the squares", {MEAN: MEAN + " / 2"}),
    Mistake(
        "sum_for_mean", "the squares are summed; take their mean over the rows", {MEAN: [MEAN[:-4], f"{MEAN[:-4]} / 2"]}
    ),
    Mistake(
        "factors_differ",
        "the gradients of w and b have different factors, as where one lacks the 2 or the 1/N; both are 2/N times a "
        "sum",
        *(
            {DESCEND: LOOP.format(f"[f * g for f, g in zip({one}, torch.autograd.grad(loss_fn(w, b), (w, b)))]")}
            for one in ("(1, 0.5)", "(0.5, 1)", "(N, 1)", "(1, N)")
        ),
    ),
    Mistake(
        "bias_stays",
        "b never moves; also take its gradient, and update it as w",
        {DESCEND: LOOP.format("(torch.autograd.grad(loss_fn(w, b), w)[0],)")},
    ),
    Mistake(
        "bias_with_an_axis",
        "b has an axis of length 1; make it 0-d, as by torch.zeros(())",
        {"return w.detach(), b.detach()": "return w.detach(), b.detach()[None]"},
    ),
    Mistake(
        "starts_at_ones",
        "w or b starts at 1; start both at zeros",
        {"w = x.new_zeros(D, requires_grad=True)": "w = x.new_ones(D, requires_grad=True)"},
        {"b = x.new_zeros((), requires_grad=True)": "b = x.new_ones((), requires_grad=True)"},
        {"w = x.new_zeros(D, requires_grad=True)": "w = x.new_ones(D, requires_grad=True)"}
        | {"b = x.new_zeros((), requires_grad=True)": "b = x.new_ones((), requires_grad=True)"},
    ),
    Mistake(
        "one_row_a_step",
        "each step uses one row, as in stochastic gradient descent; use the gradient of all rows",
        {
            DESCEND: "for t in range(steps):\n        error = x[t % N] @ w.data + b.data - y[t % N]\n"
            "        w.data -= lr * 2 * error * x[t % N]\n        b.data -= lr * 2 * error"
        },
    ),
    Mistake(
        "features_centred",
        "the columns of x are centred, and b is moved back at the end, so the steps take another way to the solution; "
        "descend on x as it is",
        {ROWS: f"{ROWS}\n    centre = x.mean(0)\n    x = x - centre", RESULT: f"{RESULT} - w.detach() @ centre"},
    ),
    Mistake(
        "every_target_for_every_row",
        "predictions (N, 1) minus targets (N,) are N × N residuals; give both the same shape",
        {"x @ w …": "(x @ w + b)[:, None] - y", MEAN: "residuals.square().mean()"},
    ),
    Mistake(
        "bias_after_the_weights",
        "the gradient of b is taken with the new w; take both gradients first, then update both",
        {DESCEND: LOOP.format("(torch.autograd.grad(loss_fn(w, b), p)[0] for p in (w, b))")},
    ),
    Mistake(
        "graphs_kept",
        "all graphs stay alive until the end, so memory grows with the steps; take loss.item() in each step",
        {
            LOSS: LOSS.replace("()", "(retain_graph=True)"),
            NUMBER: "loss",
            "return losses": "return [loss.item() for loss in losses]",
        },
        slow=True,
    ),
    Mistake(
        "all_pairs_but_the_diagonal",
        "all N × N residuals are made, and all but the diagonal is thrown away; subtract (N,) from (N,)",
        {"x @ w …": "((x @ w + b)[:, None] - y).diagonal()"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "axis 0 of [ab]": "two parameters of one entry a coordinate; other cases draw theirs",
    "length of steps": "one call, or two that continue one another",
    "length of old": "one for each of the four parameters",
    "old": "what .grad held before: a number, or NaN",
}
