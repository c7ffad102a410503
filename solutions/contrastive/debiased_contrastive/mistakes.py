"""Known wrong answers to debiased_contrastive."""

from graders.kata import Mistake

UNIT = "F.normalize(features, dim=1)"
NORM = "torch.linalg.vector_norm(features, dim=1, keepdim=True)"
SAME = "torch.eye(N, dtype=torch.bool, device=features.device).repeat(2, 2)"
ITSELF = "torch.eye(2 * N, dtype=torch.bool, device=features.device)"
TOP = "torch.maximum(positive, negatives.amax(1)).detach()"
UNSHIFTED = "torch.zeros_like(positive)"
SUM = "(negatives - top[:, None]).exp().sum(1)"
ALL_BUT = "logits.exp().masked_fill(same_sample, 0).sum(1)"  # where infinity has a gradient of NaN
TIMES_0 = "(logits.exp() * ~same_sample).sum(1)"
FLOOR = "M * (-1 / temperature - top).exp()"
DIVIDED = "(exp_negatives - M * tau_plus * exp_positive) / (1 - tau_plus)"
MG = f"torch.maximum({DIVIDED}, floor)"
LOSS = "return ((exp_positive + Mg).log() - (positive - top)).mean()"
EACH = f"torch.maximum({DIVIDED.replace('M * tau_plus * exp_positive', '(tau_plus * exp_positive)[:, None]')}, "
EACH += "(floor / max(M, 1))[:, None]).masked_fill(same_sample, 0).sum(1)"


