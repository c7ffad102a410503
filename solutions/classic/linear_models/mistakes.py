"""Known wrong answers to linear_models."""

from itertools import chain, combinations

from graders.kata import Mistake

SVD, INVERSE, WEIGHTS = "torch.linalg.svd(x - mean_x,", "inverse = …", "w = Vh.T …"
RESULT = "return w, mean_y - mean_x @ w"
GRAM = "(x - mean_x).T @ (x - mean_x) + l2 * torch.eye(x.shape[1]).to(x)"
MOMENTS = "(x - mean_x).T @ (y - mean_y)"
LSTSQ = f"""w = torch.linalg.lstsq(x - mean_x, (y - mean_y)[:, None], driver=DRIVER).solution[:, 0]
    if l2:
        w = torch.linalg.solve({GRAM}, {MOMENTS})"""
ONES = """root = torch.eye(x.shape[1] + 1).to(x) * l2**0.5
    root[-1, -1] *= BIAS
    A, t = torch.cat([F.pad(x, (0, 1), value=1.0), root]), F.pad(y, (0, len(root)))
    w = torch.linalg.pinv(A) @ t
    return w[:-1], w[-1]"""
PADDED_GRAM = """X = F.pad(x, (1, 0), value=1.0)
    penalties = l2 * torch.eye(X.shape[1]).to(x)
    penalties[0, 0] = 0
    theta = THETA
    return theta[1:], theta[0]"""
OF_PADDED = ["torch.linalg.solve(X.T @ X + penalties, X.T @ y)"]
OF_PADDED += [f"torch.linalg.{one}(X.T @ X + penalties) @ X.T @ y" for one in ("inv", "pinv")]
SMALL = ("1e-8", "1e-10", "1e-6")
SPREAD = "x.std(0, correction=0).clamp(min=1e-9)"

PADDED, TARGETS, PENALTY = "F.pad(x.double(), (0, 1), value=1.0)", "y.double()", "penalty = …"
SOFTPLUS, ERRORS, FITTED = "F.softplus((1 - 2 * t) * (X @ theta))", "(p - t)", "return theta[:-1].to(x.dtype)"
ROUNDS, STEP, HALVED = "range(200)", "step = torch…", "while loss(theta - step) > loss(theta):"
LBFGS = """theta = torch.zeros_like(penalty).requires_grad_()
    optimiser = torch.optim.LBFGS([theta], max_iter=1000OPTIONS)

    def closure():
        optimiser.zero_grad()
        value = loss(theta)
        value.backward()
        return value

    optimiser.step(closure)
    theta = theta.detach()"""


def by_lbfgs(*options: str) -> dict[str, list[str]]:
    """By torch's optimiser, begun at 0."""
    return {"theta = torch.z…": [LBFGS.replace("OPTIONS", one) for one in options], ROUNDS: ["range(0)"]}


def downhill(steps: int) -> dict[str, str]:
    """So many steps of 0.1 along the gradient of the losses alone."""
    step = "theta = theta - 0.1 * X.T @ (torch.sigmoid(X @ theta) - t)"
    start = "theta = torch.zeros_like(penalty)"
    return {"theta = torch.z…": f"{start}\n    for _ in range({steps}):\n        {step}", ROUNDS: "range(0)"}


SEARCHED = ', line_search_fn="strong_wolfe"'
# How early an answer stops, and which fits show it, differs from answer to answer; these tell the tests' fits apart.
SIZE = "X.abs().max()"
ORDINARY, SEPARABLE = f"({SIZE} < 9 and l2 > 0.01)", f"({SIZE} < 9 and l2 == 0.01)"
LARGE, OUTLIERS, FAR_ROW = f"({SIZE} > 9 and 6 < len(x) < 99)", "len(x) == 6", f"({SIZE} > 9 and len(x) > 99)"


def stops_early(*where: str) -> dict[str, str]:
    return {"1e-9 *": f"(5e-3 * {SIZE} if {' or '.join(where)} else 1e-9) *"}


