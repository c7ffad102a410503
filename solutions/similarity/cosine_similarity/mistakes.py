"""Known wrong answers to cosine_similarity."""

from graders.kata import Mistake

X_NORM = "torch.linalg.vector_norm(x, dim=dim, keepdim=True).clamp_min(eps)"
Y_NORM = "torch.linalg.vector_norm(y, dim=dim, keepdim=True).clamp_min(eps)"
RESULT = "((x / x_norm) * (y / y_norm)).sum(dim)"
BROADCAST = "    x, y = torch.broadcast_tensors(x, y)\n"
WIDE = BROADCAST + "    dtype = x.dtype\n    x, y = (x.float(), y.float()) if dtype.itemsize < 4 else (x, y)\n"
ALIGNED = (
    "    axes = max(x.dim(), y.dim())\n    x, y = (z.reshape((1,) * (axes - z.dim()) + z.shape) for z in (x, y))\n"
)
NORMS = f"    x_norm = {X_NORM}\n    y_norm = {Y_NORM}\n"
PLAIN = "torch.linalg.vector_norm({}, dim=dim, keepdim=True)"
SQUARES = "({0} * {0}).sum(dim, keepdim=True)"
ROOT = SQUARES + ".sqrt()"
ROWS = "z.movedim(dim, -1).reshape(-1, z.shape[dim]) for z in"


def of_rows(similarities: str) -> dict[str, str]:
    """Makes the result of the vectors u and w, a row each."""
    result = f"return {similarities}.reshape(x.sum(dim).shape)"
    return {f"{NORMS}    return {RESULT}": f"    u, w = ({ROWS} (x, y))\n    {result}"}


