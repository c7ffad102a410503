"""Typed questions are understood where that is sure: measured on paraphrases written apart from the phrasings."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from graders.catalogue import katas
from graders.catalogue.statement import Question, clarifying
from graders.interview.matching import Matcher

SETS = sorted((Path(__file__).parent / "paraphrases").glob("*.yaml"))
SURE = 0.95  # the precision below which it would say wrong things too often
FOUND = 0.30  # the recall below which it would be of no use


def test_precision_and_recall_on_paraphrases(capsys: pytest.CaptureFixture[str]) -> None:
    asked = answered = right = asked_back = helpful = 0
    for file in SETS:
        said = yaml.safe_load(file.read_text(encoding="utf-8"))
        prepared = clarifying(katas.find_one(file.stem))
        matcher, names = Matcher(prepared), [one.question for one in prepared]
        assert set(said["questions"]) == set(names)
        assert all(len(texts) >= 10 for texts in said["questions"].values())
        pairs = [(names.index(name), text) for name, texts in said["questions"].items() for text in texts]
        asked += len(pairs)
        for meant, text in [*pairs, *((None, text) for text in said["others"])]:
            found = matcher.match(text)
            answered += found.meant is not None
            right += found.meant is not None and found.meant == meant
            if found.meant is None and found.maybe:
                asked_back += 1
                helpful += meant in found.maybe
    with capsys.disabled():
        print(f"\n{asked} questions: precision {right / answered:.3f}, recall {right / asked:.3f}; else it asks back, ")
        print(f"{asked_back} times, and {helpful / asked_back:.2f} of these name the one that was meant")
    assert right / answered >= SURE
    assert right / asked >= FOUND


def test_what_shares_no_word_is_not_understood() -> None:
    matcher = Matcher([Question("What about zero?", "It is refused."), Question("Which shapes?", "All.")])
    assert matcher.match("xyz") == (None, ())
    assert matcher.match("What about zero?").meant == 0


def test_one_question_alone_is_enough() -> None:
    assert Matcher([Question("What about zero?", "It is refused.")]).match("what about zero").meant == 0
