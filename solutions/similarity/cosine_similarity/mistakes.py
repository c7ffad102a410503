"""Known wrong answers to cosine_similarity."""

from graders.kata import Mistake

X_NORM = "torch.linalg.vector_norm(x, dim=dim, keepdim=True).clamp_min(eps)"
Y_NORM = X_NORM.replace("x", "y", 1)
RESULT = "((x / x_norm) * (y / y_norm)).sum(dim)"
BROADCAST = "    x, y = torch.broadcast_tensors(x, y)\n"
WIDE = BROADCAST + "    dtype = x.dtype\n    x, y = (x.float(), y.float()) if dtype.itemsize < 4 else (x, y)\n"
PLAIN = "torch.linalg.vector_norm({}, dim=dim, keepdim=True)"
SQUARES = "({0} * {0}).sum(dim, keepdim=True)"
ROOT = SQUARES + ".sqrt()"
ROWS = "u, w = (z.movedim(dim, -1).reshape(-1, z.shape[dim]) for z in (x / x_norm, y / y_norm))\n    return "


def norms(norm: str) -> dict[str, str]:
    """Another norm of both, with {} for the vectors."""
    return {X_NORM: norm.format("x"), Y_NORM: norm.format("y")}


def divided_last(norm: str, product: str = "x_norm * y_norm") -> dict[str, str]:
    """The same, with the dot product taken first, then divided by the product of the norms."""
    return {**norms(norm), RESULT: f"(x * y).sum(dim) / ({product}).squeeze(dim)"}


def widened(norm: str) -> dict[str, str]:
    """That in float32 for half precision."""
    result = "((x * y).sum(dim) / (x_norm * y_norm).squeeze(dim)).to(dtype)"
    return {**norms(norm), BROADCAST: WIDE, RESULT: result}