def of_unit_rows(similarities: str) -> dict[str, str]:
    """The same where they have length 1 already."""
    result = f"return {similarities}.reshape(x.sum(dim).shape)"
    return {"return " + RESULT: f"u, w = ({ROWS} (x / x_norm, y / y_norm))\n    {result}"}


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
    Mistake(
        "eps_added_to_the_product",
        "eps is added to the product of the norms, which is wrong for tiny vectors; clamp each norm to at least eps",
        divided_last(PLAIN, "x_norm * y_norm + eps"),
        also=(divided_last(ROOT, "x_norm * y_norm + eps"),),
    ),
    Mistake(
        "eps_added_to_each_norm",
        "eps is added to each norm; clamp each norm to at least eps instead",
        norms(PLAIN + " + eps"),
        also=(divided_last(PLAIN + " + eps"), norms(ROOT + " + eps"), divided_last(ROOT + " + eps")),
    ),
    Mistake(
        "eps_under_the_root",
        "eps is added under the root of each norm, where it weighs as much as a norm of √eps; "
        "clamp each norm to at least eps instead",
        norms(f"({SQUARES} + eps).sqrt()"),
        also=(divided_last(f"({SQUARES} + eps).sqrt()"), widened(f"({SQUARES} + eps).sqrt()")),
    ),
    Mistake(
        "squares_clamped_to_eps",
        "the squared norms are clamped to eps, and so the norms to √eps; clamp the norms themselves",
        norms(SQUARES + ".clamp_min(eps).sqrt()"),
        also=(divided_last(SQUARES + ".clamp_min(eps).sqrt()"), widened(SQUARES + ".clamp_min(eps).sqrt()")),
    ),
    Mistake(
        "product_clamped",
        "the product of the norms is clamped to eps; clamp each norm on its own",
        divided_last(PLAIN, "(x_norm * y_norm).clamp_min(eps)"),
        also=(
            divided_last(ROOT, "(x_norm * y_norm).clamp_min(eps)"),
            divided_last(SQUARES, "(x_norm * y_norm).clamp_min(eps * eps).sqrt()"),
        ),
    ),
    Mistake(
        "product_clamped_squared",
        "the product of the norms is clamped to eps², which misses a short vector beside a long one; clamp each norm",
        divided_last(PLAIN, "(x_norm * y_norm).clamp_min(eps * eps)"),
    ),
    Mistake(
        "no_eps",
        "the norms are not clamped at all, so a zero vector gives NaN; clamp each to at least eps",
        norms(PLAIN),
        also=(divided_last(PLAIN), norms(ROOT), divided_last(ROOT)),
    ),
    Mistake(
        "only_x_clamped",
        "only the norm of x is clamped to eps; do the same for y",
        {Y_NORM: Y_NORM[:-15]},
    ),
    Mistake(
        "eps_ignored",
        "the argument eps is ignored and 1e-8 used for it; use the one that is passed",
        {X_NORM: X_NORM.replace("(eps)", "(1e-8)"), Y_NORM: Y_NORM.replace("(eps)", "(1e-8)")},
    ),
    Mistake(
        "squared_norms",
        "the squared norms are used without the square root; take the root before dividing",
        norms(PLAIN + ".square().clamp_min(eps)"),
        also=(norms(SQUARES + ".clamp_min(eps)"), divided_last(SQUARES + ".clamp_min(eps)")),
    ),
    Mistake(
        "norms_of_one",
        "the sum of the absolute values is used for the norm; cosine similarity needs the Euclidean norm",
        {X_NORM: X_NORM.replace("(x, dim", "(x, 1, dim"), Y_NORM: Y_NORM.replace("(y, dim", "(y, 1, dim")},
    ),
    Mistake(
        "norm_of_everything",
        "one norm is taken of the whole tensor; each vector along dim has its own",
        norms("torch.linalg.vector_norm({}).clamp_min(eps)"),
    ),
    Mistake(
        "root_at_zero",
        "the norm is the plain root of a sum of squares, whose gradient at a zero vector is NaN; "
        "use torch.linalg.vector_norm, or keep the root away from zero",
        norms(ROOT + ".clamp_min(eps)"),
        also=(
            divided_last(ROOT + ".clamp_min(eps)"),
            widened(ROOT + ".clamp_min(eps)"),
        ),
    ),
    Mistake(
        "squares_overflow_in_half",
        "the squares are added up in float16, which overflows for vectors whose norm fits; "
        "use torch.linalg.vector_norm, or a wider dtype",
        norms(SQUARES + ".clamp_min(eps * eps).sqrt()"),
    ),
    Mistake(
        "product_overflows_in_half",
        "the dot product is taken before dividing by the norms, which overflows in float16; divide each vector first",
        {RESULT: "(x * y).sum(dim) / (x_norm * y_norm).squeeze(dim)"},
    ),
    Mistake(
        "last_axis_always",
        "the argument dim is ignored and the last axis used; use dim in the norms and in the sum",
        {
            X_NORM: X_NORM.replace("dim=dim", "dim=-1"),
            Y_NORM: Y_NORM.replace("dim=dim", "dim=-1"),
            RESULT: RESULT.replace("sum(dim)", "sum(-1)"),
        },
    ),
    Mistake(
        "not_broadcast",
        "x and y are not broadcast before dim is used, so dim names different axes in them; broadcast first",
        {BROADCAST: ""},
    ),
    Mistake(
        "norms_before_expanding",
        "the norms are taken before x and y are broadcast, so an axis of length 1 along dim counts once, "
        "although it is repeated there; broadcast first",
        {BROADCAST: ALIGNED},
    ),
    Mistake(
        "only_one_expanded",
        "only one of x and y is expanded to the other's shape; broadcast both",
        {BROADCAST: "    y = y.expand_as(x)\n"},
        also=({BROADCAST: "    x = x.expand_as(y)\n"},),
    ),
    Mistake(
        "only_x_normalised",
        "y is not divided by its norm; divide both",
        {RESULT: "((x / x_norm) * y).sum(dim)"},
    ),
    Mistake(
        "mean_for_sum",
        "the products are averaged; the dot product is their sum",
        {RESULT: RESULT.replace("sum(dim)", "mean(dim)")},
    ),
    Mistake(
        "axis_kept",
        "the axis dim is kept with length 1; the result should lose it",
        {RESULT: RESULT.replace("sum(dim)", "sum(dim, keepdim=True)")},
    ),
    Mistake(
        "squeezed",
        "every axis of length 1 is squeezed away; the result should lose the axis dim only",
        {RESULT: RESULT + ".squeeze()"},
    ),
    Mistake(
        "distance",
        "1 − cos is returned, the cosine distance; return the similarity",
        {RESULT: "1 - " + RESULT},
    ),
    Mistake(
        "absolute_value",
        "the sign is lost; opposite vectors have similarity −1",
        {RESULT: RESULT + ".abs()"},
    ),
    Mistake(
        "negative_cut_off",
        "similarities below 0 are cut off; opposite vectors have similarity −1",
        {RESULT: RESULT + ".clamp_min(0)"},
        also=({RESULT: RESULT + ".clamp(0, 1)"},),
    ),
    Mistake(
        "norms_detached",
        "the norms are detached, so the gradient misses how they depend on x and y",
        {X_NORM: X_NORM + ".detach()", Y_NORM: Y_NORM + ".detach()"},
    ),
    Mistake(
        "float32_inside",
        "float64 inputs are computed in float32; keep them in float64",
        {
            BROADCAST: "    dtype = x.dtype\n    x, y = torch.broadcast_tensors(x.float(), y.float())\n",
            RESULT: RESULT + ".to(dtype)",
        },
        also=(
            {
                BROADCAST: BROADCAST + "    dtype = x.dtype\n    x, y = x.float(), y.float()\n",
                RESULT: RESULT + ".to(dtype)",
            },
        ),
    ),
    Mistake(
        "half_becomes_float32",
        "half precision comes back as float32; return the dtype of the inputs",
        {BROADCAST: WIDE},
        also=({RESULT: f"({RESULT}).to(torch.promote_types(x.dtype, torch.float32))"},),
    ),
    Mistake(
        "input_overwritten",
        "x is divided in place, which changes the caller's tensor; make a new one",
        {RESULT: "(x.detach().div_(x_norm) * (y / y_norm)).sum(dim)"},
    ),
    Mistake(
        "wrong_default_eps",
        "the default of eps is 1e-6; it should be 1e-8",
        {"eps: float = 1e-8": "eps: float = 1e-6"},
    ),
    Mistake(
        "wrong_default_dim",
        "the default of dim is 1, as in torch; here it should be -1",
        {"dim: int = -1": "dim: int = 1"},
    ),
    Mistake(
        "calls_the_builtin",
        "torch's own function does the work; write it by hand",
        {RESULT: "torch.nn.functional.cosine_similarity(x, y, dim, eps)"},
    ),
    Mistake(
        "loop_over_the_vectors",
        "the vectors go through a Python loop, one pair at a time; multiply all of them, and sum along `dim` alone",
        of_rows("torch.stack([(a / a.norm().clamp_min(eps)) @ (b / b.norm().clamp_min(eps)) for a, b in zip(u, w)])"),
        slow=True,
    ),
    Mistake(
        "loop_over_the_indices",
        "a Python loop takes the vectors by their index, and each x[i] makes a gradient as large as x; "
        "multiply all of them, and sum along `dim` alone",
        of_rows(
            "torch.stack([(a / a.norm().clamp_min(eps)) @ (b / b.norm().clamp_min(eps)) "
            "for a, b in ((u[i], w[i]) for i in range(len(u)))])"
        ),
        slow=True,
    ),
    Mistake(
        "loop_over_the_features",
        "the products are added up one feature at a time; sum along `dim`",
        {
            "return " + RESULT: "x_norm, y_norm = x_norm.squeeze(dim), y_norm.squeeze(dim)\n"
            "    return sum(x.select(dim, i) / x_norm * (y.select(dim, i) / y_norm) for i in range(x.shape[dim]))",
        },
        slow=True,
    ),
    Mistake(
        "all_pairs",
        "all pairs of vectors are compared, and all but the diagonal is thrown away; multiply elementwise, then sum",
        of_unit_rows("(u @ w.mT).diagonal()"),
        slow=True,
    ),
    Mistake(
        "all_pairs_with_their_features",
        "x is broadcast against y so that all pairs are multiplied, which takes a whole vector for each pair; "
        "multiply elementwise, then sum",
        of_unit_rows("(u[:, None] * w).sum(-1).diagonal()"),
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    "x, y = torch.broadcast_tensors(x, y) -> x, y = torch.broadcast_tensors(y, x)": (
        "the similarity is symmetric in x and y, and so are both gradients"
    ),
}
