"""Known wrong answers to regression_losses."""

from graders.kata import Mistake

MSE = "errors(pred, target).square()"
MAE = "reduce(errors(pred, target).abs(), reduction)"
MSE_LINE = f"reduce({MSE}, reduction)"
ERROR = "error = errors(pred, target).abs()"
SQUARE, LINEAR = "0.5 * error.square()", "delta * (error - 0.5 * delta)"
HUBER = f"torch.where(error <= delta, {SQUARE}, {LINEAR})"
SIZE = "size = target.abs().clamp_min(eps)"
MAPE = "100 * errors(pred, target).abs() / size"
MEAN, SUM, NONE = "losses.mean()", "losses.sum()", "return losses\n"

TWO_WAYS = "errors(pred, target) * torch.where(pred > target, 1, -1)"
EXPANDED = "(pred.square() - 2 * pred * target + target.square() + 0 * errors(pred, target))"
ROOT = "errors(pred, target).square().sqrt()"
RAISED = [f"(errors(pred, target).square() + {eps}).sqrt()" for eps in ("1e-6", "1e-8", "1e-12", "1e-16")]
PSEUDO = "delta**2 * ((1 + (error / delta).square()).sqrt() - 1)"
MASKED = f"(error <= delta) * {SQUARE} + (error > delta) * {LINEAR}"


