"""Every kata keeps what the statement promises; what one may lack is said by `check`, rule by rule."""

from __future__ import annotations

import ast
import os
import random
import statistics
from collections import Counter
from collections.abc import Mapping

import pytest

from graders.author import check
from graders.author.check.readme import words_of
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.faults import ROOT
from graders.judge import checks
from graders.kata.diagnoses import COMMON
from tests.toys import run

KATAS = katas.all_katas()
CORE = {
    "self_attention", "multi_head_attention", "cosine_similarity", "triplet_loss", "info_nce",
    "binary_cross_entropy", "cross_entropy", "f1_score", "roc_auc",
}  # fmt: skip


@pytest.mark.parametrize("kata", KATAS, ids=lambda kata: kata.id)
def test_nothing_is_lacking(kata: Kata) -> None:
    found = check.lacks(kata)
    assert not found, "\n".join(["", *found])


def test_nothing_is_lacking_beside_the_katas() -> None:
    assert list(check.in_common(ROOT)) == []


def test_the_core_nine_are_there() -> None:
    assert {kata.id for kata in KATAS} >= CORE


@pytest.mark.parametrize("sample", [os.environ["KATAS_SAMPLE"]], ids=lambda sample: f"KATAS_SAMPLE={sample}")
def test_references_are_solved_under_a_seed_of_their_own(sample: str) -> None:
    """A third of them; `prove` grades each under its own seeds."""
    chance = random.Random(sample)
    chosen = [kata.id for kata in chance.sample(KATAS, len(KATAS) // 3)]
    ran = run(ROOT, "grade", "--reference", "--seed", str(chance.randrange(10**6)), *chosen)
    assert ran.status == 0, ran.out
    assert f"{len(chosen)} solved; score {100 * len(chosen)}/{100 * len(chosen)}" in ran.out


def test_points_add_up() -> None:
    for kata in KATAS:
        planned = checks.plan(kata.grader, kata.module)
        assert sum(one.points for one in planned) == 100
        assert min(one.points for one in planned) >= 1
        assert len({one.name for one in planned}) == len(planned)


def test_a_sentence_of_several_katas_stands_once() -> None:
    """In diagnoses.py, from which a mistake of its name takes it."""
    sentences = {kata.id: written_diagnoses(kata) for kata in KATAS}
    assert repeated(sentences, set(COMMON.values())) == []


def test_a_repeated_sentence_is_found() -> None:
    """What diagnoses.py has is one kata's too many, and so is any sentence in three katas."""
    sentences = {"first": {"common", "rare"}, "second": {"rare", "often"}, "third": {"often"}, "fourth": {"often"}}
    assert repeated(sentences, {"common"}) == ["common", "often"]


def repeated(sentences: Mapping[str, set[str]], common: set[str]) -> list[str]:
    counts = Counter(sentence for own in sentences.values() for sentence in own)
    return [sentence for sentence, count in sorted(counts.items()) if sentence in common or count >= 3]


def written_diagnoses(kata: Kata) -> set[str]:
    """The sentences of its mistakes that its own file writes out."""
    tree = ast.parse((kata.solutions / "mistakes.py").read_text(encoding="utf-8"))
    literals = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {mistake.diagnosis for mistake in kata.mistakes} & literals


def test_front_pages_are_short() -> None:
    counts = {kata.id: words_of(kata) for kata in KATAS}
    print("\n".join(f"{count:4} {name}" for name, count in sorted(counts.items(), key=lambda pair: pair[1])))
    assert statistics.median(counts.values()) <= 250
