"""Which known mistake a learner's words mean, by the matching that questions in an interview are understood by."""

from __future__ import annotations

from collections.abc import Sequence

from graders.catalogue.bugs import changes, plain, right_file
from graders.catalogue.katas import Kata
from graders.catalogue.texts import Question
from graders.kata.mistakes import Mistake
from graders.sitting.matching import Matcher, words_of


def matcher_of(kata: Kata, mistakes: Sequence[Mistake]) -> Matcher:
    """People say what is wrong or what to do, and name what stands in the line."""
    return Matcher([question_of(kata, one) for one in mistakes])


def question_of(kata: Kata, mistake: Mistake) -> Question:
    wrong, _, right = mistake.diagnosis.partition("; ")
    name = mistake.name.replace("_", " ")
    code = "\n".join(lines_of(kata, mistake))
    return Question(wrong, code, tuple(filter(None, (right, name, mistake.diagnosis))))


def named_by(kata: Kata, mistake: Mistake) -> set[str]:
    """The words of code that its edit takes away or puts there, and that do not stay."""
    old, new = (set(words_of(text)) for text in lines_of(kata, mistake))
    return old ^ new


def lines_of(kata: Kata, mistake: Mistake) -> tuple[str, str]:
    """The changed lines before and after its edit."""
    reference, right = kata.reference_file.read_text(encoding="utf-8"), right_file(kata)
    found = changes(right, plain(next(iter(mistake.forms(reference).values()))))
    lines = right.splitlines()
    old = [line for one in found for line in lines[one.first : one.last]]
    return "\n".join(old), "\n".join(line for one in found for line in one.lines)
