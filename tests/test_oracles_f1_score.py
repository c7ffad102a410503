"""The oracle of f1_score is a formula: it is held against scikit-learn."""

import pytest
import torch
from sklearn.metrics import precision_recall_fscore_support  # type: ignore[import-untyped]

from graders.catalogue import katas
from graders.kata.draw import Draw
from graders.kata.spec import Case

GRADER = katas.find(["f1_score"])[0].module
CASES = [case for case in GRADER.GRADER.answers[0].cases if not case.raises]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("seed", [0, 1])
def test_oracle_agrees_with_sklearn(case: Case, seed: int) -> None:
    assert case.inputs is not None
    made = case.inputs(Draw(seed, case.name))
    for arguments in made if isinstance(made, list) else [made]:
        y_true, y_pred = arguments["y_true"].long(), arguments["y_pred"].long()
        average = arguments.get("average", "binary")
        C = arguments.get("num_classes") or int(torch.maximum(y_true, y_pred).max()) + 1
        labels = [1] if average == "binary" else list(range(C))
        how = None if average == "binary" else average
        wanted = precision_recall_fscore_support(
            y_true.numpy(), y_pred.numpy(), labels=labels, average=how, zero_division=0
        )
        for got, each in zip(GRADER.by_definition(**arguments), wanted[:3], strict=True):
            expected = torch.as_tensor(each, dtype=torch.float64)
            torch.testing.assert_close(got, expected.reshape(got.shape), rtol=1e-12, atol=1e-12)
