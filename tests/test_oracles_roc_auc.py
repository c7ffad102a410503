"""The oracles of roc_auc are formulas: they are held against scikit-learn and against counting every pair."""

import pytest
import torch
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]
from sklearn.metrics import roc_curve as sklearn_curve

from graders.catalogue import katas
from graders.kata.draw import Draw
from graders.kata.spec import Case

GRADER = katas.find(["roc_auc"])[0].module
CASES = [case for case in GRADER.asked("case") if not case.raises]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("seed", [0, 1])
def test_oracles_agree_with_sklearn(case: Case, seed: int) -> None:
    assert case.inputs is not None
    made = case.inputs(Draw(seed, case.name))
    for arguments in made if isinstance(made, list) else [made]:
        y_true, y_score = arguments["y_true"], arguments["y_score"]
        wanted = sklearn_curve(y_true.long().numpy(), y_score.numpy(), drop_intermediate=False)
        for got, each in zip(GRADER.curve(y_true, y_score), wanted, strict=True):
            torch.testing.assert_close(got, torch.as_tensor(each.copy()), rtol=1e-12, atol=1e-12)
        score = roc_auc_score(y_true.long().numpy(), y_score.numpy())
        assert GRADER.area(y_true, y_score).item() == pytest.approx(score, abs=1e-12)


def test_area_counts_every_pair() -> None:
    for arguments in GRADER.ties(Draw(3)):
        y_true, y_score = arguments["y_true"], arguments["y_score"]
        difference = y_score[y_true == 1][:, None] - y_score[y_true == 0]
        pairs = (difference > 0).double().mean() + (difference == 0).double().mean() / 2
        torch.testing.assert_close(GRADER.area(y_true, y_score), pairs, rtol=0, atol=1e-14)
