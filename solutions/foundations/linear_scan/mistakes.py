"""Known wrong answers to linear_scan."""

from graders.kata import Mistake

ROUND = "x = torch.cat([x[:reach], op(x[:-reach], x[reach:])])"
WHILE, GROWS, RETURNED = "while reach < n:", "reach *= 2", "    return x\n"
SCAN = f"reach = 1…{GROWS}\n{RETURNED}"
START = "b = torch.cat([a[:, :1] * h0[:, None] + b[:, :1], b[:, 1:]], dim=1)"
FIRST = "a[:, :1] * h0[:, None] + b[:, :1]"
PAIR, OF_B = "torch.stack([a2 * a1, a2 * b1 + b2], dim=1)", "a2 * b1 + b2"
OWN_SCAN = {  # the recurrence is right, and has one of its own
    "    steps = torch": "    x, reach = torch",
    "(2, 0, 1, 3)  # (T, 2, B, D)": "(2, 0, 1, 3), 1\n    while reach < len(x):\n"
    "        x = torch.cat([x[:reach], then(x[:-reach], x[reach:])])\n        reach *= 2",
    "return associative_scan(then, steps)": "return x",
}
STEPS = "steps = torch.stack([a, b]).permute(2, 0, 1, 3)"
RESULT = "return associative_scan(then, steps)[:, 1].transpose(0, 1)"
BY_ROWS = """rows = [x[:1]]
    for i in range(1, n):
        rows.append(op(rows[-1], x[i : i + 1]))
    return torch.cat(rows)
"""
BY_PREFIX = """rows = []
    for i in range(n):
        row = x[:1]
        for j in range(1, i + 1):
            row = op(row, x[j : j + 1])
        rows.append(row)
    return torch.cat(rows)
"""
BY_HALVES = """if n == 1:
        return x
    left, right = associative_scan(op, x[: n // 2]), associative_scan(op, x[n // 2 :])
    return torch.cat([left, op({}, right)])
"""
CAUGHT = f"""try:
            {ROUND}
        except Exception as error:
            raise ValueError("op failed") from error"""
PADDED = (
    "more = (1 << (n - 1).bit_length()) - n\n    x = torch.cat([x, x[-1:].expand(more, *x.shape[1:])])\n    reach = 1 "
)
DIVIDED = """rows = associative_scan(torch.mul, a.transpose(0, 1)).transpose(0, 1)
    sums = associative_scan(torch.add, (b / {}).transpose(0, 1)).transpose(0, 1)
    return rows * sums"""
LOGARITHMS = """logs = associative_scan(torch.add, {}.log().transpose(0, 1)).transpose(0, 1)
    lasting = (logs[:, :, None] - logs[:, None]).exp()
    seen = torch.ones(a.shape[1], a.shape[1], dtype=torch.bool, device=a.device).tril()
    return torch.einsum("btsd,bsd->btd", lasting.masked_fill(~seen[:, :, None], 0), b)"""
TABLE = """T = a.shape[1]
    later = torch.ones(T, T, dtype=torch.bool, device=a.device).tril(-1)
    rows = torch.where(later[:, :, None], a[:, :, None], torch.ones_like(a[:, :, None]))
    lasting = associative_scan(torch.mul, rows.transpose(0, 1)).transpose(0, 1)
    seen = torch.ones(T, T, dtype=torch.bool, device=a.device).tril()
    return torch.einsum("btsd,bsd->btd", lasting.masked_fill(~seen[:, :, None], 0), b)"""
LOOP = """h, states = torch.zeros_like(b[:, 0]), []
    for t in range(b.shape[1]):
        h = a[:, t] * h + b[:, t]
        states.append(h)
    return torch.stack(states, dim=1)"""

