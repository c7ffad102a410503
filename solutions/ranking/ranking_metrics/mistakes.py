"""Known wrong answers to ranking_metrics."""

from graders.kata import Mistake

DOUBLE = "grades = relevance.double()"
MASKED = "scores, grades = scores.masked_fill(~mask, -torch.inf), grades.masked_fill(~mask, 0)"
ORDER = "order = scores.argsort(dim=1, descending=True, stable=True)"
UPWARDS = ORDER.replace("descending=True", "descending=False")
GRADES = "grades = best_first(scores, relevance, mask)"
GAINS = 'gains = grades if gain == "linear" else grades.exp2() - 1'
BEST = "best = gains.sort(dim=1, descending=True).values"
DISCOUNT = "discount = 1 / (ranks + 1).log2()"
SUMS = "dcg, ideal = ((each * discount)[:, :k].sum(1) for each in (gains, best))"
NDCG = "return torch.where(ideal > 0, dcg / ideal, 0.0)"
RELEVANT = "relevant = (best_first(scores, relevance, mask) > 0).double()"
RECALL = "return relevant[:, :k].sum(1) / relevant.sum(1).clamp(min=1)"
FOUND = "relevant = best_first(scores, relevance, mask) > 0"
RANK = "return (relevant / ranks).amax(1)"


def mistake(name: str, diagnosis: str, old: str, new: str, *others: str) -> Mistake:
    """One text replaced by another, or in other forms by each of the others."""
    return Mistake(name, diagnosis, {old: [new, *others]})


