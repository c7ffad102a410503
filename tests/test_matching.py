"""What is typed is understood where that is sure: measured on texts of people who did not know the prepared ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

import pytest
import yaml

from graders.catalogue import katas
from graders.catalogue.bugs import Bug, bugs_of
from graders.catalogue.texts import Question, clarifying, general, shared
from graders.debugging import claims, words
from graders.debugging.debugging import Debugging
from graders.kata.mistakes import Mistake
from graders.sitting.matching import Matcher, matcher_of

# Of 37 katas, a third of what was written, drawn at random; of the others, all of it. The contract answers before.
SETS = sorted((Path(__file__).parent / "paraphrases").glob("*.yaml"))
SURE = 0.97  # the precision below which it would say wrong things too often
FOUND = 0.38  # the recall below which it would be of no use at once,
TAKEN = 0.63  # together with what it answers until somebody says no,
OFFERED = 0.93  # and together with what it asks back


REASONS = Path(__file__).parent / "paraphrases/reasons.tsv"  # kata, planted mistake, why the line is wrong
EACH = 4  # of so many reasons one is tried
UNDERSTOOD, MISTAKEN = 0.5, 0.1  # of the reasons at least, and at most


class Claimed(NamedTuple):
    """A debug round, as far as a claim is understood by it."""

    mistakes: list[Mistake]
    matcher: Matcher
    named_by: list[set[str]]
    here: set[int]

    def made_in(self, line: int) -> set[int]:
        """The mistakes that edit the line which is claimed, the planted one among them."""
        return self.here


class Said(NamedTuple):
    """A paraphrase, and which of the matcher's questions it means; None where no answer is prepared."""

    matcher: Matcher
    text: str
    meant: int | None


def said(file: Path) -> Iterator[Said]:
    written, kata = yaml.safe_load(file.read_text(encoding="utf-8")), katas.find_one(file.stem)
    own, matcher = [one.question for one in clarifying(kata)], matcher_of(kata)
    names = own + [one.question for one in general(kata)]
    assert set(own) <= set(written["questions"]) <= set(names)
    assert all(len(written["questions"][name]) >= 3 for name in own)
    for name, texts in written["questions"].items():
        yield from (Said(matcher, text, names.index(name)) for text in texts)
    yield from (Said(matcher, text, None) for text in written["others"])


def test_precision_and_recall_on_paraphrases(capsys: pytest.CaptureFixture[str]) -> None:
    everything = [one for file in SETS for one in said(file)]
    found = [one.matcher.match(one.text) for one in everything]
    asked = sum(one.meant is not None for one in everything)
    answered = [
        match.meant == one.meant for match, one in zip(found, everything, strict=True) if match.meant is not None
    ]
    back = [one.meant in match.maybe for match, one in zip(found, everything, strict=True) if match.meant is None]
    clear = [match.clear and match.maybe[0] == one.meant for match, one in zip(found, everything, strict=True)]
    taken = sum(answered + clear) / asked
    precision, recall, offered = sum(answered) / len(answered), sum(answered) / asked, sum(answered + back) / asked
    with capsys.disabled():
        print(f"\n{asked} questions: precision {precision:.3f}; recall {recall:.3f}, {taken:.3f}, {offered:.3f}")
    assert precision >= SURE
    assert recall >= FOUND
    assert taken >= TAKEN
    assert offered >= OFFERED


def test_what_shares_no_word_is_not_understood() -> None:
    matcher = Matcher([Question("What about zero?", "It is refused."), Question("Which shapes?", "All.")])
    assert matcher.match("xyz") == matcher.match("?!") == (None, (), False)
    assert matcher.match("What about zero?").meant == 0


def test_one_question_alone_is_enough() -> None:
    assert Matcher([Question("What about zero?", "It is refused.")]).match("what about zero").meant == 0


def test_a_kata_answers_a_shared_question_itself_or_leaves_it_to_the_general_answer() -> None:
    both = {name: katas.find_one(name) for name in ("batch_norm", "weight_init")}
    assert "May I write into the inputs?" in [one.question for one in general(both["batch_norm"])]
    assert "May I write into the inputs?" not in [one.question for one in general(both["weight_init"])]
    (fills,) = [one for one in clarifying(both["weight_init"]) if "inputs" in one.kinds]
    assert set(shared(both["weight_init"])["inputs"].phrasings) <= set(fills.phrasings)


def test_each_shared_kind_is_used_or_answered() -> None:
    every = katas.all_katas()
    used = {kind for kata in every for one in clarifying(kata) for kind in one.kinds}
    assert {kind for kind, one in shared(every[0]).items() if not one.answer} <= used


def test_each_shared_kind_has_phrasings() -> None:
    kinds = shared(katas.all_katas()[0])
    assert [kind for kind, one in kinds.items() if len(one.phrasings) < 5 or "<" in kind] == []


def test_reasons_of_claims_are_understood(capsys: pytest.CaptureFixture[str]) -> None:
    """Taken for meant at once, or until somebody says no."""
    rows = [line.split("\t") for line in REASONS.read_text(encoding="utf-8").splitlines()][::EACH]
    right = wrong = 0
    for name, mistake, text in rows:
        kata = katas.find_one(name)
        known, lines = (
            [one for one in kata.mistakes if not one.slow],
            {bug.name: lines_of(bug) for bug in bugs_of(kata)},
        )
        here = {at for at, one in enumerate(known) if lines.get(one.name, set()) & lines[mistake]}
        code = [words.named_by(kata, one) for one in known]
        claimed = cast(Debugging, Claimed(known, words.matcher_of(kata, known), code, here))
        taken = claims.meant(claimed, text, 1).taken
        right += taken is not None and known[taken].name == mistake
        wrong += taken is not None and known[taken].name != mistake
    with capsys.disabled():
        print(f"\n{len(rows)} reasons: {right} understood, {wrong} taken for another mistake's")
    assert right >= UNDERSTOOD * len(rows)
    assert wrong <= MISTAKEN * len(rows)


def lines_of(bug: Bug) -> set[int]:
    """Those of the right file that it changes, or stands beside."""
    changed = {at for one in bug.changes for at in range(one.first, one.last)}
    return changed or {at for one in bug.changes for at in (one.first - 1, one.first)}