MISTAKES = (
    Mistake(
        "unshifted_in_half",
        "half precision is cast to float32, but exp still overflows at small temperatures; in every dtype, first "
        "subtract the largest logit among positive and negatives, also from the floor's −1/τ",
        {
            "top = torch.maximum(positive, negatives.amax(1)).detach()": (
                "half = features.element_size() == 2\n"
                "    positive, negatives = (x.float() if half else x for x in (positive, negatives))\n"
                "    top = torch.maximum(positive, negatives.amax(1)).detach() * (not half)"
            ),
            "(positive - top)).mean()": "(positive - top)).mean().to(features.dtype)",
        },
    ),
    Mistake(
        "no_floor",
        "the estimate g has no floor, or a floor of 0, or is raised only where it is negative; raise every g below "
        "exp(−1/τ) to exp(−1/τ)",
        {MG: DIVIDED},
        {FLOOR: "0 * top"},
        {MG: f"torch.where({DIVIDED} < 0, floor, {DIVIDED})"},
    ),
    Mistake(
        "floor_without_M",
        "the floor of the mean g is put on the sum M·g; the floor of the sum is M·exp(−1/τ)",
        {FLOOR: FLOOR[4:]},
    ),
    Mistake(
        "floored_before_dividing",
        "the floor is taken before the division by 1 − τ⁺, so the floor is also divided; divide first",
        {MG: "torch.maximum(exp_negatives - M * tau_plus * exp_positive, floor) / (1 - tau_plus)"},
    ),
    Mistake(
        "floor_not_shifted",
        "the largest logit is subtracted before exp, but not from the floor's −1/τ; subtract it there as well",
        {FLOOR: "M * (-1 / temperature + 0 * top).exp()"},
    ),
    Mistake(
        "gradient_through_the_floor",
        "an estimate below the floor still gets a gradient; g should be a constant there, exp(−1/τ)",
        {MG: f"{DIVIDED} + ({MG} - {DIVIDED}).detach()"},
    ),
    Mistake(
        "gradient_cut",
        "the positive is detached in the correction; do not detach it, since above the floor the gradient also flows "
        "through the correction",
        {MG: MG.replace("plus * exp_positive", "plus * exp_positive.detach()")},
    ),
    Mistake(
        "correction_without_M",
        "τ⁺ times the positive is subtracted once from the sum of M negatives; subtract it M times",
        {MG: MG.replace("M * tau_plus", "tau_plus")},
    ),
    Mistake("not_divided", "the division by 1 − τ⁺ is missing", {MG: MG.replace(" / (1 - tau_plus)", "")}),
    Mistake(
        "one_sample",
        "a batch of one sample gives NaN, as a mean over no negatives does; its loss should be 0",
        {SUM: SUM.replace("sum(1)", "sum(1) / M * M")},
    ),
    Mistake(
        "exponentials_overflow",
        "exp overflows at small temperatures, or makes a whole row 0; mask the logits, subtract each row's largest "
        "logit from all of the row and from the floor's −1/τ, and take the log of the denominator, never of a quotient",
        {TOP: UNSHIFTED},
        {TOP: UNSHIFTED, LOSS: "return -(exp_positive / (exp_positive + Mg)).log().mean()"},
        {TOP: UNSHIFTED, LOSS: "return ((exp_positive + Mg).log() - exp_positive.log()).mean()"},
        {TOP: UNSHIFTED, SUM: ALL_BUT, LOSS: "return -(exp_positive / (exp_positive + Mg)).log().mean()"},
        {TOP: UNSHIFTED, SUM: ALL_BUT},
        {TOP: UNSHIFTED, SUM: TIMES_0, LOSS: "return -(exp_positive / (exp_positive + Mg)).log().mean()"},
        {TOP: "torch.full_like(positive, 1 / temperature)"},
    ),
    Mistake(
        "same_sample_among_negatives",
        "the positive or the row itself is among the negatives; leave both out",
        {SAME: ITSELF, TOP: "negatives.amax(1).detach()"},
        {SAME: f"{ITSELF}.roll(N, 1)"},
    ),
    Mistake(
        "corrected_one_by_one",
        "the floor is applied to each negative; average the negatives first",
        {SUM: SUM.replace(".sum(1)", ""), MG: EACH},
    ),
    Mistake("one_view_as_anchors", {LOSS: LOSS.replace(".mean()", "[:N].mean()")}),
    Mistake(
        "positive_left_out",
        "the positive is missing in the denominator; add it to M·g",
        {LOSS: LOSS.replace("(exp_positive + Mg)", "Mg")},
    ),
    Mistake(
        "negatives_miscounted",
        "the mean divides by a wrong number, or g is multiplied by a wrong one; both should be M = 2N − 2, the number "
        "of a row's negatives",
        {SUM: [f"{SUM} * M / (M + {more})" for more in (1, 2)]},
        {"len(features) - 2\n": ["len(features) - 1\n", "len(features) - 1 if len(features) > 2 else 0\n"]},
        {MG: [f"{MG} * (M + 2) / max(M, 1)", f"{MG} / 2", f"{MG} / max(M, 1)"]},
    ),
    Mistake(
        "positives_interleaved",
        {
            "logits.diagonal(N).repeat(2)": "logits.diagonal(1)[::2].repeat_interleave(2)",
            ".repeat(2, 2)": ".repeat_interleave(2, 0).repeat_interleave(2, 1)",
        },
    ),
    Mistake("not_normalised", {UNIT: "features"}),
    Mistake("norms_detached", {UNIT: f"features / {NORM}.detach()"}),
    Mistake("eps_added_to_the_norm", {UNIT: [f"features / ({NORM} + {eps})" for eps in (1e-8, 1e-6, 1e-5)]}),
    Mistake(
        "refused_in_part",
        "a τ⁺ of 1 or below 0 is accepted, or a τ⁺ of 0 is refused; accept only 0 ≤ τ⁺ < 1",
        {"if not …": ["if not 0 <= tau_plus <= 1:", "if tau_plus >= 1:", "if not 0 < tau_plus < 1:"]},
    ),
    Mistake(
        "row_by_row",
        "rows go through a Python loop; take the whole matrix at once",
        {SUM: "torch.stack([(row - most).exp().sum() for row, most in zip(negatives, top)])"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
LARGER = "the larger of two is the same"
EQUIVALENT: dict[str, str] = {
    f"unit = {UNIT} -> unit = F.normalize(features)": "1 is the default of dim in F.normalize",
    f"same_sample = {SAME} -> same_sample = {SAME.replace(', device=features.device', '')}": "on a GPU the call raises",
    f"top = {TOP} -> top = {TOP.removesuffix('.detach()')}": "the loss does not depend on top, so its gradient is 0",
    f"top = {TOP} -> top = torch.maximum(negatives.amax(1), positive).detach()": LARGER,
    f"top = {TOP} -> top = {TOP.replace('1', '0')}": "the matrix of cosines is symmetric",
    f"Mg = {MG} -> Mg = torch.maximum(floor, {DIVIDED})": LARGER,
}
