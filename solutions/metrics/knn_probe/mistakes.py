"""Known wrong answers to knn_probe."""

from graders.kata import Mistake

UNIT = "unit = F.normalize(train_x, dim=1)"
LOOP = "for start in range(0, len(test_x), CHUNK):"
SIMILARITY = "similarity = x @ unit.T"
EXPANDED = "2 * x @ unit.T - x.square().sum(1, keepdim=True) - unit.square().sum(1)"  # −‖x − t‖²
ONES = "torch.ones_like(nearest)"
COUNT = f"votes.scatter_add_(1, train_class[nearest], {ONES})"
NEAREST = "train_y[nearest.gather(1, votes.gather(1, train_class[nearest]).argmax(1, keepdim=True))[:, 0]]"
RESULT = "return correct / len(test_y)"
TABLE = "torch.zeros(len(x), len(classes), dtype={})"
WEIGHTED = {"votes = …": f"votes = {TABLE.format('x.dtype')}"}
CHUNK_MEANS = {
    "correct += …": "correct += float((predicted == y).double().mean())",
    RESULT: "return correct / len(range(0, len(test_x), CHUNK))",
}


def counted_in(dtype: str) -> dict[str, str]:
    return {"votes = …": f"votes = {TABLE.format(dtype)}", ONES: f"{ONES}.to(votes.dtype)"}


MISTAKES = (
    Mistake(
        "not_normalised",
        "the training rows are not normalised, so that long ones count as near; divide each by its norm",
        {UNIT: "unit = train_x"},
    ),
    Mistake(
        "euclidean",
        "the nearest rows are taken by Euclidean distance; take those with the largest cosine",
        {UNIT: "unit = train_x", SIMILARITY: "similarity = -torch.cdist(x, unit)"},
        {UNIT: "unit = train_x", SIMILARITY: "similarity = -(x[:, None] - unit).square().sum(2)"},
        {UNIT: "unit = train_x", SIMILARITY: f"similarity = {EXPANDED}"},
    ),
    Mistake(
        "coarser_than_float64",
        "cosines that differ by 1e-9 are mixed up, by float32 on the way or by a constant added to the lengths; keep "
        "float64, and divide by the length alone",
        {UNIT: "unit = train_x / (train_x.norm(dim=1, keepdim=True) + 1e-8)"},
        {UNIT: "unit = F.normalize(train_x.float(), dim=1)", SIMILARITY: "similarity = x.float() @ unit.T"},
        {SIMILARITY: "similarity = x.float() @ unit.float().T"},
        {SIMILARITY: "similarity = F.normalize(x, dim=1).float() @ unit.float().T"},
    ),
    Mistake(
        "squares_in_half_precision",
        "float16 rows are squared as they are: 300² is infinite there, and 1e-4² is 0; use F.normalize or norm",
        {UNIT: "unit = train_x * train_x.square().sum(dim=1, keepdim=True).rsqrt()"},
    ),
    Mistake(
        "least_similar",
        "the k rows that are least similar are taken; a large cosine means near",
        {"topk(k)": "topk(k, largest=False)"},
    ),
    Mistake(
        "first_is_skipped",
        "the nearest training row, or each one with the direction of the test row, is left out; all k nearest rows "
        "vote",
        {"topk(k).indices": "topk(min(k + 1, len(unit))).indices[:, 1:]"},
        # only where it is the same row
        {"similarity.topk": "similarity.masked_fill(F.normalize(x, dim=1) @ unit.T > 1 - 1e-6, -torch.inf).topk"},
    ),
    Mistake(
        "one_row_never_votes",
        "k is at most N − 1, as if the test row were one of the training rows; all N rows may vote",
        {"k = min(…": "k = min(k, max(len(train_x) - 1, 1))"},
        {  # of equal cosines another one comes last
            "k = min(…": "k = min(k, max(len(train_x) - 1, 1))",
            SIMILARITY: "similarity = x @ train_x.T / train_x.norm(dim=1) / x.norm(dim=1, keepdim=True)",
        },
    ),
    Mistake(
        "ties_to_the_largest",
        "where labels have equally many votes the largest label wins; the smallest should",
        {"votes.argmax(dim=1)": "len(classes) - 1 - votes.flip(1).argmax(dim=1)"},
    ),
    Mistake(
        "ties_to_the_nearest",
        "where labels have equally many votes the nearest neighbour's label wins; the smallest label should",
        {"classes[votes.argmax(dim=1)]": NEAREST},
    ),
    Mistake(
        "weighted_votes",
        "nearer neighbours have more weight; each of the k neighbours has one vote",
        WEIGHTED | {ONES: "(similarity.gather(1, nearest) / 0.07).exp()"},
        WEIGHTED | {ONES: "(similarity.gather(1, nearest) / x.norm(dim=1, keepdim=True) / 0.07).exp()"},
        WEIGHTED | {ONES: "similarity.gather(1, nearest)"},
    ),
    Mistake(
        "counts_overflow",
        "the votes are counted in a narrow dtype, where they wrap around or stop growing; count in int64",
        counted_in("torch.uint8"),
        counted_in("torch.float16"),
        counted_in("x.dtype"),
    ),
    Mistake(
        "mean_of_chunk_means",
        "the means of the chunks are averaged, although the last chunk may be smaller; add up the right predictions",
        CHUNK_MEANS,
        CHUNK_MEANS | {"CHUNK = 256": "CHUNK = 128"},
    ),
    Mistake(
        "last_chunk_lost",
        "the test rows that fill no whole chunk are left out; the last chunk is smaller, and also counts",
        {LOOP: "for start in range(0, max(1, len(test_x) - CHUNK + 1), CHUNK):"},
    ),
    Mistake(
        "unknown_labels_mapped",
        "test labels are replaced by their place among the training labels, which unknown labels do not have; compare "
        "the labels themselves",
        {"correct += …": "correct += int((votes.argmax(dim=1) == torch.searchsorted(classes, y)).sum())"},
    ),
    Mistake(
        "unknown_labels_left_out",
        "test rows whose label no training row has are left out of the accuracy; they count as wrong",
        {RESULT: "return correct / max(1, int(torch.isin(test_y, classes).sum()))"},
    ),
    Mistake("percent", "the result is in percent; return a share from 0 to 1", {RESULT: f"{RESULT} * 100"}),
    Mistake(
        "whole_table",
        "too large a table is kept: all M × N cosines, or D numbers for each pair; take one product (@) for each "
        "chunk of test rows",
        {LOOP: "for _ in [0]:", "x, y = …": "x, y = test_x, test_y"},
        {SIMILARITY: "similarity = F.cosine_similarity(x[:, None], unit[None], dim=2)"},
        slow=True,
    ),
    Mistake(
        "loop_over_the_rows",
        "a Python loop compares one test row at a time; compare a chunk of them with one product",
        {LOOP: "for start in range(len(test_x)):", "x, y = …": "x, y = test_x[start, None], test_y[start, None]"},
        slow=True,
    ),
    Mistake(
        "loop_over_the_votes",
        "a Python loop counts the votes class by class, or neighbour by neighbour; count all with one call",
        {COUNT: "for c in range(len(classes)):\n            votes[:, c] = (train_class[nearest] == c).sum(1)"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    "CHUNK = 256 -> CHUNK = 257": "the size of the chunks does not matter",
    "CHUNK = 256 -> CHUNK = 255": "the size of the chunks does not matter",
    "k = min(k, len(train_x)) -> k = min(len(train_x), k)": "the smaller of two numbers is the same in either order",
    "unit = F.normalize(train_x, dim=1) -> unit = F.normalize(train_x)": "1 is the default of dim",
}