MISTAKES = (
    # In front, since other forms do not broadcast either: what is wrong by that alone has this name.
    Mistake(
        "not_broadcast",
        "x and y are not broadcast before dim is used, so dim names different axes in them; broadcast first",
        {BROADCAST: ""},
    ),
    Mistake(
        "eps_added_to_the_product",
        "eps is added to the product of the norms, which is wrong for tiny vectors; "
        "clamp each torch.linalg.vector_norm to at least eps",
        divided_last(PLAIN, "x_norm * y_norm + eps"),
        divided_last(ROOT, "x_norm * y_norm + eps"),
        divided_last(PLAIN, "x_norm * y_norm + eps") | {BROADCAST: ""},
    ),
    Mistake(
        "eps_added_to_each_norm",
        "eps is added to each norm; clamp torch.linalg.vector_norm to at least eps instead",
        norms(PLAIN + " + eps"),
        divided_last(PLAIN + " + eps"),
        norms(ROOT + " + eps"),
        divided_last(ROOT + " + eps"),
    ),
    Mistake(
        "eps_under_the_root",
        "eps is added under the root of each norm, where it weighs as much as a norm of √eps; "
        "take torch.linalg.vector_norm, and clamp it to at least eps",
        norms(f"({SQUARES} + eps).sqrt()"),
        divided_last(f"({SQUARES} + eps).sqrt()"),
        widened(f"({SQUARES} + eps).sqrt()"),
    ),
    Mistake(
        "squares_clamped_to_eps",
        "the squared norms are clamped to eps, and so the norms to √eps; take torch.linalg.vector_norm, and clamp it "
        "to at least eps",
        norms(SQUARES + ".clamp_min(eps).sqrt()"),
        divided_last(SQUARES + ".clamp_min(eps).sqrt()"),
        widened(SQUARES + ".clamp_min(eps).sqrt()"),
    ),
    Mistake(
        "product_clamped",
        "the product of the norms is clamped to eps; clamp each torch.linalg.vector_norm on its own",
        divided_last(PLAIN, "(x_norm * y_norm).clamp_min(eps)"),
        divided_last(ROOT, "(x_norm * y_norm).clamp_min(eps)"),
    ),
    Mistake(
        "no_eps",
        "the norms are not clamped at all, so a zero vector gives NaN; take torch.linalg.vector_norm, and clamp "
        "it to at least eps",
        norms(PLAIN),
        divided_last(PLAIN),
        norms(ROOT),
        divided_last(ROOT),
        divided_last(PLAIN) | {BROADCAST: ""},
    ),
    Mistake(
        "eps_ignored",
        "the norms are clamped at 1e-8 whatever eps is passed; clamp them at eps",
        norms(PLAIN + ".clamp_min(1e-8)"),
    ),
    Mistake(
        "eps_raised",
        "eps is raised to suit the dtype, so tiny vectors get the wrong similarity; use eps as it is",
        norms(PLAIN + ".clamp_min(max(eps, torch.finfo(x.dtype).eps))"),
        norms(PLAIN + ".clamp_min(max(eps, 1e-4) if x.dtype.itemsize < 4 else eps)"),
    ),
    Mistake(
        "squared_norms",
        "the vectors are divided by squared norms; divide by torch.linalg.vector_norm, clamped to at least eps",
        norms(PLAIN + ".square().clamp_min(eps)"),
        norms(SQUARES + ".clamp_min(eps)"),
        divided_last(SQUARES + ".clamp_min(eps)"),
    ),
    Mistake(
        "one_root_missing",
        "only one of the two vectors is divided by its norm, the other by its squared norm; take both roots",
        {X_NORM: f"{SQUARES.format('x')}.clamp_min(eps)"},
        {Y_NORM: f"{SQUARES.format('y')}.clamp_min(eps)"},
        {X_NORM: SQUARES.format("x"), Y_NORM: ROOT.format("y")},
        {Y_NORM: SQUARES.format("y"), X_NORM: ROOT.format("x")},
    ),
    Mistake(
        "norm_of_everything",
        "one norm is taken of the whole tensor; take one of each vector along dim",
        norms("torch.linalg.vector_norm({}).clamp_min(eps)"),
    ),
    Mistake(
        "root_at_zero",
        "the norm is the plain root of a sum of squares, whose gradient at a zero vector is NaN; "
        "use torch.linalg.vector_norm",
        norms(ROOT + ".clamp_min(eps)"),
        divided_last(ROOT + ".clamp_min(eps)"),
        widened(ROOT + ".clamp_min(eps)"),
    ),
    Mistake(
        "squares_overflow_in_half",
        "the squares are added up in float16, and the sum may overflow where the norm fits; use "
        "torch.linalg.vector_norm, or a wider dtype",
        norms(SQUARES + ".clamp_min(eps * eps).sqrt()"),
    ),
    Mistake(
        "product_overflows_in_half",
        "the dot product is taken first, and may overflow in float16; divide each vector by its norm before you "
        "multiply",
        {RESULT: "(x * y).sum(dim) / (x_norm * y_norm).squeeze(dim)"},
    ),
    Mistake(
        "last_axis_always",
        "the argument dim is ignored and the last axis used; use dim in the norms and in the sum",
        norms(PLAIN.replace("dim=dim", "dim=-1") + ".clamp_min(eps)") | {RESULT: RESULT.replace("dim", "-1")},
    ),
    Mistake(
        "norms_before_expanding",
        "the norms are taken before x and y are broadcast, so a number that broadcasting repeats along dim counts only "
        "once; broadcast first",
        {BROADCAST: "    x, y = (z[(None,) * (max(x.dim(), y.dim()) - z.dim())] for z in (x, y))\n"},
    ),
    Mistake(
        "only_one_expanded",
        "only one of x and y is expanded to the other's shape; broadcast both",
        {BROADCAST: ["    y = y.expand_as(x)\n", "    x = x.expand_as(y)\n"]},
    ),
    Mistake(
        "axis_kept",
        "the axis dim is kept with length 1; the result should lose it",
        {"sum(dim)": "sum(dim, keepdim=True)"},
    ),
    Mistake(
        "squeezed",
        "every axis of length 1 is squeezed away; the result should lose only the axis dim",
        {RESULT: RESULT + ".squeeze()"},
        {RESULT: "(x * y).sum(dim) / (x_norm * y_norm).squeeze()"},
    ),
    Mistake("distance", "1 − cos is returned, the cosine distance; return the similarity", {RESULT: "1 - " + RESULT}),
    Mistake(
        "norms_detached",
        "the norms are detached, so the gradient misses how they depend on x and y; detach nothing",
        {X_NORM: X_NORM + ".detach()", Y_NORM: Y_NORM + ".detach()"},
    ),
    Mistake("half_becomes_float32", {BROADCAST: WIDE}),
    Mistake(
        "loop_over_the_vectors",
        "the vectors go through a Python loop, one pair at a time; multiply all of them, and sum only along `dim`",
        {"return " + RESULT: ROWS + "torch.stack([a @ b for a, b in zip(u, w)]).reshape(x.sum(dim).shape)"},
        {
            "return " + RESULT: f"{ROWS}{RESULT} if dim else "
            "torch.stack([a @ b for a, b in zip(u, w)]).reshape(x.sum(dim).shape)"
        },
        slow=True,
    ),
    Mistake(
        "loop_over_the_features",
        "the products are added up one feature at a time; sum along `dim`",
        {
            RESULT: "sum(x.select(dim, i) / x_norm.squeeze(dim) * (y.select(dim, i) / y_norm.squeeze(dim)) "
            "for i in range(x.shape[dim]))"
        },
        slow=True,
    ),
    Mistake(
        "all_pairs",
        "all pairs of vectors are compared, and all but the diagonal is thrown away; multiply elementwise, then sum",
        {"return " + RESULT: ROWS + "(u @ w.mT).diagonal().reshape(x.sum(dim).shape)"},
        {"return " + RESULT: f"{ROWS}{RESULT} if dim else (u @ w.mT).diagonal().reshape(x.sum(dim).shape)"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    "x, y = torch.broadcast_tensors(x, y) -> x, y = torch.broadcast_tensors(y, x)": (
        "the similarity is symmetric in x and y, and so are both gradients"
    ),
}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "dim": "from the last axis but two to the fourth, counted from either end",
}
