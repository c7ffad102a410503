"""Known wrong answers to focal_loss."""

from graders.kata import Mistake

Y = "y = target.to(logits.dtype)"
Z = "z = (2 * y - 1) * logits"
LOG = "log_p_t = F.logsigmoid(z)"
IN_FLOAT32 = "-(1 + (-z.float()).exp()).log().to(z.dtype)"
FACTOR = "factor = torch.exp(gamma * F.logsigmoid(-z))"
LOSSES = "losses = -factor * log_p_t"
WEIGHTED = "if alpha >= 0:"
WEIGHT = "(alpha * y + (1 - alpha) * (1 - y))"
SHAPES = "if logits.shape != target.shape:"
RESULT = 'losses if reduction == "none" else getattr(losses, reduction)()'

BCE = "F.binary_cross_entropy_with_logits(logits, y"
OF_EXP = "factor = (1 - log_p_t.exp()) ** gamma"  # p_t = e^−BCE, as many write it
OF_BCE = f"log_p_t = -{BCE}, reduction='none')"
AS_TORCHVISION = {LOG: OF_BCE, FACTOR: OF_EXP}
OF_P = "p = logits.sigmoid()\n    log_p_t = y * {0}.log() + (1 - y) * {1}.log()"
CHOSEN = "torch.where(y == 1, alpha, 1 - alpha)"
CHOSEN_WRONG, POSITIVES_CHOSEN = "torch.where(y == 1, 1 - alpha, alpha)", "torch.where(y == 1, alpha, 1.0)"
BCE_OF_P = "p = logits.sigmoid()\n    log_p_t = -F.binary_cross_entropy(p, y, reduction='none')"
TEXTBOOK = "p_t = torch.where(y == 1, logits.sigmoid(), 1 - logits.sigmoid())\n    log_p_t = p_t.log()"
POWER = "factor = (1 - p * y - (1 - p) * (1 - y)) ** gamma"
TAIL = "(-z.abs()).exp().log1p()"


EPS = ("1e-8", "1e-12")  # added to p, so that its logarithm is finite


def moved(eps: str) -> tuple[str, str]:
    """p and 1 − p with `eps` added."""
    return f"(p + {eps})", f"(1 - p + {eps})"


OWN = """from torch import Tensor


class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z, gamma, sign):
        ctx.save_for_backward(z, sign)
        ctx.gamma = gamma
        return -torch.exp(gamma * F.logsigmoid(-z)) * F.logsigmoid(z)

    @staticmethod
    def backward(ctx, g):
        z, sign = ctx.saved_tensors
        gamma, p, log_p, log_q = ctx.gamma, z.sigmoid(), F.logsigmoid(z), F.logsigmoid(-z)
        q, factor = log_q.exp(), (gamma * log_q).exp()
        return g * ({}), None, None


class Ones(torch.autograd.Function):
    @staticmethod
    def forward(ctx, losses):
        return losses.clone()

    @staticmethod
    def backward(ctx, g):
        return torch.ones_like(g)
"""


def backward(gradient: str) -> dict[str, str]:
    """A backward pass of one's own: `gradient` is the loss's by z, with q = 1 − p; `sign` is −1 for negatives."""
    return {"from torch import Tensor\n": OWN.format(gradient), LOSSES: "losses = Own.apply(z, gamma, 2 * y - 1)"}


def ignored(*edit: str) -> dict[str, str]:
    """A backward pass that gives ones, whatever arrives."""
    return {"from torch import Tensor\n": OWN.format("0"), edit[0]: edit[1]}


def mean(other: str) -> dict[str, str]:
    """Another mean."""
    return {RESULT: RESULT.replace("getattr", f"{other} if reduction == 'mean' else getattr")}