MISTAKES = (
    Mistake(
        "ascending",
        "the item with the lowest score comes first; sort by descending score",
        {ORDER: UPWARDS},
        {ORDER: UPWARDS, MASKED: MASKED.replace("-torch.inf", "torch.inf")},
    ),
    mistake(
        "equal_scores_turned",
        "equal scores change their order, as flip does after a stable sort, or topk; sort with descending=True and "
        "stable=True",
        ORDER,
        "order = scores.argsort(dim=1, stable=True).flip(1)",
        "order = scores.topk(scores.shape[1], dim=1).indices",
        "order = scores.flip(1).argsort(dim=1, descending=True, stable=True)\n    order = scores.shape[1] - 1 - order",
    ),
    mistake(
        "relevant_first_among_equal_scores",
        "of equal scores the more relevant item comes first, which flatters the ranking; equal scores keep their order",
        ORDER,
        "first = grades.argsort(dim=1, descending=True, stable=True)\n    "
        "order = first.gather(1, scores.gather(1, first).argsort(dim=1, descending=True, stable=True))",
    ),
    mistake(
        "order_of_the_queries",
        "the sort runs over the queries; sort the items of each query",
        ORDER,
        "order = scores.argsort(dim=0, descending=True, stable=True) % scores.shape[1]",
    ),
    mistake(
        "near_scores_merged",
        "close but unequal scores count as ties, by a cast to float32 or by rounding; only equal scores are ties",
        ORDER,
        "order = scores.float().argsort(dim=1, descending=True, stable=True)",
    ),
    Mistake(
        "not_sorted",
        "the items are taken in the order they came in; sort them by score",
        {"return grades.gather(1, order)": "return grades"},
    ),
    Mistake(
        "positions_for_ranks",
        "argsort gives positions, which are used as if they were the items' ranks; gather the grades by them",
        {"return grades.gather(1, order)": "return torch.zeros_like(grades).scatter(1, order, grades)"},
    ),
    mistake(
        "padding_keeps_its_rank",
        "padding has grade 0 but keeps its place in the list, so real items come later; sort padding to the end",
        MASKED,
        "grades = grades.masked_fill(~mask, 0)",
    ),
    mistake(
        "padding_scores_0",
        "padding gets the score 0, and real scores may be lower; fill with −∞",
        MASKED,
        MASKED.replace("-torch.inf", "0"),
    ),
    mistake(
        "padding_scores_a_constant",
        "padding gets a constant such as −1e9, and real scores may be lower; fill with −∞",
        MASKED,
        MASKED.replace("-torch.inf", "-1e9"),
        MASKED.replace("-torch.inf", "-1e4"),
    ),
    mistake(
        "padding_sorted_last_alone",
        "padding comes last but keeps its grades, so it counts in the ideal and among the relevant items; give it "
        "grade 0",
        MASKED,
        "scores = scores.masked_fill(~mask, -torch.inf)",
    ),
    mistake("mask_ignored", "padding counts as if it were real; leave it out by the mask", MASKED, "pass"),
    mistake(
        "mask_upside_down",
        "padding is kept and real items are left out; True is a real item",
        MASKED,
        MASKED.replace("~mask", "mask"),
    ),
    Mistake(
        "padding_in_the_ideal",
        "the ideal is made of padding as well; it is the best order of the real items",
        {
            BEST: 'best = (relevance.double() if gain == "linear" else relevance.double().exp2() - 1)\n    '
            "best = best.sort(dim=1, descending=True).values"
        },
    ),
    Mistake(
        "padding_in_recall",
        "relevant padding counts in the recall's denominator; count real items alone",
        {RECALL: "return relevant[:, :k].sum(1) / (relevance > 0).double().sum(1).clamp(min=1)"},
    ),
    mistake(
        "log_of_the_rank",
        "the discount is log₂ of the rank itself, or of one more than rank + 1; rank i, counted from 1, has "
        "log₂(i + 1)",
        DISCOUNT,
        "discount = 1 / ranks.log2().clamp(min=1)",
        "discount = 1 / (ranks + 2).log2()",
        "discount = 1 / ranks.log2()",
        "discount = 1 / (ranks + 1e-9).log2()",
    ),
    mistake(
        "rank_for_the_logarithm",
        "the gains are divided by the rank; divide them by log₂(rank + 1)",
        DISCOUNT,
        "discount = 1 / ranks",
    ),
    mistake(
        "discount_plus_one",
        "the discount is log₂(rank) + 1 or the like; it should be log₂(rank + 1)",
        DISCOUNT,
        "discount = 1 / (ranks.log2() + 1)",
        "discount = 1 / (1 + (ranks + 1).log2())",
    ),
    mistake(
        "discount_in_float32",
        "the discount is float32, as torch.log2 of integers gives it; take the logarithm in float64",
        DISCOUNT,
        "discount = 1 / (ranks + 1).long().log2()",
        "discount = 1 / (ranks + 1).long().log2().double()",
    ),
    mistake(
        "gain_in_the_grades_dtype",
        "2^rel is taken in the dtype of the grades or in float32, which is coarse; cast the grades to float64 first",
        DOUBLE,
        "grades = relevance",
        "grades = relevance.float()",
    ),
    mistake(
        "ideal_of_the_retrieved",
        "the ideal is made of the k retrieved items alone; take the k best of all real items",
        BEST,
        "best = gains[:, :k].sort(dim=1, descending=True).values\n    "
        "best = torch.cat([best, torch.zeros_like(gains[:, best.shape[1] :])], dim=1)",
    ),
    mistake(
        "ideal_of_all",
        "the ideal adds up all items although only k count; cut both sums at k",
        SUMS,
        "dcg, ideal = (gains * discount)[:, :k].sum(1), (best * discount).sum(1)",
    ),
    mistake(
        "never_cut",
        "k changes nothing in nDCG; add up the first k",
        SUMS,
        SUMS.replace("[:, :k]", ""),
    ),
    mistake(
        "ideal_without_discount",
        "the ideal is the plain sum of gains, or 1; discount it like the list itself",
        SUMS,
        "dcg, ideal = (gains * discount)[:, :k].sum(1), best[:, :k].sum(1)",
    ),
    mistake(
        "not_normalised",
        "the DCG is not divided by the ideal",
        NDCG,
        "return torch.where(ideal > 0, dcg, 0.0)",
    ),
    mistake(
        "other_gain",
        "the gain exp2 is another function of the grade, such as e^rel − 1, rel² or 2^rel; it should be 2^rel − 1",
        GAINS,
        GAINS.replace("exp2() - 1", "expm1()"),
        GAINS.replace("exp2() - 1", "square()"),
        GAINS.replace("exp2() - 1", "exp2()"),
    ),
    mistake(
        "gain_ignored", "gain changes nothing; exp2 is 2^rel − 1", GAINS, "gains = grades", "gains = grades.exp2() - 1"
    ),
    mistake(
        "gains_swapped",
        "the two gains are swapped",
        GAINS,
        GAINS.replace("==", "!="),
    ),
    Mistake(
        "ideal_by_grade",
        "the ideal is made of the grades, although the gain is 2^rel − 1; use the same gain in both sums",
        {BEST: "best = grades.sort(dim=1, descending=True).values"},
    ),
    mistake(
        "binary_gain",
        "a graded item counts 1 in nDCG; use its grade",
        GRADES,
        "grades = (best_first(scores, relevance, mask) > 0).double()",
    ),
    mistake(
        "nan_without_relevant_items",
        "a query without a relevant item is 0/0; it should give 0",
        NDCG,
        "return dcg / ideal",
    ),
    mistake(
        "recall_nan_without_relevant_items",
        "the recall of a query without a relevant item is 0/0; it should give 0",
        RECALL,
        RECALL.replace(".clamp(min=1)", ""),
    ),
    mistake(
        "one_without_relevant_items",
        "a query without a relevant item gives 1; it should give 0",
        NDCG,
        "return torch.where(ideal > 0, dcg / ideal, 1.0)",
    ),
    Mistake(
        "eps_in_the_denominator",
        "a small number is added to the denominator, so that the quotient is not exact; divide only where it is not 0",
        {NDCG: ["return dcg / (ideal + 1e-8)", "return dcg / (ideal + 1e-10)"]},
        {RECALL: "return relevant[:, :k].sum(1) / (relevant.sum(1) + 1e-8)"},
    ),
    mistake(
        "precision",
        "hits are divided by k, which is precision; divide them by the number of relevant items",
        RECALL,
        "return relevant[:, :k].sum(1) / k",
        "return relevant[:, :k].mean(1)",
    ),
    mistake(
        "over_the_smaller",
        "hits are divided by the smaller of k and the number of relevant items; divide them by the number of relevant "
        "items",
        RECALL,
        "return relevant[:, :k].sum(1) / relevant.sum(1).clamp(min=1, max=k)",
    ),
    mistake(
        "grades_added_up",
        "recall adds up grades; each relevant item counts 1",
        RELEVANT,
        "relevant = best_first(scores, relevance, mask)",
    ),
    mistake(
        "any_hit",
        "recall is 1 as soon as there is one hit, which is the hit rate; divide hits by the number of relevant items",
        RECALL,
        "return relevant[:, :k].amax(1)",
    ),
    mistake(
        "recall_not_cut",
        "k changes nothing in recall; count the first k",
        RECALL,
        RECALL.replace("[:, :k]", ""),
    ),
    Mistake(
        "relevant_from_1",
        "items count as relevant only from a grade of 1 on; above 0 is enough",
        {RELEVANT: RELEVANT.replace("> 0", ">= 1"), FOUND: FOUND.replace("> 0", ">= 1")},
        {RELEVANT: RELEVANT.replace("> 0", ">= 1")},
        {FOUND: FOUND.replace("> 0", ">= 1")},
        {RELEVANT: RELEVANT.replace("> 0", "> 0.5")},
        {FOUND: FOUND.replace("> 0", "> 0.5")},
    ),
    mistake(
        "rank_of_the_best",
        "the rank is the one of the item with the highest grade; take the first relevant item, whatever its grade",
        FOUND,
        "grades = best_first(scores, relevance, mask)\n    "
        "relevant = (grades == grades.amax(1, keepdim=True)) & (grades > 0)",
    ),
    mistake(
        "ranks_from_0",
        "ranks are counted from 0 or from 2; the first item has rank 1",
        RANK,
        "return (relevant / (ranks - 1).clamp(min=1)).amax(1)",
        "return (relevant / (ranks + 1)).amax(1)",
    ),
    mistake(
        "rank_itself",
        "the rank is returned; take its reciprocal",
        RANK,
        "return torch.where(relevant.any(1), 1 / (relevant / ranks).amax(1), 0.0)",
    ),
    mistake(
        "last_hit",
        "the last relevant item is taken; take the first",
        RANK,
        "return torch.where(relevant.any(1), 1 / (relevant * ranks).amax(1), 0.0)",
    ),
    mistake(
        "sum_of_reciprocal_ranks",
        "the reciprocal ranks of all relevant items are added up or averaged; only the first counts",
        RANK,
        "return (relevant / ranks).sum(1)",
        "return (relevant / ranks).sum(1) / relevant.sum(1).clamp(min=1)",
    ),
    mistake(
        "first_without_a_hit",
        "a query without a relevant item gets rank 1, as argmax of zeros is 0; it should give 0",
        RANK,
        "return 1 / (relevant.long().argmax(1) + 1).double()",
    ),
    Mistake(
        "mean_over_queries",
        "the mean over the queries is returned for each of them; give one value for each query",
        *(
            {line: f"{line.replace('return', 'found =')}\n    return found.mean().expand(len(found)).clone()"}
            for line in (RANK, NDCG, RECALL)
        ),
    ),
    Mistake(
        "k_above_the_number_of_items",
        "a k above the number of items is an error, as with topk; then all items count",
        {
            BEST: "best = gains.topk(k or gains.shape[1], dim=1).values\n    "
            "best = torch.cat([best, torch.zeros_like(gains[:, best.shape[1] :])], dim=1)"
        },
        {RECALL: "return relevant.unfold(1, k, 1)[:, 0].sum(1) / relevant.sum(1).clamp(min=1)"},
    ),
    Mistake(
        "all_pairs",
        "every score is compared with every other, in a table of N × N for each query; sort",
        {
            ORDER: "place = torch.arange(scores.shape[1])\n    "
            "above = (scores[:, :, None] < scores[:, None]) | "
            "((scores[:, :, None] == scores[:, None]) & (place[:, None] > place))\n    "
            "order = above.sum(2).argsort(dim=1, stable=True)"
        },
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"{ORDER} -> order = scores.argsort(descending=True, stable=True)": "of two axes, the second is the last",
    f"{BEST} -> best = gains.sort(descending=True).values": "of two axes, the second is the last",
    f"{DISCOUNT} -> discount = 2 / (ranks + 1).log2()": "the factor cancels in the quotient",
    **{
        f"{line.replace('device', f', device={of}.device')} -> {line.replace('device', '')}": "the tests run on the CPU"
        for of in ("gains", "relevant")
        for line in (f"ranks = torch.arange(1, {of}.shape[1] + 1, dtype=torch.float64device)",)
    },
}
