"""The figures in the texts of knn_probe, calculated again."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from sklearn.neighbors import KNeighborsClassifier  # type: ignore[import-untyped]

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "knn_probe"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "knn_probe_of_the_figures").knn_accuracy
ORACLE = FOUND.grader.answers[0].oracle


def test_example_by_hand() -> None:
    train_x = torch.tensor([[1.0, 0.0], [4.0, 3.0], [0.0, 1.0], [3.0, 4.0]])
    test_x = torch.tensor([[2.0, 0.0], [0.0, 1.0], [4.0, 3.0], [0.0, 5.0]])
    cosines = F.cosine_similarity(test_x[:, None], train_x, dim=2)
    wanted = torch.tensor([[1, 0.8, 0, 0.6], [0, 0.6, 1, 0.8], [0.8, 1, 0.6, 0.96], [0, 0.6, 1, 0.8]])
    torch.testing.assert_close(cosines, wanted)
    assert (test_x @ train_x.T)[0].tolist() == [2, 8, 0, 6]
    assert REFERENCE(train_x, torch.tensor([0, 2, 1, 1]), test_x, torch.tensor([0, 1, 2, 1]), k=2) == 3 / 4
    assert said(KATA, "the cosines 1, 0.8, 0 and 0.6", "the cosines 0.8, 1, 0.6 and 0.96", "by 8 to 2")


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


def test_chunks_of_521_rows() -> None:
    assert f"{512 / 521:.3f} {(1 + 1 + 0) / 3:.3f} {256 / 9:.0f}" == "0.983 0.667 28"
    assert 256 + 256 + 9 == 521
    assert said(KATA, "512/521 = 0.983", "the mean of 1, 1 and 0 is 0.667", "counts 28 times as much")


def test_counts_in_narrow_dtypes() -> None:
    assert torch.tensor(300).to(torch.uint8) == 44
    for dtype, most in ((torch.bfloat16, 256), (torch.float16, 2048), (torch.float32, 16_777_216)):
        assert torch.tensor(most, dtype=dtype) + 1 == most
        assert torch.tensor(most - 1, dtype=dtype) + 1 == most
    assert said(KATA, "300 votes wrap to 44 in uint8", "at 256 in bfloat16, at 2 048 in float16 and at 16 777 216")


def test_cost_of_imagenet() -> None:
    M, N, D = 50_000, 1_281_167, 768
    assert f"{M * N:.1e} {4 * M * N / 1e9:.0f} {4 * 256 * N / 1e9:.1f} {2 * M * N * D:.1e}" == "6.4e+10 256 1.3 9.8e+13"
    assert said(KATA, "are 6.4e10 similarities, 256 GB in float32", "1.3 GB, of which", "9.8e13 operations for D = 768")


def test_weights_by_temperature() -> None:
    assert f"{math.exp(0.1 / 0.07):.1f} {math.exp(0.2 / 0.07):.0f}" == "4.2 17"
    assert said(KATA, "4.2 times the weight of one with 0.8, and 17 times that of one with 0.7")


def test_spreads() -> None:
    assert f"{math.sqrt(0.75 * 0.25 / 10_000):.4f} {1 / math.sqrt(768):.3f} {8 * 20}" == "0.0043 0.036 160"
    assert said(
        KATA, "has a standard error of 0.0043", "1/√D for spread-out features, 0.036 for D = 768", "160 candidates"
    )