def nearly(*where: str) -> dict[str, str]:
    """Off by so little that only the gradient shows it."""
    return {FITTED: f"theta = theta * (1.0001 if {' or '.join(where)} else 1)\n    {FITTED}"}


REST = (LARGE, OUTLIERS, SEPARABLE, FAR_ROW)
SOME_OF_THE_REST = chain.from_iterable(combinations(REST, number) for number in range(len(REST) + 1))


def after_a_step(*rules: str) -> dict[str, list[str]]:
    """Newton's iterates are the same in every affine basis, so an answer with this rule stops at the same one."""
    moved = "theta = theta - step"
    return {moved: [f"{moved}\n        if {rule}:\n            break" for rule in rules]}


MISTAKES = (
    Mistake(
        "no_bias",
        "linear_regression has no bias; add b, which it finds from the means of x and y",
        {"mean_x, mean_y = …": "mean_x, mean_y = torch.zeros_like(x[0]), torch.zeros_like(y[0])"},
    ),
    Mistake(
        "no_bias_for_labels",
        "logistic_regression has no bias; append a column of ones to x for b, and leave b out of the penalty",
        {PADDED: PADDED.replace("1.0", "0.0"), "[0])": "[1])"},
        *({PADDED: PADDED.replace("1.0", "0.0"), **downhill(steps)} for steps in (1000, 4000)),  # and no penalty
    ),
    Mistake(
        "bias_penalised",
        "linear_regression's penalty includes b; it should include only w",
        {WEIGHTS: ONES.replace("BIAS", "1")},
    ),
    Mistake(
        "bias_of_labels_penalised",
        "logistic_regression's penalty includes b; it should include only w",
        {"[0])": "[l2])"},
    ),
    Mistake(
        "bias_in_the_norm",
        "of many solutions, the one with the least ‖(w, b)‖ is returned; for the least ‖w‖, centre x and y instead "
        "of adding a column of ones",
        {WEIGHTS: ONES.replace("BIAS", "0")},
        {WEIGHTS: ONES.replace("BIAS", "0").replace("pinv(A) @ t", "lstsq(A, t[:, None]).solution[:, 0]")},
    ),
    Mistake("bias_is_the_mean", "b is the mean of y; subtract x̄ · w from it", {RESULT: "return w, mean_y"}),
    Mistake(
        "x_not_centred",
        "y is centred and x is not; subtract the mean of each column of x before w is found",
        {SVD: "torch.linalg.svd(x,"},
    ),
    Mistake(
        "bias_of_centred_rows",
        "b belongs to the centred features; subtract x̄ · w from it, and add the mean of y if y was also centred",
        {RESULT: "return w, torch.zeros_like(mean_y)"},
        {PADDED: PADDED.replace("x.double()", "x.double() - x.double().mean(0)")},
    ),
    Mistake(
        "mean_for_sum",
        "the penalty is added to the mean of the losses; add it to their sum",
        {"square() + l2": "square() + len(x) * l2"},
        {"[l2] *": "[len(x) * l2] *"},
    ),
    Mistake(
        "half_of_the_penalty",
        "the penalty is half or twice as large as it should be; take l2‖w‖² in linear_regression, and ½ l2‖w‖² in "
        "logistic_regression",
        {"square() + l2": ["square() + l2 / 2", "square() + 2 * l2"]},
        {"[l2] *": ["[2 * l2] *", "[l2 / 2] *"]},
    ),
    Mistake(
        "penalty_squared",
        "the penalty is l2²‖w‖² in place of l2‖w‖²; if you append rows to x for it, they should hold √l2",
        {"square() + l2": "square() + l2**2"},
    ),
    Mistake(
        "normal_equations",
        "w comes from xᵀx, which squares the condition number, so equal or nearly equal columns can go wrong; use "
        "torch.linalg.svd of the centred x",
        {WEIGHTS: f"w = torch.linalg.solve({GRAM}, {MOMENTS})"},
        {WEIGHTS: [f"w = torch.linalg.{one}({GRAM}) @ {MOMENTS}" for one in ("inv", "pinv")]},
        {WEIGHTS: f"w = torch.linalg.pinv({GRAM}) @ ({MOMENTS})"},
        {WEIGHTS: f"w = torch.linalg.lstsq({GRAM}, ({MOMENTS})[:, None]).solution[:, 0]"},
        {WEIGHTS: f"w = torch.cholesky_solve(({MOMENTS})[:, None], torch.linalg.cholesky({GRAM}))[:, 0]"},
        {WEIGHTS: [PADDED_GRAM.replace("THETA", one) for one in OF_PADDED]},
    ),
    Mistake(
        "small_penalty_always",
        "a small penalty is added even if l2 is 0, which changes w if columns are nearly equal; leave "
        "it out, and use torch.linalg.svd of the centred x",
        {"square() + l2": [f"square() + l2 + {least}" for least in SMALL]},
        {WEIGHTS: [f"w = torch.linalg.solve({GRAM.replace('l2', f'(l2 + {one})')}, {MOMENTS})" for one in SMALL]},
    ),
    Mistake(
        "equal_columns_by_lstsq",
        "torch.linalg.lstsq can go wrong if columns are equal or constant: gelsy, its default, may miss the rank, "
        'and gels expects full rank; use driver="gelsd", pinv or svd',
        {WEIGHTS: [LSTSQ.replace("DRIVER", driver) for driver in ("None", "'gels'")]},
    ),
    Mistake(
        "rounding_inverted",
        "singular values that are only rounding errors are inverted; count those below s.max() · max(N, D) · eps as 0",
        {"s > rounding": "s > 0"},
    ),
    Mistake(
        "scaled_features_penalised",
        "the penalty is on the weights of standardised features; penalise the w that you return",
        {SVD: f"torch.linalg.svd((x - mean_x) / {SPREAD},", RESULT: f"w = w / {SPREAD}\n    {RESULT}"},
        {PADDED: PADDED.replace("x.double()", f"x.double() / {SPREAD}")}
        | {FITTED: FITTED.replace("theta[:-1]", f"(theta[:-1] / {SPREAD})")},
    ),
    Mistake(
        "square_factor",
        "the decomposition has an N × N factor; use full_matrices=False",
        {"=False": "=True", WEIGHTS: "w = Vh[: len(s)].T @ (inverse * (U[:, : len(s)].T @ (y - mean_y)))"},
        slow=True,
    ),
    Mistake(
        "l2_taken_for_c",
        "the penalty is multiplied by 1 / l2, as if l2 were scikit-learn's C; multiply it by l2",
        {"[l2] *": "[1 / l2] *"},
    ),
    Mistake(
        "l2_ignored",
        "l2 changes nothing in logistic_regression; multiply the penalty by it",
        {"[l2] *": "[1.0] *"},
    ),
    Mistake(
        "runs_away",
        "the fit does not arrive if there are outliers, as when Newton's steps are taken whole; halve a step until the "
        "loss falls",
        {HALVED: "while False:"},
        {HALVED: "while False:", STEP: "step = torch.linalg.pinv(hessian) @ gradient"},
        stops_early(OUTLIERS),
    ),
    Mistake(
        "not_arrived",
        "logistic_regression ends before the minimum, or near it, as when probabilities are clamped or float64 is cast "
        "to float32; use Newton's method, or L-BFGS with strong_wolfe and small tolerances, in float64 and until "
        "‖gradient‖ / N is below 1e-8",
        {ROUNDS: "range(15)", "theta = theta - step": "theta = theta - step / 2"},
        *(stops_early(ORDINARY, *others) for others in ((), (LARGE,), (OUTLIERS,), (SEPARABLE,), (FAR_ROW,))),
        {ROUNDS: [f"range({steps})" for steps in range(2, 7)]},
        by_lbfgs("", SEARCHED),
        after_a_step("gradient.norm() < 1e-2", "step.norm() < 1e-2"),
        *(nearly(ORDINARY, *others) for others in SOME_OF_THE_REST),
    ),
    Mistake(
        "not_arrived_if_separable",
        "the fit does not arrive if a line separates the classes and l2 is small; go on until ‖gradient‖ / N is below "
        "1e-8",
        stops_early(SEPARABLE),
    ),
    Mistake(
        "slow_for_large_features",
        "the fit does not arrive if features are large or far from 0, as with steps along the gradient; use Newton's "
        "method, or L-BFGS with strong_wolfe and small tolerances",
        stops_early(LARGE),
        {ROUNDS: "range(1000)", HALVED: "while False:"}
        | {STEP: "step = gradient / (torch.linalg.matrix_norm(X, 2) ** 2 / 4 + l2)"},
    ),
    Mistake(
        "labels_wrap",
        "labels are used in their own dtype, but −1 becomes 255 in uint8, and torch does not subtract a bool "
        "tensor; convert y to floats first",
        {SOFTPLUS: SOFTPLUS.replace("t)", "y)"), ERRORS: "(p - (1 - (1 - 2 * y)) / 2)"},
        {SOFTPLUS: SOFTPLUS.replace("1 - 2 * t", "-1.0 * (2 * y - 1)"), ERRORS: "(p - ((2 * y - 1) + 1.0) / 2)"},
        {ERRORS: "(p - y)"},
    ),
    Mistake(
        "classes_swapped",
        "w and b have the wrong sign; a large x · w + b should mean label 1",
        {TARGETS: "1 - y.double()"},
    ),
    Mistake(
        "probabilities_clamped",
        "a row counts for too little if its label is most improbable, as with log(p + 1e-12); compute the loss by "
        "F.softplus, and its gradient from p − y",
        stops_early(FAR_ROW),
    ),
    Mistake(
        "least_squares_on_labels",
        "logistic_regression fits the labels by least squares; minimise the logistic loss",
        {
            "return theta…": [
                f"return linear_regression(x, {one}, l2)" for one in ("2.0 * y.to(x.dtype) - 1", "y.to(x.dtype)")
            ]
        },
    ),
    Mistake(
        "labels_between",
        "labels between 0 and 1 are accepted; refuse all but 0 and 1",
        {"if y.unique().tolist() != [0, 1]:": "if (y.min(), y.max()) != (0, 1):"},
    ),
    Mistake(
        "square_table",
        "the Hessian's factors p (1 − p) stand on the diagonal of an N × N table; multiply the rows of X by them",
        {"(X * (p * (1 - p))[:, None])": "((p * (1 - p)).diag() @ X)"},
        slow=True,
    ),
    Mistake(
        "row_by_row",
        "a Python loop takes one row at a time; take all rows at once",
        {"gradient = X.T @ (p - t)": "gradient = sum(row * error for row, error in zip(X, p - t))"},
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
CENTRED = "w = Vh.T @ (inverse * (U.T @ (y - mean_y))) -> w = Vh.T @ (inverse * (U.T @ (y + mean_y)))"
ENDS = "if gradient.norm() < 1e-09 * len(x): -> if gradient.norm() "
ENOUGH = "the gradient is short enough anyway"
EQUIVALENT = {
    CENTRED: "the columns of U sum to 0, so that any constant may be added to y",
    "theta = torch.zeros_like(penalty) -> theta = penalty": "any start leads to the only minimum",
    "for _ in range(200): -> for _ in range(201):": ENOUGH,
    "for _ in range(200): -> for _ in range(199):": ENOUGH,
    f"{ENDS}<= 1e-09 * len(x):": ENOUGH,
    f"{ENDS}< 1e-09 / len(x):": ENOUGH,
    f"{ENDS}< 2e-09 * len(x):": ENOUGH,
    "step = step / 2 -> step = step / 3": "whatever makes the loss fall",
}
