"""What hints, follow-up questions and the interview lack."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graders.author.check.page import Page
from graders.author.check.readme import headings
from graders.catalogue import katas, texts
from graders.catalogue.katas import ASKED, Kata

PROMPT, CLARIFYING, FOLLOW_UPS = 100, 4, 8  # at least: characters, questions, questions
ANSWER = 95  # words, at most
TWIST = 80  # characters, of a twist and of its answer
REPORTED = re.compile(r"^Reported by candidates:\n.*\Z", re.DOTALL | re.MULTILINE)
PLACE = re.compile(r"\(https://(github\.com/[^/)]+|[^/)]+)")  # two pages of one site, or of one owner, are one place


def hints(kata: Kata) -> Iterator[str]:
    """Raises: UsageError where one is empty."""
    page = Page.of(kata, kata.solutions / "hints.md")
    yield from headings(page, [f"# Hints: {kata.id}", *(f"## {name}" for name in texts.HINTS)])
    texts.hints(kata)


def follow_ups(kata: Kata) -> Iterator[str]:
    """Raises: UsageError where one is empty."""
    page = Page.of(kata, kata.folder / "follow_up.md")
    yield from headings(page, [f"# Follow-up questions: {kata.id}"])
    found = texts.follow_ups(kata)
    asked = [one.question for one in found]
    if len(asked) < FOLLOW_UPS:
        yield f"{page.shown}: there should be {FOLLOW_UPS} follow-up questions or more, got {len(asked)}"
    tags = re.findall(r"</?details>", page.text)
    if tags != ["<details>", "</details>"] * len(asked):
        yield f"{page.at('<details>')}: each answer should be folded by a <details> of its own"
    for one in found:
        if (count := len(one.answer.split())) > ANSWER:
            yield f"{page.at(one.question)}: an answer should have {ANSWER} words or fewer, got {count}"
    yield from as_questions(page, asked)


def reports(kata: Kata) -> Iterator[str]:
    """How often it is asked is what the links at the end of follow_up.md show: docs/rules.md has the scale."""
    found = REPORTED.search((kata.folder / "follow_up.md").read_text(encoding="utf-8"))
    places = set(PLACE.findall(found[0])) if found else set()
    wanted = ("left out", *ASKED[::-1])[min(len(places), len(ASKED))]
    if kata.about.asked != wanted.replace("left out", ""):
        words = f"the links below 'Reported by candidates:' in follow_up.md lead to {len(places)} independent places"
        yield f"{Page.of(kata, kata.statement).at('asked:')}: asked should be {wanted}, since {words}"


def interview(kata: Kata) -> Iterator[str]:
    """Raises: UsageError where a part is empty."""
    page = Page.of(kata, kata.folder / "interview.md")
    asked = re.findall(r"^### (.*)", page.text.partition(f"## {texts.TWIST}\n")[0], re.MULTILINE)
    texts.clarifying(kata)
    if f"# Interview: {kata.id}\n" not in page.text:
        yield f"{page.at(0)}: the heading '# Interview: {kata.id}' is missing"
    if len(texts.prompt(kata)) <= PROMPT:
        yield f"{page.at('## Prompt')}: the prompt should have more than {PROMPT} characters"
    if len(asked) < CLARIFYING:
        yield f"{page.at('## Clarifying')}: there should be {CLARIFYING} questions or more, got {len(asked)}"
    yield from as_questions(page, asked)
    for question in {one.question for one in texts.follow_ups(kata)}.intersection(asked):
        yield f"{page.at(question)}: this should not be a follow-up question also, got {question!r}"


def twist(kata: Kata) -> Iterator[str]:
    """Said in a terminal; the kata that it leads to can be asked about. Raises: UsageError where a part is empty."""
    page = Page.of(kata, texts.interview_file(kata))
    found = texts.twist(kata)
    if found is None:
        return
    place = page.at(f"## {texts.TWIST}\n")
    if min(len(found.words), len(found.answer)) <= TWIST or "$" in found.words + found.answer:
        yield f"{place}: a twist and its answer should have more than {TWIST} characters each, and no formula in $"
    others = {one.id for one in katas.found_katas(kata.root) if texts.interview_file(one).exists()} - {kata.id}
    if found.kata and found.kata not in others:
        yield f"{page.at('<!-- kata:')}: the twist leads to {found.kata}, and that is no other kata with a page"


def as_questions(page: Page, asked: list[str]) -> Iterator[str]:
    """They are read aloud in a terminal."""
    for number, question in enumerate(asked):
        if not question.endswith("?") or "\\" in question or "$" in question:
            yield f"{page.at(question)}: a question should end with ? and have no formula in it, got {question!r}"
        if question in asked[:number]:
            yield f"{page.shown}: a question is there twice: {question!r}"
