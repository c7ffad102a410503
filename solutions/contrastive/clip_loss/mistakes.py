"""Known wrong answers to clip_loss."""

from graders.kata import Mistake

UNIT = "F.normalize(image, dim=1), F.normalize(text, dim=1)"
NORM = "torch.linalg.vector_norm({0}, dim=1, keepdim=True)"
BOUND = "math.log(100)"
SCALE = "logit_scale.clamp(max=math.log(100)).exp()"
CLAMPED_IN_PLACE = f"with torch.no_grad():\n        logit_scale.clamp_(max={BOUND})"
LOGITS = "scale * image @ text.mT"
TO_TEXT = "F.cross_entropy(logits, own)"
TO_IMAGE = "F.cross_entropy(logits.mT, own)"
OWN = "own = torch.arange(len(logits), device=logits.device)"
WITHIN = "image @ image.mT + text @ text.mT"
RETURN = "return (to_text + to_image) / 2"
BY_RAW_ROWS = f"scale * (image @ text.mT / {NORM} / {NORM}.mT)".replace("{0}", "image", 1).format("text")
NORMS = f"({NORM.format('image')} * {NORM.format('text')}.mT)"
TO_TEXT_ALONE = "F.cross_entropy(scale * image @ text.mT.detach(), own)"
TO_IMAGE_ALONE = "F.cross_entropy(scale * text @ image.mT.detach(), own)"
OTHERS = "logits.mT.clone().fill_diagonal_(-torch.inf)"
IN_ONE_BATCH = """x = torch.cat([image, text])
    logits = (scale * x @ x.mT).fill_diagonal_(-torch.inf)
    return F.cross_entropy(logits, torch.arange(len(x), device=x.device).roll(len(text)))"""


def each(way: str) -> dict[str, str]:
    """What becomes of image, and of text, in place of F.normalize."""
    return {UNIT: f"{way.format('image')}, {way.format('text')}"}


def along(loss: str) -> dict[str, str]:
    """The loss along each axis of the logits."""
    return {TO_TEXT: loss.format(1), TO_IMAGE: loss.format(0)}


