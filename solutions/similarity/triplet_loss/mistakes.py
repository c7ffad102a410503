"""Known wrong answers to triplet_loss."""

from graders.kata import Mistake

POSITIVE = "torch.linalg.vector_norm(anchor - positive, dim=1)"
NEGATIVE = "torch.linalg.vector_norm(anchor - negative, dim=1)"
UNITS = "(x / torch.linalg.vector_norm(x, dim=1, keepdim=True) for x in (anchor, positive, negative))"
COSINE_POSITIVE = "1 - (a * p).sum(1)"
COSINE_NEGATIVE = "1 - (a * n).sum(1)"
KEPT = "torch.linalg.vector_norm(anchor - negative, dim=1, keepdim=True)"
HINGE = "torch.relu(to_positive - to_negative + margin)"
MEAN = "return losses.mean()"
SUM = "return losses.sum()"
SHAPES = "if not anchor.shape == positive.shape == negative.shape:"
MARGIN = "if margin < 0:"
UNKNOWN_DISTANCE = """    else:
        raise ValueError(f"distance should be 'euclidean' or 'cosine', got {distance!r}")
"""


def both(old: str, new: str) -> dict[str, str]:
    """The same edit to both Euclidean distances."""
    return {line: line.replace(old, new) for line in (POSITIVE, NEGATIVE)}


def under_the_root(eps: str) -> dict[str, str]:
    return {
        line: f"((anchor - {x}).square().sum(1) + {eps}).sqrt()"
        for x, line in (("positive", POSITIVE), ("negative", NEGATIVE))
    }


