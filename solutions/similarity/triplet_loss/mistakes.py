"""Known wrong answers to triplet_loss."""

from graders.kata import Mistake

POSITIVE = "torch.linalg.vector_norm(anchor - positive, dim=1)"
NEGATIVE = "torch.linalg.vector_norm(anchor - negative, dim=1)"
UNITS = "(x / torch.linalg.vector_norm(x, dim=1, keepdim=True) for x in (anchor, positive, negative))"
COSINE_NEGATIVE = "1 - (a * n).sum(1)"
HINGE = "torch.relu(to_positive - to_negative + margin)"
MEAN = "return losses.mean()"
MARGIN = "if margin < 0:"
KEPT_POSITIVE, KEPT_NEGATIVE = (line.replace("dim=1", "dim=1, keepdim=True") for line in (POSITIVE, NEGATIVE))

NORMS = "torch.linalg.vector_norm(a, dim=1) * torch.linalg.vector_norm(X, dim=1)"


def euclidean(distance: str) -> dict[str, str]:
    """Both Euclidean distances, of X from the anchor."""
    return {POSITIVE: distance.replace("X", "positive"), NEGATIVE: distance.replace("X", "negative")}


def cosine(distance: str) -> dict[str, str]:
    """Both cosine distances, of the unit vector X from a."""
    return {"1 - (a * p).…": distance.replace("X", "p"), COSINE_NEGATIVE: distance.replace("X", "n")}


def under_the_root(eps: str) -> dict[str, str]:
    return euclidean(f"((anchor - X).square().sum(1) + {eps}).sqrt()")