MISTAKES = (
    Mistake(
        "infinite_slope_of_the_power",
        "for 0 < γ < 1 the slope of the power is infinite where 1 − p_t rounds to 0, so the gradient is NaN; take "
        "exp(γ log(1 − p_t)) with the log from the logits",
        {FACTOR: "factor = (1 - z.sigmoid()) ** gamma"},
        {
            FACTOR: [
                "factor = (-z).sigmoid() ** gamma",
                "factor = torch.where(z > 16, 0, (1 - z.sigmoid()) ** gamma)",
                OF_EXP,
                "factor = (-log_p_t.expm1()) ** gamma",
                "p = logits.sigmoid()\n    factor = (1 - torch.where(y == 1, p, 1 - p)) ** gamma",
                "p = logits.sigmoid()\n    factor = (1 - p * y - (1 - p) * (1 - y)) ** gamma",
                "p = logits.sigmoid()\n    factor = (p * (1 - y) + (1 - p) * y) ** gamma",
                "p = logits.sigmoid()\n    factor = (y - p).abs() ** gamma",
                "p = logits.sigmoid()\n    factor = torch.where(y == 1, (1 - p) ** gamma, p**gamma)",
                "p = logits.sigmoid()\n    factor = y * (1 - p) ** gamma + (1 - y) * p**gamma",
            ]
        },
    ),
    Mistake(
        "zero_times_log_of_zero",
        "where 1 − p_t rounds to 0, its log is −∞: the gradient is NaN, and for γ = 0 also the loss; find the log from "
        "the logits",
        {FACTOR: "factor = (gamma * (1 - z.sigmoid()).log()).exp()"},
        {FACTOR: "factor = (gamma * (-z).sigmoid().log()).exp()"},
    ),
    Mistake(
        "base_moved",
        "a constant is added to 1 − p_t, or bounds it from below, which changes the loss of easy elements; take exp(γ "
        "log(1 − p_t)) with the log from the logits",
        {FACTOR: "factor = ((-z).sigmoid() + 1e-8) ** gamma"},
        {FACTOR: [f"factor = ((-z).sigmoid() + {eps}) ** gamma" for eps in ("1e-7", "1e-6")]},
        {FACTOR: [f"factor = (1 - z.sigmoid() + {eps}) ** gamma" for eps in ("1e-8", "1e-7", "1e-6")]},
        {FACTOR: [f"factor = (-z).sigmoid().clamp_min({eps}) ** gamma" for eps in ("1e-6", "1e-5", "1e-4")]},
    ),
    Mistake(
        "factor_detached",
        "the factor (1 − p_t)^γ is treated as a constant, so the gradient lacks its slope; do not detach the factor",
        {FACTOR: FACTOR + ".detach()"},
    ),
    Mistake(
        "slope_of_the_factor",
        "the slope of (1 − p_t)^γ is in the gradient with the wrong sign, or lacks γ or the slope of the sigmoid; "
        "differentiate the power, then its base",
        backward("-factor * (gamma * p * log_p + q)"),
        backward("factor * (gamma * log_p - q)"),
        backward("factor * (p * log_p - q)"),
        backward("(gamma * log_q - log_q).exp() * gamma * p * log_p - factor * q"),
        backward("(gamma * log_q - log_q).exp() * gamma * log_p - factor * q"),
    ),
    Mistake(
        "gradient_by_p",
        "the gradient is the one by p_t; also differentiate p_t by the logit, which gives a factor of p_t (1 − p_t)",
        backward("(gamma * log_q - log_q).exp() * gamma * log_p - factor / p"),
        backward("sign * ((gamma * log_q - log_q).exp() * gamma * log_p - factor / p)"),
    ),
    Mistake(
        "sign_of_the_gradient",
        "the gradient has the wrong sign, for all elements or for the negatives; p_t rises with the logit for "
        "positives, and falls for negatives",
        backward("factor * (q - gamma * p * log_p)"),
        backward("sign * factor * (gamma * p * log_p - q)"),
    ),
    Mistake(
        "arriving_gradient_ignored",
        "backward returns only the slope; multiply the slope by the gradient that arrives (the chain rule)",
        ignored(LOSSES, f"{LOSSES}\n    losses = Ones.apply(losses)"),
        ignored("    return losses if", "    losses = Ones.apply(losses)\n    return losses if"),
        ignored(RESULT, f"Ones.apply({RESULT})"),
    ),
    Mistake(
        "weights_misplaced",
        "α_t should be alpha for the positives and 1 − alpha for the negatives; weight both, unless alpha is negative",
        {WEIGHT: "(alpha * y + 1 - y)"},
        {WEIGHT: ["alpha", "(y + (1 - alpha) * (1 - y))", "((1 - alpha) * y + alpha * (1 - y))"]},
        {WEIGHT: "alpha", WEIGHTED: "if True:"},
        {WEIGHT: "alpha", WEIGHTED: "if True:", FACTOR: OF_EXP},
        {WEIGHT: "alpha", WEIGHTED: "if True:", **AS_TORCHVISION},
        {WEIGHT: CHOSEN_WRONG, **AS_TORCHVISION},
        {WEIGHT: POSITIVES_CHOSEN, **AS_TORCHVISION},
    ),
    Mistake(
        "when_alpha_counts",
        "an alpha of 0 switches the weights off, or a negative alpha does not; weight if `alpha >= 0`, and only then",
        {WEIGHTED: "if alpha > 0:"},
        {WEIGHTED: ["if True:", "if alpha != -1:", "if alpha:"]},
        {WEIGHTED: "if True:", WEIGHT: CHOSEN},
        {WEIGHTED: "if True:", WEIGHT: CHOSEN, **AS_TORCHVISION},
    ),
    Mistake(
        "weights_left_out_for_gamma_0",
        "for γ = 0 the loss is the plain cross-entropy, without α_t; α_t belongs there whatever γ is",
        {WEIGHTED: "if alpha >= 0 and gamma > 0:"},
    ),
    Mistake(
        "alpha_in_float32",
        "alpha is rounded to float32: by the targets' dtype, by torch.tensor, or by `where` of two Python numbers; "
        "take alpha · y + (1 − alpha)(1 − y) with y in the dtype of the logits",
        {WEIGHT: "(alpha * target + (1 - alpha) * (1 - target.int()))"},
        {WEIGHT: CHOSEN, **AS_TORCHVISION},
        {WEIGHT: [CHOSEN, "torch.tensor([1 - alpha, alpha])[y.long()]"]},
        {Y: "y = target.float()"},
    ),
    Mistake(
        "targets_not_converted",
        "1 − y fails for bool, and 2 y − 1 is 255 for a uint8 of 0; convert the targets to the dtype of the logits",
        {Y: "y = target"},
        {Z: "z = (2 * target - 1) * logits"},
        {WEIGHT: "(alpha * target + (1 - alpha) * (1 - target))"},
    ),
    Mistake(
        "factor_of_another_probability",
        "the base of the power is not always 1 − p_t; it should be 1 − σ(x) for positives, and σ(x) for negatives",
        {FACTOR: ["factor = torch.exp(gamma * F.logsigmoid(-logits))", "factor = torch.exp(gamma * log_p_t)"]},
        {FACTOR: "factor = log_p_t.exp() ** gamma", LOG: OF_BCE, WEIGHT: CHOSEN},
    ),
    Mistake(
        "p_of_the_weighted_loss",
        "p_t is found as e^(−loss) from a loss that is already weighted by α_t; apply α_t after the factor",
        {FACTOR: f"own = {WEIGHT} * log_p_t if alpha >= 0 else log_p_t\n    factor = (1 - own.exp()) ** gamma"},
    ),
    Mistake(
        "gamma_no_exponent",
        "gamma is rounded down, ignored or used as a factor; it is the exponent of 1 − p_t, any number ≥ 0",
        {FACTOR: "factor = gamma * (-z).sigmoid()"},
        {FACTOR: ["factor = (-z).sigmoid().square()", f"gamma = int(gamma)\n    {FACTOR}"]},
    ),
    Mistake(
        "bce_reduced_too_early",
        "the cross-entropy is reduced before the factor is applied; each element has its own factor, so reduce last",
        {LOG: [f"log_p_t = -{BCE}, reduction=reduction)", f"log_p_t = -{BCE})"]},
        {LOG: f"log_p_t = -{BCE})", FACTOR: OF_EXP},
        {LOG: f"log_p_t = -{BCE})", FACTOR: OF_EXP, WEIGHT: "alpha", WEIGHTED: "if True:"},
    ),
    Mistake(
        "sign_lost",
        "the loss has the wrong sign; log p_t is at most 0, and the loss at least 0",
        {LOSSES: "losses = factor * log_p_t"},
    ),
    Mistake(
        "log_of_a_sigmoid",
        "for logits far from 0, a sigmoid is 0, an exp is infinite, or an eps or a clamp cuts off the loss; take log σ "
        "of the logits as they are, by logsigmoid or binary_cross_entropy_with_logits",
        {LOG: "log_p_t = z.sigmoid().log()"},
        {LOG: [f"log_p_t = z.sigmoid().clamp({eps}, 1 - {eps}).log()" for eps in ("1e-6", "1e-7", "1e-8")]},
        {LOG: "log_p_t = -(1 + (-z).exp()).log()"},
        *(
            {LOG: log} | factor
            for log in (OF_P.format("p", "(1 - p)"), BCE_OF_P, *(OF_P.format(*moved(eps)) for eps in EPS))
            for factor in ({}, {FACTOR: POWER})
        ),
        *(
            {LOG: f"p_t = {p_t}\n    log_p_t = (p_t + {eps}).log()"} | factor
            for eps in EPS
            for p_t in ("z.sigmoid()", "torch.where(y == 1, logits.sigmoid(), 1 - logits.sigmoid())")
            for factor in ({}, {FACTOR: "factor = (1 - p_t) ** gamma"})
        ),
        {LOG: TEXTBOOK, FACTOR: "factor = (1 - p_t) ** gamma"},
        {Z: f"{Z.replace('= ', '= (')}).clamp(-50, 50)"},
    ),
    Mistake("overflows_in_half", {LOG: f"log_p_t = {IN_FLOAT32} if z.dtype.itemsize < 4 else F.logsigmoid(z)"}),
    Mistake(
        "limit_taken_too_early",
        "for wrong answers, −log p_t is replaced by its limit |x|, or (1 − p_t)^γ by 1, where the two still differ; "
        "use the formula everywhere, or the limit only where |x| is above 20",
        {LOG: "log_p_t = -F.softplus(-z, threshold=10)"},
        {LOG: [f"log_p_t = torch.where(z < -{cut}, z, F.logsigmoid(z))" for cut in (6, 10, 16, 19)]},
        {FACTOR: f"{FACTOR}\n    factor = torch.where(z < -6, 1, factor)"},
    ),
    Mistake(
        "slope_at_0",
        "the gradient at a logit of exactly 0 is wrong, since clamp, relu and abs have a kink there; use "
        "logsigmoid, softplus or binary_cross_entropy_with_logits",
        {LOG: f"log_p_t = z.clamp(max=0) - {TAIL}"},
        {LOG: [f"log_p_t = logits * y - logits.relu() - {TAIL}", f"log_p_t = logits * y - logits.clamp(0) - {TAIL}"]},
        {FACTOR: f"factor = torch.exp(-gamma * (z.relu() + {TAIL}))"},
    ),
    Mistake(
        "gamma_in_float32",
        "gamma is rounded to float32, as in a tensor made of a Python number; multiply by the number itself",
        {FACTOR: f"gamma = torch.tensor(float(gamma)).to(logits.dtype)\n    {FACTOR}"},
    ),
    Mistake(
        "mean_of_another_count",
        '"mean" should divide the sum by the number of all elements, not by the number of positives, the length of an '
        'axis or the sum of the weights; "sum" should not divide',
        mean("losses.sum() / y.sum().clamp(1)"),
        mean("losses.sum()"),
        mean("losses.sum() / y.sum()") | AS_TORCHVISION,
        mean("losses.sum() / losses.shape[0]"),
        mean("losses.mean(1).sum()"),
        mean("losses.mean(1).sum() if reduction == 'mean' and losses.dim() > 1 else losses.mean()"),
        mean("losses.sum() / (len(losses) if losses.dim() else 1)"),
        mean(f"losses.sum() / ({WEIGHT}.sum() if alpha >= 0 else y.numel())"),
        {RESULT: RESULT.replace("getattr(losses, reduction)()", "losses.mean()")},
    ),
    Mistake(
        "shapes_compared_in_part",
        "some shapes that differ are accepted, and broadcast or reshaped; raise ValueError unless they are equal",
        {SHAPES: "if logits.numel() != target.numel():"},
        {SHAPES: "if logits.numel() != target.numel():", Y: f"{Y}.reshape(logits.shape)"},
        {SHAPES: ["if logits.dim() != target.dim():", "if target.dim() and logits.shape != target.shape:"]},
    ),
    Mistake(
        "all_pairs",
        "every factor is multiplied by every log, but only the diagonal is needed; multiply elementwise",
        {LOSSES: "losses = -torch.outer(factor.flatten(), log_p_t.flatten()).diagonal().reshape(z.shape)"},
        slow=True,
    ),
)

EQUIVALENT: dict[str, str] = {}
