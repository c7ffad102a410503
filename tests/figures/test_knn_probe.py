"""The figures in the texts of knn_probe, calculated again."""

from __future__ import annotations

import torch
from sklearn.neighbors import KNeighborsClassifier  # type: ignore[import-untyped]

from graders.catalogue import katas
from tests.figures import reference_of, said

KATA = "knn_probe"
(FOUND,) = katas.find([KATA])
REFERENCE = reference_of(KATA).knn_accuracy
ORACLE = FOUND.grader.answers[0].oracle


def test_scikit_learn_agrees() -> None:
    generator = torch.Generator().manual_seed(0)
    for k in (1, 2, 4, 20):
        x = torch.randn(240, 6, generator=generator, dtype=torch.float64)
        y = torch.randint(3, (240,), generator=generator)
        model = KNeighborsClassifier(k, metric="cosine").fit(x[:90], y[:90])
        given = (x[:90], y[:90], x[90:], y[90:], k)
        assert abs(REFERENCE(*given) - model.score(x[90:], y[90:])) < 1e-12
        assert ORACLE
        assert abs(ORACLE(*given) - model.score(x[90:], y[90:])) < 1e-12
    assert said(KATA, "The smallest label, as here and in scikit-learn")
