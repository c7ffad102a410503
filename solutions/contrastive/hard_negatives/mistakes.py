"""Known wrong answers to hard_negatives."""

from graders.kata import Mistake

UNIT = "F.normalize(features, dim=1)"
NORM = "torch.linalg.vector_norm(features, dim=1, keepdim=True)"
LOGITS = "unit @ unit.mT / temperature"
POSITIVE = "torch.cat([logits.diagonal(N), logits.diagonal(-N)])[:, None]"
SAME = "torch.eye(N, dtype=torch.bool, device=features.device).repeat(2, 2)"
ITSELF = "torch.eye(rows, dtype=torch.bool, device=features.device)"
FIRST_VIEW = "(torch.arange(rows, device=features.device) < N)"
MASKED = "logits.masked_fill(same_sample, -torch.inf)"
K = "min(top_k, rows - 2)"
HARDEST = f"negatives.topk({K}, dim=1).values"
CHOSEN = f"masked_fill(same_sample, -torch.inf).topk({K}, dim=1).indices"
BEST = "negatives.gather(1, best := negatives.argmax(1, True)), negatives := negatives.scatter(1, best, -torch.inf)"
ONE_BY_ONE = f"torch.cat([negatives[:, :0], *(({BEST})[0] for _ in range({K}))], 1)"
CANDIDATES = "torch.cat([positive, hardest], dim=1)"
FIRST = "torch.zeros(rows, dtype=torch.long, device=features.device)"
LOSS = f"return F.cross_entropy({CANDIDATES}, first)"
SHARE = "return -(positive.exp() / (positive.exp() + {}.sum(1, keepdim=True))).log().mean()"
WITHOUT_POSITIVE = "return (hardest.logsumexp(1) - positive[:, 0]).mean() if N > 1 else 0 * positive.sum()"
ONE_VIEW = f"return F.cross_entropy({CANDIDATES}[:N], first[:N])"
SUMS = [LOSS.replace("first)", f'first, reduction="sum"){over}') for over in ("", " / N")]
EASIEST = {MASKED: MASKED.replace("-", ""), f"{K}, dim=1": f"{K}, dim=1, largest=False"}
INTERLEAVED = f"{UNIT}.unflatten(0, (N, 2)).transpose(0, 1).flatten(0, 1)"
NOTES = {UNIT: INTERLEAVED, LOSS: ONE_VIEW}
TAU, TOP_K = "if temperature <= 0:", "if top_k < 1:"