MISTAKES = (
    Mistake(
        "squared_distances",
        "the squared Euclidean distances are used; take their square roots",
        {POSITIVE: POSITIVE + ".square()", NEGATIVE: NEGATIVE + ".square()"},
    ),
    Mistake(
        "sign_flipped",
        "positive and negative are swapped; it is the distance of the positive minus that of the negative",
        {HINGE: "torch.relu(to_negative - to_positive + margin)"},
    ),
    Mistake(
        "margin_subtracted",
        "the margin is subtracted; add it, so that it asks for more distance and not for less",
        {HINGE: "torch.relu(to_positive - to_negative - margin)"},
    ),
    Mistake(
        "margin_left_out",
        "the margin is left out of the hinge; add it",
        {HINGE: "torch.relu(to_positive - to_negative)"},
    ),
    Mistake(
        "margin_outside_the_hinge",
        "the margin is added after the hinge; add it inside",
        {HINGE: "torch.relu(to_positive - to_negative) + margin"},
    ),
    Mistake(
        "margin_always_one",
        "the argument margin is ignored and 1 used for it; use the one that is passed",
        {HINGE: "torch.relu(to_positive - to_negative + 1.0)"},
    ),
    Mistake(
        "no_hinge",
        "the hinge is missing, so satisfied triplets count with a negative loss; clamp each loss at 0",
        {HINGE: "to_positive - to_negative + margin"},
    ),
    Mistake(
        "hinge_after_the_reduction",
        "the hinge is applied after the mean or the sum, so satisfied triplets offset violated ones; clamp each first",
        {
            HINGE: "to_positive - to_negative + margin",
            MEAN: "return losses.mean().relu()",
            SUM: "return losses.sum().relu()",
            "return losses\n": "return losses.relu()\n",
        },
    ),
    Mistake(
        "soft_hinge",
        "softplus is used for the hinge, so satisfied triplets still have a loss and a gradient; use max(0, x)",
        {HINGE: "torch.nn.functional.softplus(to_positive - to_negative + margin)"},
    ),
    Mistake(
        "leaky_hinge",
        "the hinge is not 0 below 0, so satisfied triplets still have a loss and a gradient; use max(0, x)",
        {HINGE: "torch.nn.functional.leaky_relu(to_positive - to_negative + margin)"},
        also=({HINGE: "torch.nn.functional.elu(to_positive - to_negative + margin)"},),
    ),
    Mistake(
        "satisfied_have_gradient",
        "the losses are right, but satisfied triplets still have a gradient; it should be 0",
        {
            "losses = " + HINGE: (
                "raw = to_positive - to_negative + margin\n    losses = raw + (raw.clamp_min(0) - raw).detach()"
            )
        },
    ),
    Mistake(
        "mean_over_active",
        "the mean is taken over the triplets with a positive loss only; divide by all N",
        {MEAN: "return losses.sum() / (losses > 0).sum().clamp_min(1)"},
    ),
    Mistake(
        "mean_over_elements",
        "the sum is divided by N·D; there are N losses",
        {MEAN: "return losses.sum() / anchor.numel()"},
    ),
    Mistake(
        "every_pair_of_distances",
        "one distance has the shape (N, 1) and the other (N,), so their difference is N × N; keep or drop the axis "
        "in both",
        {NEGATIVE: KEPT},
        also=(
            {POSITIVE: KEPT.replace("negative", "positive")},
            {NEGATIVE: KEPT, COSINE_NEGATIVE: "1 - (a * n).sum(1, keepdim=True)"},
            {
                POSITIVE: KEPT.replace("negative", "positive"),
                COSINE_POSITIVE: "1 - (a * p).sum(1, keepdim=True)",
            },
        ),
    ),
    Mistake(
        "axis_kept",
        '"none" returns (N, 1); return one loss per triplet, (N,)',
        {"return losses\n": "return losses[:, None]\n"},
    ),
    Mistake("mean_for_sum", '"sum" returns the mean; return the sum', {SUM: "return losses.mean()"}),
    Mistake("sum_for_mean", '"mean" returns the sum; divide it by N', {MEAN: "return losses.sum()"}),
    Mistake(
        "nan_gradient_at_zero",
        "the distance is the plain root of a sum of squares: its gradient is NaN where two vectors are equal, "
        "in satisfied triplets too; use torch.linalg.vector_norm, or keep the root away from zero",
        {
            POSITIVE: "(anchor - positive).square().sum(1).sqrt()",
            NEGATIVE: "(anchor - negative).square().sum(1).sqrt()",
        },
    ),
    Mistake(
        "nan_gradient_hidden_by_the_hinge",
        "the root is kept away from zero between anchor and positive only; anchor may equal negative too",
        {NEGATIVE: "(anchor - negative).square().sum(1).sqrt()"},
    ),
    Mistake(
        "large_eps_under_the_root",
        "the eps under the root is too large for vectors that are close together; at most 1e-8",
        under_the_root("1e-6"),
        also=(under_the_root("1e-7"), under_the_root("1e-5"), under_the_root("1e-4")),
    ),
    Mistake(
        "expanded_square",
        "the squared distance is taken as ‖a‖² + ‖b‖² − 2⟨a, b⟩, which loses its digits; subtract first",
        {
            line: f"(anchor.square().sum(1) + {x}.square().sum(1) - 2 * (anchor * {x}).sum(1)).clamp_min(1e-16).sqrt()"
            for x, line in (("positive", POSITIVE), ("negative", NEGATIVE))
        },
    ),
    Mistake(
        "manhattan_distance",
        "the absolute differences are summed; the Euclidean distance is the root of the sum of squares",
        both("vector_norm(", "vector_norm(ord=1, x="),
    ),
    Mistake(
        "root_of_the_mean",
        "the squared differences are averaged over D before the root; sum them",
        {POSITIVE: POSITIVE + " / anchor.shape[1] ** 0.5", NEGATIVE: NEGATIVE + " / anchor.shape[1] ** 0.5"},
    ),
    Mistake(
        "axis_zero",
        "the distances are taken along the batch; take them along the features, one for each triplet",
        both("dim=1", "dim=0"),
    ),
    Mistake(
        "distance_from_the_positive",
        "the distance of the negative is measured from the positive; measure it from the anchor",
        {
            NEGATIVE: NEGATIVE.replace("anchor", "positive"),
            COSINE_NEGATIVE: COSINE_NEGATIVE.replace("a *", "p *"),
        },
    ),
    Mistake(
        "distance_swapped",
        "the negative's distance is the smaller of those from anchor and positive (torch's swap=True); "
        "only the anchor's counts",
        {
            NEGATIVE: f"torch.minimum({NEGATIVE}, {NEGATIVE.replace('anchor', 'positive')})",
            COSINE_NEGATIVE: f"torch.minimum({COSINE_NEGATIVE}, {COSINE_NEGATIVE.replace('a *', 'p *')})",
        },
        also=({NEGATIVE: f"torch.minimum({NEGATIVE}, {NEGATIVE.replace('anchor', 'positive')})"},),
    ),
    Mistake(
        "embeddings_normalised",
        "the vectors are divided by their norms under the Euclidean distance, too; do so only for the cosine",
        {MARGIN: f"anchor, positive, negative = {UNITS}\n    {MARGIN}"},
    ),
    Mistake(
        "cosine_similarity_as_distance",
        "the cosine similarity is used as a distance, so the negative is pulled closer; use 1 − cos",
        {COSINE_POSITIVE: "(a * p).sum(1)", COSINE_NEGATIVE: "(a * n).sum(1)"},
    ),
    Mistake(
        "angle_as_distance",
        "the angle is used as the cosine distance; it is 1 − cos",
        {
            COSINE_POSITIVE: "(a * p).sum(1).clamp(-0.999999, 0.999999).acos()",
            COSINE_NEGATIVE: "(a * n).sum(1).clamp(-0.999999, 0.999999).acos()",
        },
    ),
    Mistake(
        "cosine_distance_halved",
        "the cosine distance is halved, so that it lies between 0 and 1; it should be 1 − cos",
        {COSINE_POSITIVE: f"({COSINE_POSITIVE}) / 2", COSINE_NEGATIVE: f"({COSINE_NEGATIVE}) / 2"},
    ),
    Mistake(
        "normalised_down_the_batch",
        "the columns are normalised for the cosine; divide each row by its norm",
        {UNITS: UNITS.replace("dim=1", "dim=0")},
    ),
    Mistake(
        "cosine_without_norms",
        "the dot product is used for the cosine; divide each vector by its norm",
        {UNITS: "(anchor, positive, negative)"},
    ),
    Mistake(
        "norms_detached",
        "the norms are detached under the cosine distance, so the gradient misses how they depend on the vectors",
        {UNITS: UNITS.replace("keepdim=True)", "keepdim=True).detach()")},
    ),
    Mistake(
        "cosine_ignored",
        "the Euclidean distance is used for the cosine one as well; use 1 − cos there",
        {
            COSINE_POSITIVE: "torch.linalg.vector_norm(anchor - positive, 2, 1)",
            COSINE_NEGATIVE: "torch.linalg.vector_norm(anchor - negative, 2, 1)",
        },
    ),
    Mistake(
        "negative_detached",
        "the negatives are detached, so no gradient pushes them away; leave them in the graph",
        {SHAPES: "negative = negative.detach()\n    " + SHAPES},
    ),
    Mistake(
        "anchor_detached",
        "the anchor is detached; gradients should flow to all three inputs",
        {SHAPES: "anchor = anchor.detach()\n    " + SHAPES},
    ),
    Mistake(
        "float32_inside",
        "float64 inputs are computed in float32; keep them in float64",
        {
            MARGIN: (
                "dtype = anchor.dtype\n"
                "    anchor, positive, negative = anchor.float(), positive.float(), negative.float()\n"
                "    " + MARGIN
            ),
            HINGE: HINGE + ".to(dtype)",
        },
    ),
    Mistake(
        "input_overwritten",
        "the positive is subtracted from the anchor in place, which changes the caller's tensor; make a new one",
        {"losses = " + HINGE: f"losses = {HINGE}\n    anchor.detach().sub_(positive.detach())"},
    ),
    Mistake(
        "half_becomes_float32",
        "half precision comes back as float32; return the dtype of the inputs",
        {HINGE: f"({HINGE}).to(torch.promote_types(anchor.dtype, torch.float32))"},
        also=(
            {
                MARGIN: "if anchor.dtype.itemsize < 4:\n"
                "        anchor, positive, negative = anchor.float(), positive.float(), negative.float()\n"
                "    " + MARGIN
            },
        ),
    ),
    Mistake(
        "wrong_default_margin",
        "the default of margin is not 1.0; it should be",
        {"margin: float = 1.0": "margin: float = 0.2"},
        also=tuple({"margin: float = 1.0": f"margin: float = {margin}"} for margin in (0.1, 0.3, 0.5)),
    ),
    Mistake(
        "wrong_default_reduction",
        'the default of reduction is not "mean"; it should be',
        {'reduction: str = "mean"': 'reduction: str = "sum"'},
        also=({'reduction: str = "mean"': 'reduction: str = "none"'},),
    ),
    Mistake(
        "negative_margin_accepted",
        "a negative margin is accepted; raise ValueError",
        {MARGIN: "if False:"},
    ),
    Mistake(
        "zero_margin_refused",
        "a margin of 0 is refused; only negative ones are wrong",
        {MARGIN: "if margin <= 0:"},
    ),
    Mistake(
        "unknown_distance_accepted",
        "an unknown distance is treated as the cosine one; raise ValueError",
        {'elif distance == "cosine":': "else:", UNKNOWN_DISTANCE: ""},
    ),
    Mistake(
        "unknown_reduction_accepted",
        'an unknown reduction is treated as "none"; raise ValueError',
        {'if reduction == "none":': "if True:"},
    ),
    Mistake(
        "shapes_not_checked",
        "shapes that differ are broadcast, or raise another error than ValueError; compare all three",
        {SHAPES: "if False:"},
    ),
    Mistake(
        "only_positive_checked",
        "only the shape of positive is compared with that of anchor; compare the one of negative as well",
        {SHAPES: "if anchor.shape != positive.shape:"},
    ),
    Mistake(
        "only_negative_checked",
        "only the shape of negative is compared with that of anchor; compare the one of positive as well",
        {SHAPES: "if anchor.shape != negative.shape:"},
    ),
    Mistake(
        "anchor_not_checked",
        "only positive and negative are compared with one another; compare both with anchor",
        {SHAPES: "if positive.shape != negative.shape:"},
    ),
    Mistake(
        "only_rows_counted",
        "only the numbers of rows are compared; the shapes should be equal in every axis",
        {SHAPES: "if not len(anchor) == len(positive) == len(negative):"},
    ),
    Mistake(
        "only_features_counted",
        "only the numbers of features are compared; the shapes should be equal in every axis",
        {SHAPES: "if not anchor.shape[-1] == positive.shape[-1] == negative.shape[-1]:"},
    ),
    Mistake(
        "elements_counted",
        "only the numbers of elements are compared; the shapes should be equal in every axis",
        {SHAPES: "if not anchor.numel() == positive.numel() == negative.numel():"},
    ),
    Mistake(
        "shapes_joined_by_and",
        "bad shapes are refused only if both positive and negative differ from anchor; one that differs is enough",
        {SHAPES: "if anchor.shape != positive.shape and anchor.shape != negative.shape:"},
    ),
    Mistake(
        "calls_the_builtin",
        "torch's own distance does the work; write it by hand",
        {
            POSITIVE: "torch.nn.functional.pairwise_distance(anchor, positive)",
            NEGATIVE: "torch.nn.functional.pairwise_distance(anchor, negative)",
        },
    ),
    Mistake(
        "calls_the_cosine",
        "torch's own cosine similarity does the work; write it by hand",
        {
            COSINE_POSITIVE: "1 - torch.nn.functional.cosine_similarity(anchor, positive)",
            COSINE_NEGATIVE: "1 - torch.nn.functional.cosine_similarity(anchor, negative)",
        },
    ),
    Mistake(
        "calls_the_loss",
        "torch's own triplet loss does the work; write it by hand",
        {
            "losses = " + HINGE: (
                f"losses = {HINGE}\n"
                '    if distance == "euclidean" and margin > 0:\n'
                "        losses = torch.nn.functional.triplet_margin_loss(\n"
                '            anchor, positive, negative, margin, reduction="none"\n'
                "        )"
            )
        },
    ),
    Mistake(
        "loop_over_the_triplets",
        "the triplets go through a Python loop, one at a time; take the distances of all rows at once, along axis 1",
        {
            POSITIVE: "torch.stack([torch.linalg.vector_norm(a - p) for a, p in zip(anchor, positive)])",
            NEGATIVE: "torch.stack([torch.linalg.vector_norm(a - n) for a, n in zip(anchor, negative)])",
            COSINE_POSITIVE: "torch.stack([1 - one @ other / other.norm() for one, other in zip(a, p)])",
            COSINE_NEGATIVE: "torch.stack([1 - one @ other / other.norm() for one, other in zip(a, n)])",
            UNITS: "(anchor / torch.linalg.vector_norm(anchor, dim=1, keepdim=True), positive, negative)",
        },
        slow=True,
    ),
    Mistake(
        "loop_over_the_indices",
        "a Python loop takes the triplets by their index, and each anchor[i] makes a gradient as large as anchor; "
        "take the distances of all rows at once, along axis 1",
        {
            POSITIVE: "torch.stack([torch.linalg.vector_norm(anchor[i] - positive[i]) for i in range(len(anchor))])",
            NEGATIVE: "torch.stack([torch.linalg.vector_norm(anchor[i] - negative[i]) for i in range(len(anchor))])",
            COSINE_POSITIVE: "torch.stack([1 - a[i] @ p[i] for i in range(len(a))])",
            COSINE_NEGATIVE: "torch.stack([1 - a[i] @ n[i] for i in range(len(a))])",
        },
        slow=True,
    ),
    Mistake(
        "loop_over_the_features",
        "the differences are taken one feature at a time; subtract whole tensors",
        {
            line: line.replace("dim=1", "dim=0").replace(
                f"anchor - {x}", f"torch.stack([anchor[:, i] - {x}[:, i] for i in range(anchor.shape[1])])"
            )
            for x, line in (("positive", POSITIVE), ("negative", NEGATIVE))
        },
        slow=True,
    ),
    Mistake(
        "hinge_in_a_loop",
        "the hinge takes the triplets one at a time in a Python loop; relu and clamp take a whole tensor",
        {HINGE: "torch.stack([torch.relu(to_positive[i] - to_negative[i] + margin) for i in range(len(anchor))])"},
        slow=True,
    ),
    Mistake(
        "sum_of_python",
        "Python's sum adds up the losses one at a time; use losses.sum()",
        {MEAN: "return sum(losses) / len(losses)", SUM: "return sum(losses)"},
        slow=True,
    ),
    Mistake(
        "all_pairs",
        "each anchor is compared with every positive and every negative, and all but the diagonal is thrown away; "
        "compare row i with row i alone",
        {
            POSITIVE: "torch.linalg.vector_norm(anchor[:, None] - positive, dim=2).diagonal()",
            NEGATIVE: "torch.linalg.vector_norm(anchor[:, None] - negative, dim=2).diagonal()",
            COSINE_POSITIVE: "1 - (a @ p.mT).diagonal()",
            COSINE_NEGATIVE: "1 - (a @ n.mT).diagonal()",
        },
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
