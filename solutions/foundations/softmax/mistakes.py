"""Known wrong answers to softmax and log_softmax."""

from graders.kata import Mistake

MAX = "amax(dim, keepdim=True)"
S_START, L_START = f"exponentials = (x - x.{MAX}).exp()", f"shifted = x - x.{MAX}"
S_SUM, L_SUM = "exponentials.sum(dim, keepdim=True)", "shifted.exp().sum(dim, keepdim=True)"
P, LOG_P = f"exponentials / {S_SUM}", f"shifted - {L_SUM}.log()"
S_END, L_END = f"return {P}", f"return {LOG_P}"
TWO_S, TWO_L = {S_START: S_START.replace("exp()", "exp2()")}, {L_SUM: L_SUM.replace("exp()", "exp2()")}
BASE_S = {S_START: S_START.replace(f"(x - x.{MAX}).exp()", f"10 ** (x - x.{MAX})")}
BASE_L = {L_SUM: L_SUM.replace("shifted.exp()", "(10**shifted)")}
PARTS = ((S_START, S_END), (L_START, L_END))
CAST = f"{{0}}.float() if {{0}}.dtype.itemsize < 4 else {{0}} - {{0}}.{MAX}"
ONE_BY_ONE = "sum(shifted.exp().unbind(dim)).unsqueeze(dim)"
QUOTIENT = f"(shifted.exp() / {L_SUM})"
L_STARTS = (L_START, f"{L_START}.detach()")
SIGNS = ("shifted + ", "-shifted + ")
CUT = "shape, x, dim = x.shape, x.reshape(-1, x.shape[dim]), 1\n    "
NAMES = tuple(f"def {name}(x: Tensor, dim: int = -1)" for name in ("softmax", "log_softmax"))
OWN = """import torch
from torch import Tensor


class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, dim):
        ctx.dim = dim
        ctx.save_for_backward(y)
        return y.clone()

    @staticmethod
    def backward(ctx, g):
        (y,), dim = ctx.saved_tensors, ctx.dim
        return GRADIENT, None, None
"""
ROWS = "y.movedim(dim, -1)"
JACOBIAN = f"({ROWS}.diag_embed() - {ROWS}[..., None] * {ROWS}[..., None, :])"


def both(*pairs: tuple[dict[str, str], dict[str, str]]) -> list[dict[str, str]]:
    """Each pair of edits in both functions, in softmax alone, and in log_softmax alone."""
    return [one for softmax, logarithm in pairs for one in (softmax | logarithm, softmax, logarithm)]


def shifted(*by: str) -> list[dict[str, str]]:
    """What exp is taken of."""
    return both(*(({S_START: f"exponentials = ({one}).exp()"}, {L_START: f"shifted = {one}"}) for one in by))


def of_another_x(*others: str) -> list[dict[str, str]]:
    return shifted(*(f"{x} - {x}.{MAX}" for x in others))


def results(softmax: str, log_softmax: str) -> list[dict[str, str]]:
    return both(({S_END: f"return {softmax}"}, {L_END: f"return {log_softmax}"}))


def unshifted(softmax: str, log_softmax: str) -> list[dict[str, str]]:
    """Of exponentials of x itself: with another sum, the shift does not cancel."""
    starts = {S_START: "exponentials = x.exp()"}, {L_START: "shifted = x"}
    return both((starts[0] | {S_END: f"return {softmax}"}, starts[1] | {L_END: f"return {log_softmax}"}))


def logs(*others: str) -> list[dict[str, str]]:
    return [{L_END: f"return {one}"} for one in others]


def along(dim: str) -> list[dict[str, str]]:
    return both(tuple({text: text.replace("(dim", f"({dim}") for text in texts} for texts in PARTS))


def backward(gradient: str, result: str = P) -> dict[str, str]:
    """A backward pass of one's own: y is the result, g the gradient that arrives."""
    own = f"return Own.apply(x, ({result}).detach(), dim)"
    return {"from torch import Tensor\n": OWN.replace("GRADIENT", gradient), f"return {result}": own}