MISTAKES = (
    Mistake(
        "op_arguments_swapped",
        "op gets the later block first; it takes the earlier one first, and the order matters",
        {ROUND: ROUND.replace("x[:-reach], x[reach:]", "x[reach:], x[:-reach]")},
        {
            ROUND: ROUND.replace("x[:-reach], x[reach:]", "x[reach:], x[:-reach]"),
            "def then(earlier: Tensor, later: Tensor)": "def then(later: Tensor, earlier: Tensor)",
        },
    ),
    Mistake(
        "row_by_row",
        "op is called for one row after the other, n − 1 times; let one call combine many "
        "pairs, in about log₂ n rounds",
        {SCAN: BY_ROWS},
        {SCAN: BY_ROWS, RESULT: "h = associative_scan(then, steps)\n    return h[:, 1].transpose(0, 1)"},
    ),
    Mistake(
        "every_product_anew",
        "the product of each row is made anew from the first row on, in n² / 2 calls; use what earlier rows have",
        {SCAN: BY_PREFIX},
    ),
    Mistake(
        "halves_one_by_one",
        "each half is scanned by calls of its own, n − 1 calls of op in all; let one call of op "
        "serve all pairs of a round",
        {SCAN: BY_HALVES.format("left[-1:].expand_as(right)")},
    ),
    Mistake(
        "one_row_against_many",
        "op gets one row and a block of many, and may not broadcast; both blocks should have one shape",
        {SCAN: BY_HALVES.format("left[-1:]")},
    ),
    Mistake(
        "padded_to_a_power_of_two",
        "x is padded to a power of two, so op gets up to twice as many rows as it should; scan the n rows alone",
        {"reach = 1 ": PADDED, "while reach < n": "while reach < len(x)", RETURNED: "    return x[:n]\n"},
    ),
    Mistake(
        "reach_grows_by_1",
        "the distance of the pairs grows by 1 from round to round, so entries count several times; double it",
        {GROWS: "reach += 1"},
    ),
    Mistake(
        "one_round_only",
        "each row is combined with its neighbour alone; go on with rows 2, 4, 8 … apart",
        {WHILE: "if reach < n:"},
    ),
    Mistake(
        "too_few_rounds",
        "the number of rounds is rounded down, so if n is no power of two, late rows lack early entries; go on while "
        "the distance is below n",
        {WHILE: "while reach * 2 <= n:"},
        {WHILE: "while reach * 2 < n:"},
        {WHILE: "while reach < n - 1:"},
        {WHILE: "while reach * 2 <= n:", **OWN_SCAN},
    ),
    Mistake(
        "one_round_too_many",
        "a last round calls op on blocks without rows; stop when the distance reaches n",
        {WHILE: "while reach <= n:"},
    ),
    Mistake(
        "exclusive_scan",
        "row i lacks x_i, as in an exclusive scan; it should be the product up to and including x_i",
        {RETURNED: "    return torch.cat([torch.zeros_like(x[:1]), x[:-1]])\n"},
        {RETURNED: "    return torch.cat([torch.ones_like(x[:1]), x[:-1]])\n"},
        {RETURNED: "    return torch.cat([x[:1], x[:-1]])\n"},
    ),
    Mistake(
        "from_the_end",
        "row i is the product from x_i to the last; it should be the product from the first to x_i",
        {ROUND: "x = torch.cat([op(x[:-reach], x[reach:]), x[-reach:]])"},
    ),
    Mistake(
        "last_product_for_all",
        "every row is the product of all; row i should be the product up to x_i",
        {RETURNED: "    return x[-1:].expand_as(x)\n"},
    ),
    Mistake(
        "written_in_place",
        "rows are overwritten while op's blocks or the backward pass still need them; make a new tensor in each round",
        {ROUND: "x[reach:] = op(x[:-reach], x[reach:])"},
        {"reach = 1 ": "x = x.clone()\n    reach = 1 ", ROUND: "x[reach:] = op(x[:-reach], x[reach:])"},
    ),
    Mistake(
        "one_row_refused",
        "an x of one row is refused or loses its row; its scan is x itself",
        {"if n == 0:": "if n < 2:"},
    ),
    Mistake(
        "errors_of_op_replaced",
        "an error of op comes out as another one; let it pass as it is",
        {ROUND: CAUGHT},
    ),
    Mistake(
        "h0_at_every_step",
        "h0 enters at every step; it is the state before the first step, so only h_1 = a_1 h0 + b_1 has it",
        {START: "b = b + a * h0[:, None]"},
        {START: "b = b + h0[:, None]"},
    ),
    Mistake(
        "h0_not_multiplied",
        "h0 is added to the first step as it is; multiply it by a_1",
        {FIRST: "h0[:, None] + b[:, :1]"},
    ),
    Mistake(
        "zeros_of_h0_skipped",
        "an h0 of zeros is left out, as by if h0.any(), so it gets no gradient; ask whether it is None",
        {"if h0 is not None:": "if h0 is not None and h0.any():"},
    ),
    Mistake("h0_ignored", "h0 changes nothing; begin with h_1 = a_1 h0 + b_1", {START: "pass"}),
    Mistake(
        "h0_for_the_first_state",
        "the first state is h0 or a_1 h0; it should be a_1 h0 + b_1",
        {FIRST: ["h0[:, None]", "a[:, :1] * h0[:, None]"]},
    ),
    Mistake(
        "h0_returned_first",
        "the states begin with h0 and lack the last one; return h_1 to h_T",
        {START: "a, b = torch.cat([a[:, -1:], a[:, :-1]], dim=1), torch.cat([h0[:, None], b[:, :-1]], dim=1)"},
    ),
    Mistake(
        "h0_added_to_the_states",
        "h0 is added to all states at the end; it fades by a at each step, so put it into the first step",
        {
            START: "pass",
            RESULT: f"h = {RESULT.removeprefix('return ')}\n    return h if h0 is None else h + h0[:, None]",
        },
    ),
    Mistake(
        "coefficient_of_the_step_before",
        "a state is multiplied by the coefficient of another step; h_t = a_t h_{t−1} + b_t",
        {STEPS: STEPS.replace("[a, b]", "[torch.cat([a[:, :1], a[:, :-1]], dim=1), b]")},
        {STEPS: STEPS.replace("[a, b]", "[torch.cat([a[:, 1:], a[:, :1]], dim=1), b]")},
    ),
    Mistake(
        "earlier_coefficient",
        "the map of two steps multiplies b_1 by the wrong coefficient; a_2 (a_1 h + b_1) + b_2 has a_2 b_1 + b_2",
        {OF_B: "a1 * b1 + b2"},
        {OF_B: "a2 * a1 * b1 + b2"},
    ),
    Mistake(
        "maps_in_the_other_order",
        "the later step is applied first, which gives a_1 b_2 + b_1; it should be a_2 b_1 + b_2",
        {OF_B: "a1 * b2 + b1"},
    ),
    Mistake(
        "coefficients_not_multiplied",
        "the coefficient of two steps is one of them, or their sum; it is their product a_2 a_1",
        {"a2 * a1, ": ["a2, ", "a1, ", "a2 + a1, "]},
    ),
    Mistake(
        "addend_inside",
        "b is multiplied by a or by 1 − a, as in other recurrences; h_t = a_t h_{t−1} + b_t",
        {STEPS: STEPS.replace("[a, b]", "[a, a * b]")},
        {STEPS: STEPS.replace("[a, b]", "[a, (1 - a) * b]")},
    ),
    Mistake(
        "divided_by_the_products",
        "b is divided by the products of a, which is 0/0 if an a is 0, and overflows if they are tiny; scan the maps "
        "h -> a h + b instead",
        {f"{STEPS}  # (T, 2, B, D)\n    {RESULT}": DIVIDED.format("rows")},
        {f"{STEPS}  # (T, 2, B, D)\n    {RESULT}": DIVIDED.format("(rows + 1e-12)")},
        {f"{STEPS}  # (T, 2, B, D)\n    {RESULT}": DIVIDED.format("torch.where(rows == 0, 1, rows)")},
    ),
    Mistake(
        "logarithms_of_the_coefficients",
        "the products of a are taken by logarithms, but a may be negative or 0; scan the maps h -> a h + b instead",
        {f"{STEPS}  # (T, 2, B, D)\n    {RESULT}": LOGARITHMS.format("a")},
        {f"{STEPS}  # (T, 2, B, D)\n    {RESULT}": LOGARITHMS.format("a.abs()")},
        {f"{STEPS}  # (T, 2, B, D)\n    {RESULT}": LOGARITHMS.format("a.abs().clamp(min=1e-12)")},
        {f"{STEPS}  # (T, 2, B, D)\n    {RESULT}": LOGARITHMS.format("a.abs().clamp(min=1e-30)")},
    ),
    Mistake(
        "coefficients_clamped",
        "coefficients are clamped, made positive or sent through a sigmoid; use any a as it is",
        {STEPS: STEPS.replace("[a, b]", "[a.clamp(min=0), b]")},
        {STEPS: STEPS.replace("[a, b]", "[a.clamp(-0.999, 0.999), b]")},
        {STEPS: STEPS.replace("[a, b]", "[a.abs(), b]")},
        {STEPS: STEPS.replace("[a, b]", "[a.sigmoid(), b]")},
    ),
    Mistake(
        "scan_over_the_batch",
        "the scan runs along the batch; it should run along time, so bring axis 1 to the front",
        {STEPS: STEPS.replace("2, 0, 1, 3", "1, 0, 2, 3"), RESULT: RESULT.removesuffix(".transpose(0, 1)")},
    ),
    Mistake(
        "products_of_all_pairs",
        "a T × T table holds the products of a for all pairs of steps; scan the maps h -> a h + b instead",
        {f"{STEPS}  # (T, 2, B, D)\n    {RESULT}": TABLE},
        slow=True,
    ),
    Mistake(
        "step_by_step",
        "linear_recurrence goes through the T steps in a Python loop; scan the maps h -> a h + b instead",
        {f"{STEPS}  # (T, 2, B, D)\n    {RESULT}": LOOP},
        slow=True,
    ),
)

EQUIVALENT = {
    f"{RESULT} -> {RESULT.replace('(0, 1)', '(1, 0)')}": "a swap of two axes is the same either way round",
    "if h0.shape != a[:, 0].shape: -> if h0.shape != a[:, -1].shape:": "all steps have one shape",
}
FIXED = {"length of name": "the name of an op, which the submission does not see"}