MISTAKES = (
    Mistake(
        "cosine_clamped",
        "the cosine is clamped at about 1 − 1e-7, so small distances are wrong; do not clamp it",
        cosine("1 - (a * X).sum(1).clamp(-1 + 1e-7, 1 - 1e-7)"),
    ),
    Mistake(
        "squared_distances",
        "the squared Euclidean distances are used; take torch.linalg.vector_norm",
        euclidean("(anchor - X).square().sum(1)"),
    ),
    Mistake(
        "sign_flipped",
        "positive and negative are swapped; subtract the negative's distance from the positive's",
        {HINGE: "torch.relu(to_negative - to_positive + margin)"},
    ),
    Mistake(
        "margin_subtracted",
        "the margin is subtracted, so it asks for less distance; add it",
        {HINGE: "torch.relu(to_positive - to_negative - margin)"},
    ),
    Mistake(
        "margin_outside_the_hinge",
        "the margin is added after the hinge; add it inside",
        {HINGE: "torch.relu(to_positive - to_negative) + margin"},
    ),
    Mistake(
        "no_hinge",
        "the hinge is missing, so satisfied triplets count with a negative loss; clamp each loss at 0",
        {HINGE: "to_positive - to_negative + margin"},
    ),
    Mistake(
        "hinge_after_the_reduction",
        "the hinge is applied after the mean or the sum, so satisfied triplets offset violated ones; clamp each "
        "loss first",
        {
            HINGE: "to_positive - to_negative + margin",
            MEAN: "return losses.mean().relu()",
            "return losses.sum()": "return losses.sum().relu()",
            "return losses\n": "return losses.relu()\n",
        },
        {MEAN: "return (to_positive - to_negative + margin).mean().relu()"},
    ),
    Mistake(
        "free_within_the_margin",
        "triplets whose negative is farther than the positive cost nothing, even within the margin; add the margin "
        "before you compare with 0",
        {HINGE: f"{HINGE} * (to_positive > to_negative)"},
    ),
    Mistake(
        "semi_hard_alone",
        "triplets whose negative is nearer than the positive cost nothing, as in the mining of semi-hard triplets; "
        "every violated triplet counts",
        {HINGE: [f"{HINGE} * (to_negative >= to_positive)", f"{HINGE} * (to_negative > to_positive)"]},
    ),
    Mistake(
        "soft_hinge",
        "softplus is used for the hinge, so satisfied triplets still have a loss and a gradient; use max(0, x)",
        {HINGE: "torch.nn.functional.softplus(to_positive - to_negative + margin)"},
    ),
    Mistake(
        "satisfied_have_gradient",
        "the losses are right, but satisfied triplets still have a gradient; it should be 0",
        {HINGE: "to_positive - to_negative + margin\n    losses = losses + (losses.relu() - losses).detach()"},
    ),
    Mistake(
        "anchor_detached_once",
        "the anchor gets a gradient from only one of its two distances; detach it in neither",
        {NEGATIVE: NEGATIVE.replace("anchor", "anchor.detach()"), COSINE_NEGATIVE: "1 - (a.detach() * n).sum(1)"},
        {POSITIVE: POSITIVE.replace("anchor", "anchor.detach()"), "1 - (a * p).…": "1 - (a.detach() * p).sum(1)"},
    ),
    Mistake(
        "mean_over_active",
        "the mean is taken only over the triplets with a loss above 0; divide by all N",
        {MEAN: "return losses.sum() / (losses > 0).sum().clamp_min(1)"},
        {MEAN: "return losses.sum() / (losses > 0).sum()"},
        {MEAN: "return losses.sum() / ((losses > 1e-16).sum() + 1e-16)"},
        {MEAN: "return losses[losses > 0].mean()"},
        {MEAN: "return losses[losses > 0].mean() if (losses > 0).any() else losses.sum()"},
    ),
    Mistake(
        "every_pair_of_distances",
        "one distance has the shape (N, 1) and the other (N,), so their difference is N × N; drop the axis of length 1",
        {NEGATIVE: KEPT_NEGATIVE},
        {POSITIVE: KEPT_POSITIVE},
        {NEGATIVE: KEPT_NEGATIVE, COSINE_NEGATIVE: "1 - (a * n).sum(1, keepdim=True)"},
        {POSITIVE: KEPT_POSITIVE, "1 - (a * p).…": "1 - (a * p).sum(1, keepdim=True)"},
    ),
    Mistake(
        "axis_kept",
        '"none" returns (N, 1); return one loss per triplet, (N,)',
        {"return losses\n": "return losses[:, None]\n"},
    ),
    Mistake(
        "nan_gradient_at_zero",
        "the distance is the plain root of a sum of squares: its gradient is NaN where two vectors are equal, even in "
        "satisfied triplets; use torch.linalg.vector_norm, or add at most 1e-8 under the root",
        euclidean("(anchor - X).square().sum(1).sqrt()"),
    ),
    Mistake(
        "nan_gradient_hidden_by_the_hinge",
        "the negative's distance is a plain root, whose gradient is NaN where anchor equals negative; use "
        "torch.linalg.vector_norm, or add at most 1e-8 under the root",
        {NEGATIVE: "(anchor - negative).square().sum(1).sqrt()"},
    ),
    Mistake(
        "large_eps_under_the_root",
        "the eps under the root is too large for vectors that are close together; use at most 1e-8",
        under_the_root("1e-6"),
        under_the_root("1e-7"),
        under_the_root("1e-5"),
        under_the_root("1e-4"),
    ),
    Mistake(
        "expanded_square",
        euclidean("(anchor.square().sum(1) + X.square().sum(1) - 2 * (anchor * X).sum(1)).clamp_min(1e-16).sqrt()"),
    ),
    Mistake(
        "axis_zero",
        "the distances are taken along the batch; take them along the features, one for each triplet",
        {POSITIVE: POSITIVE.replace("dim=1", "dim=0"), NEGATIVE: NEGATIVE.replace("dim=1", "dim=0")},
    ),
    Mistake(
        "distance_swapped",
        "the negative's distance is taken from the anchor or from the positive, whichever is closer (torch's "
        "swap=True); take it from the anchor",
        {
            NEGATIVE: f"torch.minimum({NEGATIVE}, {NEGATIVE.replace('anchor', 'positive')})",
            COSINE_NEGATIVE: f"torch.minimum({COSINE_NEGATIVE}, {COSINE_NEGATIVE.replace('a *', 'p *')})",
        },
        {NEGATIVE: f"torch.minimum({NEGATIVE}, {NEGATIVE.replace('anchor', 'positive')})"},
    ),
    Mistake(
        "from_the_positive",
        "the negative's distance is taken from the positive; take it from the anchor",
        {NEGATIVE: NEGATIVE.replace("anchor", "positive"), COSINE_NEGATIVE: "1 - (p * n).sum(1)"},
    ),
    Mistake(
        "embeddings_normalised",
        "the vectors are divided by their norms even for the Euclidean distance; divide them only for the cosine",
        {MARGIN: f"anchor, positive, negative = {UNITS}\n    {MARGIN}"},
    ),
    Mistake(
        "cosine_similarity_as_distance",
        "the cosine similarity is used as a distance, so the negative is pulled closer; use 1 − cos",
        cosine("(a * X).sum(1)"),
    ),
    Mistake(
        "chord_for_cosine",
        "the cosine distance is the Euclidean distance of the unit vectors, which is √(2 − 2 cos); use 1 − cos",
        cosine("torch.linalg.vector_norm(a - X, dim=1)"),
    ),
    Mistake(
        "cosine_without_norms",
        "the dot product is used for the cosine; divide each vector by its norm",
        {UNITS: "(anchor, positive, negative)"},
    ),
    Mistake(
        "cosine_of_short_vectors",
        "an eps is added to the product of the norms, which is wrong for short vectors; divide each vector by its norm",
        {UNITS: "(anchor, positive, negative)"} | cosine(f"1 - (a * X).sum(1) / ({NORMS} + 1e-6)"),
    ),
    Mistake(
        "zero_margin_refused",
        "a margin of 0 is refused; refuse only negative margins",
        {MARGIN: "if margin <= 0:"},
    ),
    Mistake(
        "only_positive_checked",
        "only positive's shape is compared with anchor's; also compare negative's shape",
        {"if not …": "if anchor.shape != positive.shape:"},
    ),
    Mistake(
        "calls_the_distances",
        "torch's own distance does the work; write it by hand",
        euclidean("torch.nn.functional.pairwise_distance(anchor, X)"),
        cosine("1 - torch.nn.functional.cosine_similarity(a, X)"),
    ),
    Mistake(
        "loop_over_the_triplets",
        "the triplets go through a Python loop, one at a time; take the distances of all rows at once, along axis 1",
        euclidean("torch.stack([torch.linalg.vector_norm(one - other) for one, other in zip(anchor, X)])")
        | cosine("torch.stack([1 - one @ other for one, other in zip(a, X)])"),
        euclidean("torch.stack([torch.linalg.vector_norm(anchor[i] - X[i]) for i in range(len(anchor))])")
        | cosine("torch.stack([1 - a[i] @ X[i] for i in range(len(a))])"),
        slow=True,
    ),
    Mistake(
        "all_pairs",
        "each anchor is compared with every positive and every negative, and all but the diagonal is thrown away; "
        "compare row i only with row i",
        euclidean("torch.linalg.vector_norm(anchor[:, None] - X, dim=2).diagonal()")
        | cosine("1 - (a @ X.mT).diagonal()"),
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    "builtin.py runs norm": "a norm of a difference is what the formula says; the statement allows it",
}