MISTAKES = (
    Mistake(
        "unshifted_in_half",
        "half precision is cast to float32, but no maximum is subtracted, so exp overflows at scales near the bound; "
        "use logsumexp or cross-entropy in every dtype",
        {
            "to_text = F.cross_entropy(logits, own)": (
                "if logits.element_size() == 2:\n"
                "        e = logits.float().exp()\n"
                "        d = e.diagonal()\n"
                "        return (-((d / e.sum(1)).log() + (d / e.sum(0)).log()).mean() / 2).to(logits.dtype)\n"
                "    to_text = F.cross_entropy(logits, own)"
            ),
        },
    ),
    Mistake(
        "one_direction",
        "only images choose among texts, or only texts among images; take the mean of both directions, along the rows "
        "of the logits and along their columns",
        {RETURN: ["return to_text", "return to_image"]},
    ),
    Mistake(
        "scale_not_exponentiated",
        "the cosines are multiplied by logit_scale itself, the log of the factor; clamp it at log 100, then take exp",
        {SCALE: [SCALE.removesuffix(".exp()"), "logit_scale", "logit_scale.clamp(max=100)"]},
    ),
    Mistake(
        "scale_misused",
        "the cosines are divided by exp(logit_scale), or multiplied by it twice; multiply them by it once",
        {LOGITS: "image @ text.mT / scale"},
        {SCALE: f"(-logit_scale).clamp(max={BOUND}).exp()"},
        {LOGITS: "(scale * image) @ (scale * text).mT"},
    ),
    Mistake(
        "clamped_after_exp",
        "the bound is put after exp, which is ∞ where logit_scale is large, so the gradient is 0 · ∞ = NaN; clamp "
        "logit_scale at log 100, then take exp",
        {SCALE: "logit_scale.exp().clamp(max=100)"},
        {SCALE: f"torch.where(logit_scale < {BOUND}, logit_scale.exp(), 100.0).to(logit_scale.dtype)"},
    ),
    Mistake(
        "clamped_in_place",
        "logit_scale is clamped in place, which changes the caller's tensor, even under torch.no_grad or through "
        ".data; use clamp, which makes a new tensor",
        {f"scale = {SCALE}": f"logit_scale.data.clamp_(max={BOUND})\n    scale = logit_scale.exp()"},
        {f"scale = {SCALE}": f"{CLAMPED_IN_PLACE}\n    scale = logit_scale.exp()"},
    ),
    Mistake(
        "gradient_beyond_the_bound",
        "logit_scale gets a gradient beyond the bound, where it no longer changes the loss; the gradient should be 0 "
        "there",
        {SCALE: f"(logit_scale - (logit_scale.detach() - {BOUND}).relu()).exp()"},
    ),
    Mistake(
        "not_clamped",
        "the cosines can be multiplied by more than 100; clamp logit_scale at log 100, before exp",
        {SCALE: "logit_scale.exp()"},
        {BOUND: "100"},
        {SCALE: "logit_scale.exp()", LOGITS: f"({LOGITS}).clamp(max=100)"},
    ),
    Mistake(
        "bound_rounded",
        "the bound log 100 is rounded, to 4.6052, 4.605, 4.6 or to float32; use math.log(100)",
        {BOUND: "4.6052"},
        *({BOUND: rounded} for rounded in ("4.605", "4.6", "torch.tensor(100.0).log()")),
    ),
    Mistake(
        "lower_clamp",
        "logit_scale is clamped from below as well, for example at 0 or at −log 100; clamp it only from above",
        {SCALE: [SCALE.replace("max=", "0, "), SCALE.replace("max=", f"-{BOUND}, ")]},
    ),
    Mistake(
        "not_normalised",
        "rows of image or of text are not divided by their own Euclidean norms; divide each row by its own norm, so "
        "that products are cosines",
        each("{}"),
        {UNIT: [UNIT.replace("F.normalize(text, dim=1)", "text"), UNIT.replace("F.normalize(image, dim=1)", "image")]},
        *map(each, ("F.normalize({}, dim=0)", "F.normalize({}, p=1.0)", "{0} / torch.linalg.vector_norm({0})")),
    ),
    Mistake(
        "eps_added_to_the_norm",
        each("{0} / (" + NORM + " + 1e-8)"),
        *(each("{0} / (" + NORM + f" + {eps})") for eps in (1e-5, 1e-6, 1e-10)),
    ),
    Mistake(
        "eps_beside_the_product_of_norms",
        "the product of two norms is clamped at 1e-8 from below, but short rows have a smaller product; divide each "
        "row by its own norm",
        {UNIT: "image, text", LOGITS: f"scale * (image @ text.mT / {NORMS}.clamp_min(1e-8))"},
    ),
    Mistake(
        "overflows_float16",
        "squares or products of raw rows are summed in float16, and overflow although the norms fit; normalise first,"
        " with F.normalize or torch.linalg.vector_norm",
        each("{0} / ({0} * {0}).sum(1, keepdim=True).sqrt()"),
        {UNIT: "image, text", LOGITS: BY_RAW_ROWS},
    ),
    Mistake(
        "gradient_cut",
        "the norms, the candidates or, in one direction, the scale are detached, so the gradient is wrong although the "
        "loss is right; detach none of them",
        each("{0} / " + NORM + ".detach()"),
        {TO_TEXT: TO_TEXT_ALONE, TO_IMAGE: TO_IMAGE_ALONE},
        {TO_TEXT: TO_TEXT_ALONE},
        {TO_IMAGE: TO_IMAGE_ALONE},
        {TO_IMAGE: "F.cross_entropy((scale.detach() * image @ text.mT).mT, own)"},
        {TO_TEXT: "F.cross_entropy(scale.detach() * image @ text.mT, own)"},
    ),
    Mistake(
        "all_in_one_batch",
        "images also choose among images, and texts among texts, as in SimCLR; here images choose among texts, and "
        "texts among images",
        {RETURN: IN_ONE_BATCH},
    ),
    Mistake(
        "sum_for_mean",
        "losses are summed over rows or over directions, or divided by N²; take the mean over N losses, then the mean"
        " of both directions",
        {RETURN: "return to_text + to_image"},
        {RETURN: [f"{RETURN} {change}" for change in ("* len(own)", "/ len(own)")]},
    ),
    Mistake(
        "not_one_softmax_for_each_row",
        "one softmax is taken over all N² logits or over a row and its column together, or cross-entropy gets the "
        "result of a softmax; take one softmax for each row and one for each column",
        along("(logits.logsumexp((0, 1)) - logits.diagonal().mean())"),
        along("(logits.softmax({0}).logsumexp({0}) - logits.softmax({0}).diagonal()).mean()"),
        {RETURN: f"return F.cross_entropy(torch.cat([logits, {OTHERS}], dim=1), own)"},
    ),
    Mistake(
        "log_of_a_softmax",
        "exp of a logit overflows, or the log is taken of a probability that is 0 or has an eps added; use "
        "log_softmax, logsumexp or cross-entropy",
        along("-logits.softmax({}).diagonal().log().mean()"),
        along("(logits.exp().sum({}).log() - logits.diagonal()).mean()"),
        along("-(logits.exp().diagonal() / logits.exp().sum({})).log().mean()"),
        *(along(f"-(logits.softmax({{}}).diagonal() + {eps}).log().mean()") for eps in (1e-6, 1e-8, 1e-12)),
    ),
    Mistake(
        "maximum_of_the_whole_table",
        "the table's largest logit is subtracted before exp, so rows or columns far below it vanish; subtract each "
        "row's and each column's own maximum, or use logsumexp",
        along("((logits - logits.max()).exp().sum({}).log() + logits.max() - logits.diagonal()).mean()"),
        *(
            {loss: f"((logits - logits.max()).exp().sum({dim}).log() + logits.max() - logits.diagonal()).mean()"}
            for loss, dim in ((TO_TEXT, 1), (TO_IMAGE, 0))
        ),
    ),
    Mistake(
        "wrong_labels",
        "the labels do not point at the diagonal of the logits, where the pairs are; use the labels 0 to N − 1",
        {TO_TEXT: "F.cross_entropy(logits, own * 0)", TO_IMAGE: "F.cross_entropy(logits.mT, own * 0)"},
    ),
    Mistake(
        "soft_targets",
        "the targets are a softmax of the similarities among the images and among the texts; each row has one target, "
        "its own pair",
        *(
            {OWN: f"own = (({WITHIN}) / 2 {scaled}).softmax(1){cut}", TO_IMAGE: TO_IMAGE.replace("own", "own.mT")}
            for scaled in ("* scale", "/ scale")
            for cut in (".detach()", "")
        ),
    ),
    Mistake(
        "shapes_half_checked",
        "some shapes that do not fit are accepted; refuse every rank but 2, and all shapes that differ",
        {"if image.…": ["if image.dim() < 2:", "if image.dim() > 2:"]},
        {"if text.…": "if len(text) != len(image):"},
    ),
    Mistake(
        "loop_over_the_rows",
        "a Python loop takes the logits or the losses of one row at a time; take the whole matrix at once",
        {LOGITS: "torch.stack([scale * text @ row for row in image])"},
        along("torch.stack([-x.log_softmax(0)[i] for i, x in enumerate(logits.movedim(1 - {}, 0))]).mean()"),
        slow=True,
    ),
    Mistake(
        "pairs_with_their_features",
        "each image is multiplied by each text before the features are summed, which makes a tensor of (N, N, D); use "
        "@",
        {LOGITS: "scale * (image[:, None] * text).sum(-1)"},
        {LOGITS: "scale * F.cosine_similarity(image[:, None], text, dim=-1)"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    f"image, text = ({UNIT}) -> image, text = ({UNIT.replace(f'{name}, dim=1', name)})": "dim is 1 by default"
    for name in ("image", "text")
} | {
    "own = torch.arange(len(logits), device=logits.device) -> own = torch.arange(len(logits))": (
        "on the CPU the labels are made on the device of the logits anyway; on a GPU the call raises"
    )
}