MISTAKES = (
    Mistake(
        "shapes_compared_in_part",
        "some shapes that differ are accepted and broadcast; raise ValueError unless the whole shapes are equal, and "
        "reshape nothing",
        {"if pred.…": "if pred.numel() != target.numel():"},
        {
            "if pred.…": [
                "if pred.dim() != target.dim():",
                "if target.dim() and pred.shape != target.shape:",
                "if pred.squeeze().shape != target.squeeze().shape:",
            ]
        },
    ),
    Mistake(
        "delta_factor",
        "the linear part of huber should be δ (|e| − ½ δ), and the squared part ½ e²; dividing both by δ gives the "
        "smooth L1 loss",
        {LINEAR: "error - 0.5 * delta"},
        {LINEAR: "0.5 * delta * error"},
        {LINEAR: ["delta * (error - 0.5)", "delta * error - 0.5 * delta", "delta * (error - delta)", "error"]},
        {HUBER: f"{HUBER} / delta"},
    ),
    Mistake(
        "pseudo_huber",
        "huber is the pseudo-Huber loss, a smooth curve; use ½ e² for |e| up to δ, and δ (|e| − ½ δ) elsewhere",
        {HUBER: PSEUDO},
        {ERROR: f"{ERROR}.float()", HUBER: f"({PSEUDO}).to(pred.dtype)"},
    ),
    Mistake(
        "misplaced_half",
        "the squared part of huber should be ½ e², and the mse should have no ½",
        {MSE: f"0.5 * {MSE}"},
        {SQUARE: "error.square()"},
    ),
    Mistake(
        "negative_errors_squared",
        "the error is compared with delta without its absolute value, so large negatives are squared; take |e| first",
        {ERROR: "error = errors(pred, target)"},
    ),
    Mistake(
        "infinity_in_huber",
        "a square that overflows is infinite, and 0 · ∞ and ∞ − ∞ are NaN; choose one of the two parts by torch.where",
        {HUBER: MASKED},
        {
            HUBER: [
                "0.5 * (error.square() - (error - delta).relu().square())",
                f"({MASKED}).nan_to_num()",
                MASKED.replace("error.square", "error.clamp(max=6e4).square"),
            ]
        },
    ),
    Mistake(
        "slope_at_delta",
        "where an error is exactly delta, the gradient of huber is twice what it should be, since both clamps have a "
        "slope there; choose one part by torch.where, the squared one for errors up to delta",
        {HUBER: "0.5 * error.clamp(max=delta).square() + delta * (error - delta).clamp_min(0)"},
    ),
    Mistake(
        "slope_at_0",
        "the gradient is wrong where the error is exactly 0: a choice between e and −e has the slope −1 or 1 there, "
        "and the root of a square has NaN; use abs, whose slope is 0",
        {MAE: [f"reduce({one}, reduction)" for one in (TWO_WAYS, ROOT, TWO_WAYS.replace(">", ">="))]},
        {ERROR: f"error = {ROOT}"},
        {MAPE: f"100 * {TWO_WAYS} / size"},
    ),
    Mistake(
        "eps_under_the_root",
        "|e| is taken as the root of (e² + eps), which is too large where the error is small or 0; use abs",
        {MAE: [f"reduce({one}, reduction)" for one in RAISED]},
        {ERROR: [f"error = {one}" for one in RAISED]},
    ),
    Mistake("root_of_the_mse", "the root of the mse is returned; leave the root out", {MSE_LINE: f"{MSE_LINE}.sqrt()"}),
    Mistake(
        "square_expanded",
        "p² − 2 p t + t² loses its digits where p and t are far from 0; subtract first, then square",
        {MSE: EXPANDED},
        {MSE_LINE: f'{EXPANDED}.sum() if reduction == "sum" else {MSE_LINE}'},
    ),
    Mistake(
        "close_taken_for_equal",
        "errors that are small compared with the target are taken for 0, as by isclose; they count like all others",
        {MAE: "reduce(errors(pred, target).abs() * ~torch.isclose(pred, target), reduction)"},
        {ERROR: f"{ERROR} * ~torch.isclose(pred, target)"},
        {MAPE: f"{MAPE} * ~torch.isclose(pred, target)"},
    ),
    Mistake(
        "zero_targets",
        "where the target is 0, the error is divided by 0 or left out; divide by the larger of |t| and eps",
        {SIZE: "size = target.abs()"},
        {MAPE: f"torch.where(target == 0, 0, {MAPE})"},
    ),
    Mistake(
        "eps_is_no_least_value",
        "eps is added to the target, or replaces only exact zeros; divide by the larger of |t| and eps",
        {SIZE: "size = target.abs() + eps"},
        {SIZE: ["size = (target + eps).abs()", "size = torch.where(target == 0, eps, target.abs())"]},
    ),
    Mistake(
        "sign_of_the_target",
        "mape is wrong for negative targets; divide by the larger of |t| and eps",
        {SIZE: "size = target.clamp_min(eps)"},
        {SIZE: ["size = torch.where(target.abs() < eps, eps, target)", "size = target + eps"]},
    ),
    Mistake(
        "divided_by_another",
        "mape divides by predictions or by all targets; divide each error by the larger of its own |t| and eps",
        {SIZE: "size = pred.abs().clamp_min(eps)"},
        {
            SIZE: [
                "size = (pred + eps).abs()",
                "size = ((pred.abs() + target.abs()) / 2).clamp_min(eps)",
                "size = target.abs().mean()",
                f'{SIZE}\n    size = size.mean() if reduction == "mean" else size',
            ]
        },
    ),
    Mistake(
        "no_percent",
        "the factor 100 is missing; mape is 100 |p − t| / max(|t|, eps)",
        {MAPE: MAPE.removeprefix("100 * ")},
        {MAPE: MAPE.removeprefix("100 * "), SIZE: "size = target.abs() + eps"},
    ),
    Mistake(
        "argument_ignored",
        "the delta of huber or the eps of mape is always the default; use the number that is passed",
        {ERROR: f"{ERROR}\n    delta = 1"},
        {SIZE: SIZE.replace("eps", "1e-8")},
    ),
    Mistake(
        "mean_over_part",
        '"mean" should divide the sum of all losses by the number of elements in all axes; "sum" should not divide',
        {MEAN: "losses.sum() / (len(losses) if losses.dim() else 1)"},
        {MEAN: ["losses.mean(-1)", "losses.sum()"]},
        {SUM: MEAN},
    ),
    Mistake(
        "mean_by_way_of_the_sum",
        "in float16 the sum of the losses overflows where their mean would fit; use mean, or sum in float32",
        {MEAN: "losses.sum() / losses.numel()"},
    ),
    Mistake(
        "shape_lost",
        '"none" loses axes of length 1; return the losses in the shape of pred',
        {NONE: ["return losses.squeeze()\n", "return losses.squeeze() if losses.dim() > 2 else losses\n"]},
    ),
    Mistake(
        "torchs_own",
        "torch's own function does the work; write it by hand",
        {MSE: "torch.nn.functional.mse_loss(errors(pred, target), 0 * pred, reduction='none')"},
        {MAE: "torch.nn.functional.l1_loss(pred, target, reduction=reduction)"},
        {HUBER: "delta * torch.nn.functional.smooth_l1_loss(error, 0 * error, reduction='none', beta=delta)"},
        {HUBER: "torch.nn.functional.huber_loss(error, 0 * error, reduction='none', delta=delta)"},
    ),
    Mistake(
        "all_pairs",
        "every prediction meets every target, though only the diagonal is needed; subtract elementwise",
        {"return pred - target": "return (pred.flatten()[:, None] - target.flatten()).diagonal().reshape(pred.shape)"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
SYMMETRIC = (f"return {MSE_LINE}", f"return {MAE}", ERROR, f"return reduce({MAPE}, reduction)")
EQUIVALENT: dict[str, str] = {
    **{f"{line} -> {line.replace('pred, target', 'target, pred')}": "only the signs" for line in SYMMETRIC},
    f"return reduce({HUBER}, reduction) -> return reduce({HUBER.replace('<=', '<')}, reduction)": "they meet at delta",
}