MISTAKES = (
    Mistake(
        "no_max_shift",
        "exp overflows, or all of its results underflow; subtract the largest number along dim first",
        *shifted("x"),
    ),
    Mistake(
        "cast_but_not_shifted",
        *both(
            (
                {S_START: f"exponentials = ({CAST.format('x')}).exp()", S_END: f"return ({P}).to(x.dtype)"},
                {L_START: f"shifted = {CAST.format('x')}", L_END: f"return ({LOG_P}).to(x.dtype)"},
            )
        ),
    ),
    Mistake(
        "one_maximum_for_everything",
        "the maximum of the whole tensor is subtracted, so vectors far below it underflow; take the maximum of "
        "each vector, along dim",
        *shifted("x - x.amax()", "x - x.max()", "x - x.max().detach()"),
    ),
    Mistake(
        "maximum_along_another_axis",
        "the maximum is taken along another axis than the sum; both should run along dim",
        *shifted("x - x.amax(-1, keepdim=True)", "x - x.amax(0, keepdim=True)"),
    ),
    Mistake(
        "not_the_maximum",
        "something other than the largest number along dim is subtracted, so exp overflows, or all of its results "
        "underflow; subtract the maximum",
        *shifted(
            *(f"x - x.abs().{MAX}", f"x - x.{MAX}.clamp_min(0)", f"x - x.nan_to_num(neginf=0).{MAX}"),
            *("x - x.mean(dim, keepdim=True)", "x - x.mean()", f"x + x.{MAX}", f"x + x.{MAX}.detach()"),
        ),
    ),
    Mistake(
        "log_of_softmax",
        "the log is taken of the softmax, which is 0 far below the maximum; with z = x − max, return z − log Σ exp z",
        {L_END: f"return {QUOTIENT}.log()"},
        {L_START: "shifted = x", L_END: f"return {QUOTIENT}.log()"},
    ),
    Mistake(
        "log_kept_finite",
        "a constant keeps the softmax away from 0 before its log is taken, so no result is below the constant's "
        "log; write the log of the quotient as a difference",
        *logs(*(f"{QUOTIENT}.{kept}(1e-{n}).log()" for n in (12, 10, 9, 8, 7, 6) for kept in ("add", "clamp_min"))),
    ),
    Mistake(
        "default_of_dim_as_elsewhere",
        "the default of dim is 0 or 1; it should be -1, the last axis",
        *both(*(({NAMES[0]: NAMES[0].replace("-1", n)}, {NAMES[1]: NAMES[1].replace("-1", n)}) for n in "01")),
    ),
    *(
        Mistake(f"{axis}_axis_always", f"dim is ignored, and the {axis} axis used; use dim", *along(dim))
        for axis, dim in (("last", "-1"), ("second", "1"), ("first", "0"))
    ),
    Mistake(
        "axis_of_the_sum_dropped",
        "the sum has lost the axis dim, so it lines up with another axis; keep dim with length 1",
        *results(P.replace(", keepdim=True", ""), LOG_P.replace(", keepdim=True", "")),
        *unshifted(P.replace(", keepdim=True", ""), LOG_P.replace(", keepdim=True", "")),
    ),
    Mistake(
        "axis_of_the_maximum_dropped",
        "the maximum has lost the axis dim, so it lines up with another axis; keep dim with length 1",
        *shifted("x - x.amax(dim)"),
        {
            S_START: "exponentials = (x - x.amax(dim)).exp()",
            S_END: f"return {P.replace(', keepdim=True', '')}",
            L_START: "shifted = x - x.amax(dim)",
            L_END: f"return {LOG_P.replace(', keepdim=True', '')}",
        },
    ),
    Mistake(
        "not_moved_back",
        "dim is moved to the end and not back to its own place; movedim(-1, dim) puts the last axis back there",
        *results(f"({P}).movedim(dim, -1)", f"({LOG_P}).movedim(dim, -1)"),
        *results(f"({P}).movedim(dim, -1).movedim(dim, -1)", f"({LOG_P}).movedim(dim, -1).movedim(dim, -1)"),
    ),
    Mistake(
        "sum_of_everything",
        "the sum runs over the whole tensor; it should run along dim",
        *results(P.replace("dim, keepdim=True", ""), LOG_P.replace("dim, keepdim=True", "")),
        *unshifted(P.replace("dim, keepdim=True", ""), LOG_P.replace("dim, keepdim=True", "")),
    ),
    Mistake(
        "rows_cut_anew",
        "reshape cuts rows that do not lie along dim; first move dim to the end with movedim, and move it back "
        "afterwards",
        *both(tuple({start: CUT + start, end: f"return ({end[7:]}).reshape(shape)"} for start, end in PARTS)),
    ),
    Mistake(
        "nan_hidden",
        "a vector of nothing but −∞, such as a single −∞, gives finite numbers or −∞; it should give NaN, as in torch",
        *both(
            (
                {S_END: f"return ({P}).nan_to_num(0)"},
                {L_END: f"return ({LOG_P}).nan_to_num(-float('inf'), neginf=-float('inf'))"},
            ),
            (
                {S_END: f"return ({P}).nan_to_num(1) if x.shape[dim] == 1 else {P}"},
                {L_END: f"return ({LOG_P}).nan_to_num(0) if x.shape[dim] == 1 else {LOG_P}"},
            ),
        ),
    ),
    Mistake(
        "minus_infinity_replaced",
        "−∞ is replaced by a very negative number, which shows in the result, or which float16 cannot hold; keep −∞",
        *of_another_x("x.nan_to_num()", *(f"x.masked_fill(x.isneginf(), -1e{n})" for n in (9, 4))),
    ),
    Mistake(
        "clamped",
        "numbers are clamped so that exp does not overflow, which changes them; subtract the maximum instead",
        *of_another_x("x.clamp(-80, 80)", "x.clamp(-50, 50)", "x.clamp(-500, 500)", "x.clamp(max=80)"),
    ),
    Mistake(
        "eps_in_the_sum",
        *results(f"exponentials / ({S_SUM} + 1e-8)", f"shifted - ({L_SUM} + 1e-8).log()"),
    ),
    Mistake(
        "maximum_subtracted_once",
        "the maximum is subtracted only inside the sum; subtract it from x as well, or add it to the log of the sum",
        *logs(LOG_P.replace("shifted - ", "x - ")),
        {L_START: f"shifted = x - x.{MAX}.detach()", L_END: f"return {LOG_P.replace('shifted - ', 'x - ')}"},
    ),
    Mistake(
        "maximum_subtracted_outside",
        "the maximum is subtracted from x, but not inside the sum; subtract it in both places",
        *({L_START: start, L_END: L_END.replace("shifted.exp()", "x.exp()")} for start in L_STARTS),
    ),
    Mistake(
        "maximum_subtracted_twice",
        "the maximum is subtracted once more than it should be; it is out of x and out of the sum already",
        *({L_START: start, L_END: f"{L_END} - x.{MAX}"} for start in L_STARTS),
        {L_START: L_STARTS[1], L_END: f"{L_END} - x.{MAX}.detach()"},
    ),
    Mistake(
        "maximum_detached_once",
        "the maximum is detached in one of its two places only, so the gradient at the maximum is wrong; detach both, "
        "or neither",
        {L_START: L_STARTS[1], L_END: f"return x - (x.{MAX} + {L_SUM}.log())"},
        {L_END: f"return x - x.{MAX}.detach() - {L_SUM}.log()"},
    ),
    Mistake(
        "log_left_out",
        "log_softmax subtracts a sum instead of its log; subtract the log of the sum of the exponentials",
        *({L_START: start, L_END: L_END.replace(".log()", "")} for start in L_STARTS),
        *(
            {L_START: start, L_END: f"{L_END.partition(' - ')[0]} - shifted.sum(dim, keepdim=True)"}
            for start in L_STARTS
        ),
        {L_START: "shifted = x", L_END: L_END.replace(".log()", "")},
    ),
    Mistake(
        "log_forgotten",
        "log_softmax returns the probabilities themselves; return their log, taken without computing them first",
        *({L_START: start, L_END: f"return {QUOTIENT}"} for start in (*L_STARTS, "shifted = x")),
    ),
    Mistake(
        "log_of_the_sum_added",
        "log_softmax adds the log of the sum, or has the opposite sign; subtract that log from x",
        *({L_START: start, L_END: L_END.replace("shifted - ", sign)} for start in L_STARTS for sign in SIGNS),
    ),
    Mistake(
        "powers_of_2",
        "the powers are of 2, or of another base than e; take exp",
        *both((TWO_S, TWO_L)),
        *both((BASE_S, BASE_L)),
    ),
    Mistake(
        "another_logarithm",
        "log_softmax takes log2, log10 or log1p; take the natural logarithm of the softmax itself",
        *logs(*(LOG_P.replace("log()", f"{log}()") for log in ("log2", "log10"))),
        *logs(*(f"{QUOTIENT}.{log}()" for log in ("log2", "log10", "log1p"))),
        *({L_START: "shifted = x", L_END: f"return {QUOTIENT}.{log}()"} for log in ("log2", "log10", "log1p")),
    ),
    Mistake(
        "mean_for_sum",
        "the exponentials are averaged along dim; sum them",
        *results(P.replace(".sum(", ".mean("), LOG_P.replace(".sum(", ".mean(")),
    ),
    Mistake(
        "exponent_negative",
        "exp is taken of −x, so the largest number gets the least; take it of x",
        *shifted("-x", f"x.{MAX} - x"),
    ),
    Mistake(
        "divided_by_the_maximum",
        "x is divided by its maximum, which changes the differences; subtract the maximum",
        *shifted(f"x / x.{MAX}"),
    ),
    Mistake(
        "not_divided",
        "the sum along dim is not used; divide by it in softmax, and subtract its log in log_softmax",
        *results("exponentials", "shifted"),
    ),
    Mistake(
        "sum_detached",
        "the sum is detached, so the gradient misses how the sum depends on x; keep the graph of the sum",
        *results(f"{P}.detach()", f"{LOG_P}.detach()"),
    ),
    Mistake("half_becomes_float32", *of_another_x("(x.float() if x.dtype.itemsize < 4 else x)")),
    Mistake(
        "diagonal_of_the_jacobian",
        "backward uses only the diagonal of the Jacobian, but each result depends on all numbers along dim; include "
        "the terms off the diagonal",
        backward("g * y * (1 - y)"),
        backward("g * (1 - y.exp())", LOG_P),
    ),
    Mistake(
        "another_jacobian",
        "backward multiplies by another matrix than the Jacobian, y_i ([i = j] − y_j); derive its product with g anew",
        *(
            backward(one)
            for one in (
                "y * (g - g.sum(ctx.dim, True))".replace("ctx.", ""),
                "g * y - (g * y).sum(dim, True)",
                "g - y",
                "g * y",
            )
        ),
    ),
    Mistake(
        "gradients_taken_to_add_up_to_1",
        "backward of log_softmax returns g − p, as in cross-entropy, where g adds up to 1 along dim; it should be "
        "g − p Σ g",
        backward("g - y.exp()", LOG_P),
    ),
    Mistake(
        "backward_along_the_last_axis",
        "backward sums along the last axis, whatever dim is; sum along dim",
        backward("y * (g - (g * y).sum(-1, True))"),
    ),
    Mistake(
        "backward_over_everything",
        "backward sums over the whole tensor; sum along dim",
        backward("y * (g - (g * y).sum())"),
        backward("g - y.exp() * g.sum()", LOG_P),
    ),
    Mistake(
        "jacobian_built",
        "backward builds a C × C Jacobian for each vector; multiply by it without building it",
        backward(f"({JACOBIAN} @ g.movedim(dim, -1)[..., None])[..., 0].movedim(-1, dim)"),
        slow=True,
    ),
    Mistake(
        "one_by_one",
        "a Python loop goes over the numbers along dim; reduce along dim with one call",
        {L_END: f"return shifted - {ONE_BY_ONE}.log()"},
        {L_END: f"return shifted - ({ONE_BY_ONE} if dim % x.dim() < x.dim() - 1 else {L_SUM}).log()"},
        slow=True,
    ),
)

EQUIVALENT: dict[str, str] = {}