MISTAKES = (
    Mistake(
        "unshifted_in_half",
        {
            "return F.cross_entropy(torch.cat([positive, hardest], dim=1), first)": (
                "if logits.element_size() == 2:\n"
                "        e = torch.cat([positive, hardest], dim=1).float().exp()\n"
                "        return -(e[:, 0] / e.sum(1)).log().mean().to(logits.dtype)\n"
                "    return F.cross_entropy(torch.cat([positive, hardest], dim=1), first)"
            ),
        },
    ),
    Mistake(
        "self_among_the_hardest",
        "the row itself is among its own k negatives, as the most similar; leave out the row and its positive "
        "before top-k",
        {SAME: f"{ITSELF}.roll(N, 1)"},
        {MASKED: "logits"},
    ),
    Mistake(
        "positive_among_the_hardest",
        "the positive takes one of the k places, or counts twice; take k negatives without the positive, then add "
        "the positive once",
        {SAME: ITSELF},
        {SAME: ITSELF, LOSS: WITHOUT_POSITIVE},
        {SAME: ITSELF, K: "min(top_k, rows - 1)"},
        {K: "min(top_k - 1, rows - 2)"},
    ),
    Mistake(
        "first_two_dropped",
        "the two most similar rows are dropped as the row itself and its positive, but the positive may be less "
        "similar; mask both by index",
        {HARDEST: "logits.topk(min(top_k + 2, rows), dim=1).values[:, 2:]"},
    ),
    Mistake("one_view_as_anchors", {LOSS: ONE_VIEW}),
    Mistake(
        "threshold",
        "negatives are chosen by a threshold, the k-th or (k + 1)-th similarity, so ties change their number; take "
        "exactly k",
        {HARDEST: f"negatives.where(negatives >= negatives.topk(max({K}, 1)).values[:, -1:], -torch.inf)"},
        {HARDEST: "negatives.where(negatives > negatives.topk(min(top_k + 1, rows)).values[:, -1:], -torch.inf)"},
    ),
    Mistake(
        "more_than_there_are",
        "a large top_k fails, is refused or gives too few negatives; take the smaller of top_k and 2N − 2",
        {K: ["top_k", "min(top_k, N - 1)", "min(top_k, rows - 2, 10)"]},
        {TOP_K: "if top_k < 1 or top_k > len(features) - 2 > 0:"},
    ),
    Mistake(
        "one_pair",
        "a batch of one sample fails or is refused; without a negative the loss should be 0",
        {TOP_K: "if top_k < 1 or len(features) == 2:"},
        {CANDIDATES: f"{CANDIDATES} - hardest.amax(1, keepdim=True)"},
    ),
    Mistake(
        "of_the_whole_batch",
        "all anchors share the k hardest negatives of the batch, or the same k columns; take each anchor's own k "
        "hardest",
        {HARDEST: [f"negatives.flatten().topk({K}).values.expand(rows, -1)", f"negatives[:, :{K}]"]},
    ),
    Mistake("easiest", "the least similar negatives are taken; take the most similar, the hard ones", EASIEST),
    Mistake(
        "mined_by_raw_features",
        "the negatives are chosen by dot products or distances of the raw rows; choose by cosine similarity",
        {HARDEST: f"negatives.gather(1, (features @ features.mT).{CHOSEN})"},
        {HARDEST: f"negatives.gather(1, (-torch.cdist(features, features)).{CHOSEN})"},
    ),
    Mistake(
        "views_apart",
        "the negatives come from only one view, or k from each; take the k hardest of both views together",
        {SAME: f"{SAME} | ({FIRST_VIEW}[:, None] == {FIRST_VIEW})"},
        {HARDEST: "torch.cat([half.topk(min(top_k, N - 1)).values for half in negatives.chunk(2, 1)], 1)"},
    ),
    Mistake(
        "interleaved", "rows 2i and 2i + 1 are taken for a pair; rows i and i + N are one", {UNIT: INTERLEAVED}, NOTES
    ),
    Mistake(
        "semi_hard",
        "negatives more similar than the positive are dropped; keep them",
        {SAME: f"{SAME} | (logits > positive)"},
    ),
    Mistake("positive_left_out", "the positive is missing in the denominator; add it", {LOSS: WITHOUT_POSITIVE}),
    Mistake(
        "hardest_detached",
        "rows get no gradient as negatives of other rows, perhaps not as positives either; detach nothing",
        {HARDEST: f"{HARDEST}.detach()"},
        {LOGITS: "unit @ unit.detach().mT / temperature"},
    ),
    Mistake(
        "some_logits_not_divided",
        "the temperature divides only positives, only negatives, or nothing; divide every cosine, once",
        {CANDIDATES: [CANDIDATES.replace(part, f"{part} * temperature") for part in ("positive", "hardest")]},
        {LOGITS: "unit @ unit.mT"},
    ),
    Mistake(
        "sum_for_mean",
        "the losses are summed, or their sum is divided by N; take the mean of all 2N losses",
        {LOSS: SUMS},
    ),
    Mistake(
        "mask_of_a_finite_number",
        "the row itself and its positive are masked with a number above some negatives, or one that float16 cannot "
        "hold; mask them with −inf",
        {MASKED: [MASKED.replace("-torch.inf", weak) for weak in ("0.0", "-1.0", "-10.0", "-100.0", "-9e15")]},
    ),
    Mistake(
        "no_max_shift",
        "exponentials overflow at small temperatures, or the log is taken of a share that is 0 or gets an eps; "
        "use logsumexp or cross-entropy",
        {LOSS: SHARE.format("hardest.exp()")},
        {HARDEST: f"logits.exp().masked_fill(same_sample, 0).topk({K}, dim=1).values", LOSS: SHARE.format("hardest")},
        *({LOSS: f"return -({CANDIDATES}.softmax(1)[:, 0]{eps}).log().mean()"} for eps in ("", " + 1e-12", " + 1e-8")),
    ),
    Mistake(
        "not_normalised",
        "the rows are not divided by their norms, or the norms are detached, have an eps or overflow in float16; "
        "use F.normalize",
        {UNIT: ["features", f"features / {NORM}.detach()", f"features / ({NORM} + 1e-8)"]},
        {UNIT: "features / (features * features).sum(1, keepdim=True).sqrt()"},
    ),
    Mistake(
        "refused_in_part",
        "a temperature or top_k that is not above 0 is accepted, perhaps only with one sample; raise ValueError",
        {TAU: ["if temperature < 0:", "if not temperature:"]},
        {TOP_K: ["if top_k < 0:", "if top_k < 1 and len(features) > 2:"]},
        {TOP_K: "if not top_k:", K: "min(max(top_k, 1), rows - 2)"},
    ),
    Mistake(
        "one_after_the_other",
        "the negatives are found one after the other; one topk finds them all",
        {HARDEST: ONE_BY_ONE},
        slow=True,
    ),
    Mistake(
        "row_by_row_or_feature_by_feature",
        "rows go through a Python loop, or each product of features is kept, (2N, 2N, D); use one @ and one topk",
        {HARDEST: f"torch.stack([row.topk({K}).values for row in negatives])"},
        {LOGITS: "(unit[:, None] * unit).sum(-1) / temperature"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
ON_A_GPU = "on the CPU it is made on the device of the features anyway; on a GPU the call raises"
EQUIVALENT: dict[str, str] = {
    f"unit = {UNIT} -> unit = F.normalize(features)": "1 is the default of dim in F.normalize",
    f"same_sample = {SAME} -> same_sample = torch.eye(N, dtype=torch.bool).repeat(2, 2)": ON_A_GPU,
    f"first = {FIRST} -> first = torch.zeros(rows, dtype=torch.long)": ON_A_GPU,
    f"positive = {POSITIVE} -> positive = {POSITIVE.replace('-N', 'N')}": "the matrix of cosines is symmetric",
    f"hardest = {HARDEST} -> hardest = negatives.topk({K}).values": "-1 is the default of dim in topk",
    f"hardest = {HARDEST} -> hardest = {HARDEST.replace(K, 'min(rows - 2, top_k)')}": "the smaller of two is the same",
    f"hardest = {HARDEST} -> hardest = {HARDEST.replace('2', '1')}": "a −∞ joins, which adds exp(−∞) = 0",
}
