"""Known wrong answers to contrastive_loss."""

from graders.kata import Mistake

SHAPE_OF_Y, MARGIN = "if y.shape != x1.shape[:1]:", "if margin < 0:"
DISTANCE = "torch.linalg.vector_norm(x1 - x2, dim=1)"
SQUARES = "(x1 - x2).square().sum(1)"
PULL, PUSH = "distance.square()", "torch.relu(margin - distance).square()"
LOSSES = "positive * pull + (1 - positive) * push"
INVERTED = {LOSSES: "(1 - positive) * pull + positive * push"}
REFUSED = 'raise ValueError(f"reduction should be'
KINDS = (("positive", "pull"), ("(1 - positive)", "push"))
MEAN, NONE = "return losses.mean()", "return losses\n"
NEGATIVE_ROOT = f"torch.where(y.bool(), 1, {SQUARES}).sqrt()"

MISTAKES = (
    Mistake(
        "labels_inverted",
        "positive and negative pairs are swapped; y = 1 should pull a pair together, and y = 0 push it apart",
        INVERTED,
        INVERTED | {DISTANCE: "torch.nn.functional.pairwise_distance(x1, x2)"},
    ),
    Mistake(
        "hinge_of_squares",
        "the hinge is taken of the squared distance; subtract the distance from the margin, clamp at 0, then square",
        {PUSH: "torch.relu(margin**2 - distance**2)"},
        {PUSH: ["torch.relu(margin - distance**2)", "torch.relu(margin - distance**2) ** 2"]},
    ),
    Mistake("distance_not_squared", "the distance of a positive pair is not squared; square it", {PULL: "distance"}),
    Mistake(
        "hinge_not_squared",
        "the hinge of a negative pair is not squared; square it",
        {PUSH: "torch.relu(margin - distance)"},
    ),
    Mistake(
        "divided_by_the_margin",
        "the hinge is divided by the margin, as max(0, 1 − d / m)²; take max(0, m − d)²",
        {PUSH: "torch.relu(1 - distance / margin).square() if margin > 0 else 0 * distance"},
        {PUSH: "torch.relu(1 - distance / margin).square()"},
    ),
    Mistake(
        "square_multiplied_out",
        "(m − d)² is taken as m² − 2md + d², whose terms may overflow float16; subtract, then square",
        {PUSH: "(margin**2 - 2 * margin * distance + distance.square()) * (distance < margin)"},
    ),
    Mistake(
        "sum_overflows_float16",
        "the mean is taken as a sum divided by N, and in float16 that sum may overflow; use mean()",
        {MEAN: "return losses.sum() / len(losses)"},
    ),
    Mistake(
        "no_hinge",
        "the hinge is missing, so negative pairs beyond the margin are pulled back; clamp margin − d at 0",
        {PUSH: "(margin - distance).square()"},
    ),
    Mistake(
        "margin_for_positives",
        "the margin also changes the loss of positive pairs; their loss should be d² for every d",
        {PULL: "distance.clamp(max=margin).square()"},
        {PULL: ["torch.relu(distance - margin).square()", "distance.square() * (distance <= margin)"]},
    ),
    Mistake(
        "halved",
        "the loss is halved; leave out the factor ½",
        {LOSSES: f"({LOSSES}) / 2"},
        {MEAN: "return losses.mean() / 2"},
    ),
    Mistake(
        "mean_over_active",
        "the mean is taken only over the pairs with a loss above 0; divide by all N",
        {MEAN: "return losses.sum() / (losses > 0).sum().clamp_min(1)"},
        {MEAN: ["return losses.sum() / (losses > 0).sum()", "return losses[losses > 0].mean()"]},
    ),
    Mistake(
        "mean_of_each_kind",
        "positive and negative pairs have a mean each, and the two means are added; take one mean over all N pairs",
        {
            MEAN: "return "
            + " + ".join(f"({kind} * {loss}).sum() / {kind}.sum().clamp_min(1)" for kind, loss in KINDS),
        },
        {MEAN: "return pull[positive == 1].mean() + push[positive == 0].mean()"},
    ),
    Mistake(
        "gradient_of_one_side",
        "negative pairs push only one of their two vectors, because the other is detached; detach neither",
        {PUSH: [PUSH.replace("distance", DISTANCE.replace(x, f"{x}.detach()")) for x in ("x1", "x2")]},
    ),
    Mistake(
        "nan_gradient_at_zero",
        "the distance is a plain square root: where two vectors are equal its gradient is NaN, even if a label of 0 "
        "multiplies it; use torch.linalg.vector_norm, or add at most 1e-12 under the root",
        {DISTANCE: f"{SQUARES}.sqrt()"},
        {PULL: SQUARES, PUSH: f"torch.relu(margin - {SQUARES}.sqrt()).square()"},
        {LOSSES: f"torch.where(y.bool(), pull, torch.relu(margin - {NEGATIVE_ROOT}).square())"},
    ),
    Mistake(
        "large_eps",
        "the eps is too large for vectors that are equal or close together; use at most 1e-12 under the root, or "
        "1e-6 on each difference",
        {DISTANCE: f"({SQUARES} + 1e-8).sqrt()"},
        {DISTANCE: [f"({SQUARES} + {eps}).sqrt()" for eps in ("1e-9", "1e-6", "1e-4")]},
        {DISTANCE: [f"{SQUARES}.clamp_min({eps}).sqrt()" for eps in ("1e-8", "1e-7", "1e-6")]},
        {DISTANCE: [f"torch.linalg.vector_norm(x1 - x2 + {eps}, dim=1)" for eps in ("1e-5", "1e-4", "1e-3")]},
    ),
    Mistake(
        "expanded_square",
        {DISTANCE: "(x1.square().sum(1) + x2.square().sum(1) - 2 * (x1 * x2).sum(1)).clamp_min(1e-12).sqrt()"},
    ),
    Mistake(
        "bool_labels_fail",
        "bool labels fail, because torch refuses to subtract them; cast y to the dtype of x1",
        {"y.to(x1.dtype)\n": "y\n"},
    ),
    Mistake(
        "labels_wrap_around",
        "the sign 2y − 1 is computed in the dtype of y: in uint8 it is 255 for y = 0; cast y to the dtype of x1 first",
        {LOSSES: "torch.relu((1 - positive) * margin + (2 * y - 1) * distance).square()"},
    ),
    Mistake(
        "half_becomes_float32",
        "labels cast to float32 make the result float32 where the inputs are half precision; cast y to the dtype of x1",
        {"y.to(x1.dtype)\n": ["y.float()\n", "y.float() if y.dtype == torch.bool else y.to(x1.dtype)\n"]},
    ),
    Mistake(
        "every_pair_of_losses",
        "distances of shape (N, 1) meet labels of shape (N,), so the losses are N × N; drop the axis of length 1",
        {DISTANCE: "torch.linalg.vector_norm(x1 - x2, dim=1, keepdim=True)"},
        {DISTANCE: "torch.nn.functional.pairwise_distance(x1, x2, keepdim=True)"},
    ),
    Mistake("axis_kept", '"none" returns (N, 1); return one loss per pair, (N,)', {NONE: "return losses[:, None]\n"}),
    Mistake(
        "mean_over_features",
        "the squared differences are averaged over the features; sum them",
        {DISTANCE: f"{SQUARES}.div(x1.shape[1]).clamp_min(1e-12).sqrt()"},
    ),
    Mistake(
        "embeddings_normalised",
        "the vectors are divided by their norms; take the distance of the vectors as they are",
        {DISTANCE: "torch.linalg.vector_norm(x1 / x1.norm(dim=1)[:, None] - x2 / x2.norm(dim=1)[:, None], dim=1)"},
    ),
    Mistake(
        "zero_margin_refused", "a margin of 0 is refused; refuse only negative margins", {MARGIN: "if margin <= 0:"}
    ),
    Mistake(
        "only_labels_counted",
        "labels of another shape, such as (N, 1), are accepted; refuse all shapes but (N,)",
        {SHAPE_OF_Y: ["if y.numel() != len(x1):", "if y.dim() == 0 or len(y) != len(x1):"]},
    ),
    Mistake(
        "any_method_reduces",
        "any method of a tensor, such as max, is accepted as a reduction; only the three words are right",
        {REFUSED: f"if hasattr(losses, reduction):\n        return getattr(losses, reduction)()\n    {REFUSED}"},
    ),
    Mistake(
        "loop_over_the_pairs",
        "the pairs go through a Python loop, one at a time; take the distances of all rows at once, along axis 1",
        {DISTANCE: "torch.stack([torch.linalg.vector_norm(a - b) for a, b in zip(x1, x2)])"},
        slow=True,
    ),
    Mistake(
        "all_pairs",
        "each row of x1 is compared with every row of x2, and all but the diagonal is thrown away; "
        "compare row i only with row i",
        {DISTANCE: "torch.linalg.vector_norm(x1[:, None] - x2, dim=2).diagonal()"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
