"""Known wrong answers to weight_penalty."""

from graders.kata import Mistake

LIST = "    params = list(params)  # a generator can be read only once\n"
L1, L2 = "w.to(wide).abs().sum()", "w.to(wide).square().sum()"
SUM_1, SUM_2 = (f"total = torch.stack([{one} for w in params]).sum()\n    return " for one in (L1, L2))
SUMS = (SUM_1, SUM_2), (SUM_1,), (SUM_2,)
FIRST_OF_EACH = "in {w.untyped_storage().data_ptr(): w for w in reversed(params)}.values()"
RETURN = "(strength * total).to(dtype)"
NO_GRAD, HAS_ONE, ADD = "with torch.no_grad():", "if w.grad is not None:", "w.grad.add_(w, alpha=strength)"


def in_both(name: str, diagnosis: str, l1: str, l2: str, *more: dict[str, str]) -> Mistake:
    """Another term for each parameter in both penalties, or in one of them."""
    return Mistake(name, diagnosis, {L1: l1, L2: l2}, {L1: l1}, {L2: l2}, *more)


MISTAKES = (
    Mistake(
        "half_in_the_penalty",
        "l2_penalty has a factor of ½; the penalty here is strength · Σ w², with the gradient 2 · strength · w",
        {SUM_2 + RETURN: SUM_2 + RETURN.replace("strength", "strength / 2")},
    ),
    Mistake(
        "factor_in_the_decay",
        "the decay has a factor of 2 or ½; weight decay adds strength · w, the gradient of strength / 2 · Σ w²",
        {ADD: ["w.grad.add_(w, alpha=2 * strength)", "w.grad.add_(w, alpha=strength / 2)"]},
    ),
    Mistake(
        "norm_for_its_square",
        "l2_penalty takes the root of Σ w², which is a norm; leave the root out",
        {SUM_2 + RETURN: SUM_2 + RETURN.replace("total", "total.sqrt()")},
        {L2: "torch.linalg.vector_norm(w.to(wide))"},
        {
            SUM_2: SUM_2.replace(
                f"torch.stack([{L2}", f"torch.stack([{L2.replace('square().sum()', 'norm()')}"
            ).replace("]).sum()", "]).norm()")
        },
    ),
    Mistake(
        "sum_of_norms_squared",
        "l2_penalty squares the sum of the parameters' norms; square each norm, then add up",
        {SUM_2: SUM_2.replace(L2, "w.to(wide).norm()").replace("]).sum()", "]).sum().square()")},
    ),
    Mistake(
        "largest_singular_value",
        "l2_penalty squares a matrix's largest singular value, its norm with ord=2; add up the squares of its numbers",
        {
            L2: [
                "(torch.linalg.norm(w.to(wide), 2) if w.dim() == 2 else w.to(wide).norm()).square()",
                "torch.linalg.norm(w.to(wide), 2).square()",
            ]
        },
    ),
    Mistake(
        "storage_counted_once",
        "of several parameters that are parts of one tensor, the penalty counts only one; count every parameter",
        *({one: one.replace("in params", FIRST_OF_EACH) for one in some} for some in SUMS),
    ),
    in_both(
        "mean_for_sum",
        "a mean is taken over numbers or over parameters; take the sum of all numbers",
        L1.replace("sum", "mean"),
        L2.replace("sum", "mean"),
        *(
            {one + RETURN: one + RETURN.replace("total)", f"total / {count})") for one in some}
            for some in SUMS
            for count in ("sum(w.numel() for w in params)", "len(params)")
        ),
    ),
    Mistake(
        "strength_squared",
        "the strength is squared with the weights; multiply the sum of the squares by it",
        {SUM_2 + RETURN: SUM_2 + RETURN.replace("strength", "strength**2")},
    ),
    Mistake(
        "penalties_swapped",
        "l1_penalty adds up squares, and l2_penalty absolute values; swap them",
        {L1: "(w.to(wide) ** 2).sum()", L2: "w.to(wide).abs().sum()"},
    ),
    in_both(
        "eps_under_the_root",
        "an eps is added to the square of each number before its root is taken; take |w| as it is, by abs",
        "(w.to(wide).square() + 1e-8).sqrt().sum()",
        "(w.to(wide).square() + 1e-8).sum()",
        {L1: "(w.to(wide).square() + 1e-12).sqrt().sum()"},
    ),
    in_both(
        "sum_first",
        "numbers are added first, so positive and negative ones cancel; take |w| or w² of each number, then add up",
        "w.to(wide).sum().abs()",
        "w.to(wide).sum().square()",
    ),
    Mistake(
        "read_twice",
        "params is read twice, and a generator gives each tensor only once; make a list of params first",
        {LIST: ["    first = next(iter(params))\n    params = list(params) or [first]\n", ""]},
    ),
    Mistake(
        "missing_gradient_read",
        "a .grad of None is read, is replaced or ends the loop; skip that parameter and go on with the others, as "
        "torch.optim.SGD does",
        {HAS_ONE: "if True:"},
        {HAS_ONE: "if w.grad is None:\n                w.grad = strength * w\n            else:"},
        {HAS_ONE: "if w.grad is None:\n                break\n            else:"},
    ),
    Mistake(
        "graph_in_the_gradient",
        "the addition is recorded, so .grad holds a graph; add under torch.no_grad(), or add w.detach()",
        {NO_GRAD: "if True:"},
    ),
    Mistake(
        "thawed",
        "parameters that required no gradient require one afterwards; leave requires_grad alone",
        {ADD: ADD + "\n                w.requires_grad_(True)"},
    ),
    Mistake(
        "gradient_of_inference_mode",
        "the new .grad is a tensor of inference mode, which no backward pass can add to; use torch.no_grad()",
        {NO_GRAD: "with torch.inference_mode():", ADD: "w.grad = w.grad + strength * w"},
    ),
    Mistake(
        "gradients_stay_off",
        "where no parameter has a .grad, autograd stays switched off; use torch.no_grad(), which restores it",
        {
            NO_GRAD: "params, enabled = [w for w in params if w.grad is not None], torch.is_grad_enabled()\n"
            "    torch.set_grad_enabled(False)\n    if not params:\n        return\n    if True:",
            ADD: f"{ADD}\n    torch.set_grad_enabled(enabled)",
        },
    ),
    Mistake(
        "copy_changed",
        "a copy of .grad is changed, and .grad is not; add to .grad itself",
        {ADD: ["w.grad.reshape(-1).add_(w.reshape(-1), alpha=strength)", "w.grad + strength * w"]},
    ),
    Mistake(
        "slope_at_zero",
        "the gradient of the L1 penalty is not 0 where w is 0; use abs, whose gradient is 0 there",
        {L1: ["torch.where(w >= 0, w, -w).to(wide).sum()", "w.to(wide).square().sqrt().sum()"]},
    ),
    in_both(
        "sums_in_half_precision",
        "half precision is too narrow for the strength, the squares, the products or the sums; work in float32 and "
        "cast the result",
        L1.replace(".to(wide)", ""),
        L2.replace(".to(wide)", ""),
        {L2: "w.square().sum(dtype=wide)"},
        {SUM_1: f"total = sum({L1}.to(dtype if dtype == torch.bfloat16 else wide) for w in params)\n    return "},
        {L1: "(strength * w).to(wide).abs().sum() / max(strength, 1e-30)"},
        {SUM_2 + RETURN: SUM_2 + RETURN.replace("strength", "total.new_tensor(strength, dtype=dtype)")},
    ),
    Mistake(
        "biases_left_out",
        "the penalty leaves out parameters with fewer than two axes; all count here",
        {LIST: "    params = [w for w in params if w.dim() > 1] or [*params]\n"},
    ),
    Mistake(
        "biases_not_decayed",
        "the decay leaves out parameters with fewer than two axes, such as biases; it should add strength · w to every "
        ".grad",
        {HAS_ONE: "if w.grad is not None and w.dim() > 1:"},
    ),
    in_both(
        "frozen_left_out",
        "tensors that require no gradient are left out; a penalty counts all, and decay looks only at .grad",
        f"({L1} if w.requires_grad else w.sum() * 0)",
        f"({L2} if w.requires_grad else w.sum() * 0)",
        {HAS_ONE: "if w.grad is not None and w.requires_grad:"},
    ),
    in_both(
        "penalty_detached",
        "no gradient flows from the penalty to the parameters; do not use .data, .detach() or .item()",
        L1.replace("w.", "w.data.", 1),
        L2.replace("w.", "w.data.", 1),
    ),
    Mistake(
        "decay_subtracted", "strength · w is subtracted from .grad; add it", {ADD: "w.grad.sub_(w, alpha=strength)"}
    ),
    Mistake(
        "gradient_replaced",
        "strength · w takes the place of the gradient; add it to the gradient",
        {ADD: "w.grad = strength * w.detach()"},
    ),
    Mistake(
        "zeros_skipped",
        "a .grad of zeros is skipped; skip only a .grad of None",
        {HAS_ONE: "if w.grad is not None and w.grad.any():"},
    ),
    Mistake(
        "gradient_shrunk",
        "the decay also multiplies the gradient by 1 − strength, as a moving average does; only add strength · w",
        {ADD: "w.grad.lerp_(w, strength)"},
    ),
    Mistake("weights_decayed", "the weights shrink, as AdamW's do; change only .grad", {ADD: "w.mul_(1 - strength)"}),
    Mistake(
        "decay_without_sign",
        "the decay adds strength · |w|, or the L1 penalty's slope; add strength · w",
        {ADD: ["w.grad.add_(w.abs(), alpha=strength)", "w.grad.add_(w.sign(), alpha=strength)"]},
    ),
    Mistake(
        "other_dtype",
        "the result is not in the parameters' dtype; cast it at the end",
        {SUM_1 + RETURN: SUM_1 + "strength * total.double()"},
        {SUM_2 + RETURN: SUM_2 + "(strength * total).float()"},
    ),
    Mistake(
        "loop_over_numbers",
        "a Python loop runs over the numbers of a parameter; use operations on whole tensors",
        {L1: "sum(one.abs() for one in w.to(wide).flatten())"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
SWAPPED = "wide = torch.promote_types(dtype, torch.float32) -> wide = torch.promote_types(torch.float32, dtype)"
EQUIVALENT = dict.fromkeys((SWAPPED, f"{SWAPPED} (20)"), "the two have the same common dtype in either order")
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "axis * of kernel": "a convolution's kernel stands for four axes; the weight's are drawn",
    "axis 0 of bias": "stands for one axis",
    "length of *": "forms of an iterable, and names of parameters",
}
