"""The figures in the texts of average_precision, calculated again."""

from __future__ import annotations

import pytest
import torch
from sklearn.metrics import average_precision_score as ap  # type: ignore[import-untyped]
from sklearn.metrics import precision_recall_curve, roc_auc_score

from graders.catalogue import katas
from graders.kata.draw import Draw
from tests.figures import said

KATA = "average_precision"
GRADER = katas.find([KATA])[0].module
CASES = [case for case in GRADER.GRADER.answers[0].cases if not case.raises]


@pytest.mark.filterwarnings("ignore:No positive class")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_oracles_agree_with_scikit_learn(case) -> None:  # type: ignore[no-untyped-def]
    made = case.inputs(Draw("seed", case.name))
    for given in made if isinstance(made, list) else [made]:
        y_true, y_score = given["y_true"].long().numpy(), given["y_score"].numpy()
        wanted = [torch.tensor(each.copy()) for each in precision_recall_curve(y_true, y_score, pos_label=1)]
        torch.testing.assert_close([*GRADER.curve(**given)], wanted, rtol=1e-12, atol=0)
        assert float(GRADER.average(**given)) == pytest.approx(ap(y_true, y_score), abs=1e-12)


def test_example_by_hand() -> None:
    given = [1, 0, 1, 0, 0, 1], [0.9, 0.7, 0.6, 0.6, 0.3, 0.2]
    precision, recall, _ = (torch.tensor(each.copy()) for each in precision_recall_curve(*given))
    assert pytest.approx(ap(*given)) == 1 / 3 + 1 / 3 / 2 + 1 / 3 / 2 == pytest.approx(2 / 3)
    assert float(-torch.trapezoid(precision, recall)) == pytest.approx(0.65)
    assert (2 * precision * recall / (precision + recall)).tolist() == pytest.approx([2 / 3, 0.5, 4 / 7, 0.4, 0.5, 0])
    assert said(KATA, "1/3 · 1 + 1/3 · 1/2 + 1/3 · 1/2 = 2/3", "0.65", "2/3 at the threshold 0.2, against 1/2 at 0.9")


def test_steps_and_trapezoids() -> None:
    given = [1] * 100 + [0] * 900, [1.0] + [0.5] * 999
    precision, recall, _ = (torch.tensor(each.copy()) for each in precision_recall_curve(*given))
    assert (precision.tolist(), recall.tolist()) == ([0.1, 1, 1], [1, 0.01, 0])
    assert (f"{float(-torch.trapezoid(precision, recall)):.2f}", f"{ap(*given):.2f}") == ("0.55", "0.11")
    assert said(KATA, "(recall 0.01, precision 1) and (1, 0.1)", "an area of 0.55, while the steps give 0.11")


def test_ranks() -> None:
    scores = [-rank for rank in range(1, 11)]
    first, second, third = ([int(-score in ranks) for score in scores] for ranks in ((1, 10), (4, 5), (1, 3, 6)))
    assert (ap(first, scores), roc_auc_score(first, scores)) == pytest.approx((0.6, 0.5))
    assert (ap(second, scores), roc_auc_score(second, scores)) == pytest.approx((0.325, 0.625))
    assert f"{ap(third, scores):.2f}" == f"{(1 + 2 / 3 + 3 / 6) / 3:.2f}" == "0.72"
    assert said(KATA, "(1 + 2/3 + 3/6)/3 = 0.72", "AP of 0.6 and an AUC of 0.5; B has 0.325 and 0.625")
