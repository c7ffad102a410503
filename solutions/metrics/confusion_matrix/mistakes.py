"""Known wrong answers to confusion_matrix."""

from graders.kata import Mistake

TRUE_CHECK = "if ((true < 0) | (true >= C)).any():"
PREDICTED_CHECK = "if ((predicted < 0) | (predicted >= C)).any():"
CELL = "cell = true * C + predicted"
COUNTS = "torch.bincount(cell, minlength=C * C)"
RESULT = f"{COUNTS}.view(C, C)"
NARROW = {
    TRUE_CHECK: "if ((true < 0) | (y_true >= C)).any():",
    PREDICTED_CHECK: "if ((predicted < 0) | (y_pred >= C)).any():",
}
UNCHECKED = {TRUE_CHECK: "if False:", PREDICTED_CHECK: "if False:"}
KEPT = "keep = (true >= 0) & (true < C) & (predicted >= 0) & (predicted < C)"


def instead(lines: str) -> dict[str, str]:
    """Another way to count, from the labels on."""
    return {CELL: lines.replace("\n", "\n    "), f"    return {RESULT}\n": ""}


MISTAKES = (
    Mistake(
        "transposed",
        "rows and columns are swapped; a row is a true class, a column a predicted one",
        {CELL: "cell = predicted * C + true"},
    ),
    Mistake(
        "cells_overflow",
        "the cells are computed in a narrow dtype, such as the labels' own, where true · C + predicted does not "
        "fit; use int64",
        {CELL: ["cell = (y_true * C + y_pred).long()", "cell = y_true * C + y_pred"]},
        {CELL: ["cell = (y_true * C + y_pred).long() % (C * C)", "cell = true.short() * C + predicted.short()"]},
    ),
    Mistake(
        "number_of_classes_overflows",
        "the labels are compared with num_classes in their own dtype, where 256 may wrap to 0; compare them in int64",
        NARROW,
        {TRUE_CHECK: NARROW[TRUE_CHECK]},
        {PREDICTED_CHECK: NARROW[PREDICTED_CHECK]},
    ),
    Mistake(
        "counts_overflow",
        "the counts are kept in a narrow dtype, which overflows or rounds where many samples are in one cell; "
        "count in int64",
        {RESULT: f"{COUNTS}.to(y_true.dtype).long().view(C, C)"},
        {RESULT: [f"{COUNTS}.short().long().view(C, C)", f"{COUNTS}.half().long().view(C, C)"]},
    ),
    Mistake(
        "classes_from_the_labels",
        "the number of classes is taken from the labels, where some classes may not occur; use num_classes",
        {CELL: f"C = int(max(true.max(), predicted.max())) + 1\n    {CELL}"},
        {CELL: f"C = len(torch.unique(torch.cat([true, predicted])))\n    {CELL}"},
    ),
    Mistake(
        "classes_renumbered",
        "the labels are replaced by their rank among those that occur, so that classes move; label i should be row i",
        {
            CELL: "both = torch.unique(torch.cat([true, predicted]), return_inverse=True)[1]\n"
            "    cell = both[: len(true)] * C + both[len(true) :]",
        },
    ),
    Mistake(
        "last_cells_missing",
        "the counts end at the last cell that occurs and do not fill the matrix; ask for C · C counts",
        {COUNTS: ["torch.bincount(cell)", "torch.bincount(cell, minlength=C)"]},
    ),
    Mistake(
        "repeated_cells_count_once",
        "an indexed += adds 1 only once where a cell occurs several times; use bincount, or index_put_ with "
        "accumulate=True",
        instead("matrix = torch.zeros(C, C, dtype=torch.int64)\nmatrix[true, predicted] += 1\nreturn matrix"),
    ),
    Mistake(
        "positive_class_first",
        "with two classes the matrix begins with TP, the cell of class 1; it should be [[TN, FP], [FN, TP]]",
        {f"return {RESULT}": f"matrix = {RESULT}\n    return matrix.flip(0, 1) if C == 2 else matrix"},
        {f"return {RESULT}": f"matrix = {RESULT}\n    return matrix.flip(0, 1).T if C == 2 else matrix"},
    ),
    Mistake(
        "shares",
        "the counts are divided by the sums of the rows or by N; return the counts",
        {
            f"return {RESULT}": [
                f"matrix = {RESULT}\n    return matrix / matrix.sum(1, keepdim=True){least}"
                for least in ("", ".clamp_min(1)")
            ]
        },
        {RESULT: f"{RESULT} / len(true)"},
    ),
    Mistake(
        "not_int64",
        "the result is not int64; return the counts as int64",
        {RESULT: [f"{RESULT}.float()", f"{RESULT}.int()"]},
    ),
    Mistake(
        "matrix_used_again",
        "every call returns the same matrix, so a later call changes an earlier result; make a new one each time",
        {
            f"return {RESULT}": "zeros = torch.zeros(C, C, dtype=torch.int64)\n"
            f"    return globals().setdefault(f'matrix_of_{{C}}', zeros).copy_({RESULT})"
        },
    ),
    Mistake(
        "one_class_squeezed",
        "axes of length 1 are squeezed away; with one class the result should be (1, 1)",
        {RESULT: f"{RESULT}.squeeze()"},
    ),
    Mistake(
        "labels_half_checked",
        "bad labels get through; refuse those below 0 and those from C on, in both inputs",
        {PREDICTED_CHECK: "if False:"},
        {TRUE_CHECK: "if False:"},
        UNCHECKED,
        {TRUE_CHECK: "if (true >= C).any():", PREDICTED_CHECK: "if (predicted >= C).any():"},
        {TRUE_CHECK: "if (true < 0).any():", PREDICTED_CHECK: "if (predicted < 0).any():"},
    ),
    Mistake(
        "narrowed_before_the_check",
        "the labels are cast to 32 bits or fewer before the check, where 2³² wraps to 0; check them in int64",
        {"true, predicted = …": "true, predicted = y_true.int().long(), y_pred.int().long()"},
        {"true, predicted = …": "true, predicted = y_true.short().long(), y_pred.short().long()"},
    ),
    Mistake(
        "only_the_cells_checked",
        "only the cell numbers are checked, so a prediction of −1 counts in the last column of the row above; check "
        "both labels",
        UNCHECKED | {CELL: f"{CELL}\n    assert ((cell >= 0) & (cell < C * C)).all()"},
    ),
    Mistake(
        "bad_labels_left_out",
        "samples with labels out of range are left out, or their labels are clamped; raise ValueError",
        UNCHECKED | {CELL: f"{KEPT}\n    true, predicted = true[keep], predicted[keep]\n    {CELL}"},
        UNCHECKED | {CELL: "cell = true.clamp(0, C - 1) * C + predicted.clamp(0, C - 1)"},
    ),
    Mistake(
        "label_255_left_out",
        "samples with label 255 are left out, as unlabelled pixels often are; with more than 255 classes, 255 is a "
        "class like any other",
        {CELL: [f"{CELL}\n    cell = cell[{name} != 255]" for name in ("true", "predicted")]},
        {CELL: f"{CELL}\n    cell = cell[(true != 255) & (predicted != 255)]"},
    ),
    Mistake(
        "left_to_the_index",
        "the labels are not checked: as an index, −1 means the last class, and C raises IndexError; raise ValueError "
        "for both",
        UNCHECKED
        | instead(
            "matrix = torch.zeros(C, C, dtype=torch.int64)\n"
            "return matrix.index_put_((true, predicted), torch.tensor(1), accumulate=True)"
        ),
    ),
    Mistake("another_library", {RESULT: f"torch.from_numpy(__import__('numpy').{COUNTS[6:]}).view(C, C)"}),
    Mistake(
        "loop_over_the_classes",
        "a Python loop counts one class or one cell after the other; count all cells with one call",
        instead("return torch.stack([torch.bincount(predicted[true == c], minlength=C) for c in range(C)])"),
        {f"return {RESULT}": "return torch.stack([(cell == c).sum() for c in range(C * C)]).view(C, C)"},
        slow=True,
    ),
    Mistake(
        "one_hot",
        "a table of N · C numbers or more is made; one integer for each sample, the index of its cell, is enough",
        instead("one_hot = torch.nn.functional.one_hot\nreturn one_hot(true, C).T @ one_hot(predicted, C)"),
        instead("one = torch.eye(C, dtype=torch.float64)\nreturn (one[true].T @ one[predicted]).long()"),
        {f"return {RESULT}": "return (cell[:, None] == torch.arange(C * C)).sum(0).view(C, C)"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "*sizes": "parts of one batch, which are counted apart",
}
