"""What an interview teaches, as Markdown: what was said beside what could have been said, and what the gaps cost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from graders.catalogue import texts
from graders.catalogue.katas import Kata
from graders.interview.marks import MOST, marks, overall
from graders.interview.record import MOST_SELF, InterviewReport
from graders.interview.round import Answered, Round
from graders.judge import checks
from graders.sitting.clock import in_words
from graders.sitting.matching import Matcher

SHARES = {"clarify": 0.1, "plan": 0.15, "code": 0.4, "test": 0.15, "follow-up": 0.2}  # of a kata's minutes
SURE = 0.8  # the probability from which on a fact of the statement belongs to a question
FACT = re.compile(r"^- (?:.+\n)+?(?=- |\n|$)", re.MULTILINE)
NAMES = re.compile(r"<!--(.*?)-->", re.DOTALL)
MARKUP = re.compile(r"[\\`*_\[\]<>&~|]|^\s*(?:[#+-]|\d+[.)])")


@dataclass(frozen=True)
class Fact:
    """Something that a statement says must hold: the line that it begins in, its words, and the cases that check it."""

    line: int
    text: str
    cases: tuple[str, ...]


def facts(kata: Kata) -> list[Fact]:
    text = texts.read(kata, kata.statement)
    begin, end = text.find("## Must hold"), text.find("</details>")
    found = []
    for fact in FACT.finditer(text, max(begin, 0), end if end > 0 else len(text)):
        names = " ".join(NAMES.findall(fact[0])).split()
        words = " ".join(NAMES.sub("", fact[0]).removeprefix("- ").split())
        found.append(Fact(text.count("\n", 0, fact.start()) + 1, words, tuple(names)))
    return found


def debrief(report: InterviewReport, number: int, katas: Mapping[str, Kata]) -> str:
    """Katas that are gone are left out. Raises: UsageError, GraderError."""
    lines = [f"# Interview {number}, {report.when.astimezone():%Y-%m-%d %H:%M}", ""]
    lines += [f"Measured {report.measured} of {report.max_score}; took {in_words(report.elapsed)}.", ""]
    lines += [line for words in overall(report) for line in (words, "")]
    for one in report.rounds:
        if one.kata in katas:
            lines += [f"## {one.kata}", "", *turned(one, katas), *rubric(one), *pace(one), *talk(one, katas[one.kata])]
            lines += [*lost(one, katas[one.kata]), *explained(one, katas[one.kata])]
    return "\n".join(lines).rstrip() + "\n"


def turned(one: Round, katas: Mapping[str, Kata]) -> Iterator[str]:
    """What changed, of a kata that another one turned into, and what could have been said to that."""
    before = katas.get(one.after)
    if before and (twist := texts.twist(before)):
        yield from [f"{one.after} turned into this: {' '.join(twist.words.split())}", ""]
        yield from ["What changes, in words:", "", *quoted(twist.answer), ""]


def rubric(one: Round) -> Iterator[str]:
    for name, mark, source in marks(one):
        yield f"- {name}: not reached, or without a score" if mark is None else f"- {name}: {mark} of {MOST} ({source})"
    yield ""


def pace(one: Round) -> Iterator[str]:
    yield from ["The time that you took in each phase, of the time that was planned for it:", ""]
    whole = sum(SHARES[phase] for phase in one.phases)
    for phase in one.phases:
        share = 60 * one.minutes * SHARES[phase] / whole
        yield f"- {phase}: {in_words(one.seconds.get(phase, 0.0))} of {in_words(share)}"
    yield ""


def talk(one: Round, kata: Kata) -> Iterator[str]:
    """What was asked and planned, and what could have been."""
    prepared = texts.clarifying(kata)
    yield from ["### Clarify", ""]
    yield from [f"- You asked, and I did not understand: {escaped(words)}" for words in one.words]
    for number, question in enumerate(prepared, start=1):
        how = "asked" if number in one.typed else "asked by number" if number in one.asked else "not asked"
        yield f"- {how}: **{question.question}** {' '.join(question.answer.split())}"
    yield from ["", "### Plan", "", *(own(one.plan) if not one.partner else ()), ""]
    yield from ["The idea, as the hints put it:", "", *quoted(texts.hints(kata)[1]), ""]


def lost(one: Round, kata: Kata) -> Iterator[str]:
    """The points of each fact that failed, the place to read it again, and the question that would have told it."""
    if one.last is None or not one.last.failed:
        return
    points = {check.name: check.points for check in checks.plan(kata.grader, kata.module)}
    prepared = texts.clarifying(kata)
    matcher = Matcher(prepared)
    yield from ["### What the points were lost for", ""]
    yield from ["A check may depend on several of these, and budgets are tested once all values are right.", ""]
    for fact in facts(kata):
        failed = [name for name in one.last.failed if name.split("/")[1] in fact.cases]
        if failed:
            found = matcher.match(fact.text, SURE).meant
            why = ""
            if found is not None and found + 1 not in one.asked:
                why = f" You did not ask: *{prepared[found].question}*"
            place = f"{kata.statement.relative_to(kata.root)}:{fact.line}"
            count = sum(points.get(name, 0) for name in failed)
            depend = "1 point depends" if count == 1 else f"{count} points depend"
            yield f"- {depend} on this, {place}: {fact.text}{why}"
    yield ""


def explained(one: Round, kata: Kata) -> Iterator[str]:
    """Own answers, and the model answers beside them."""
    twist = texts.twist(kata)
    asked = [*texts.follow_ups(kata), *([twist.question] if twist else [])]
    models = {question.question: question.answer for question in asked}
    if one.answers:
        yield from ["### Follow-up", ""]
    for answer in one.answers:
        said = [*own(answer.lines), ""] if not one.partner else []
        yield from [f"**{answer.question}** {scored(answer, one.partner)}", "", *said]
        if answer.question in models:
            yield from ["My answer:", "", *quoted(models[answer.question]), ""]


def scored(answer: Answered, partner: bool) -> str:
    if partner:
        return f"Score: {answer.score} of {MOST_SELF}."
    return "You gave it no score." if answer.score is None else f"Your score: {answer.score} of {MOST_SELF}."


def own(lines: Iterable[str]) -> list[str]:
    return [f"- You: {escaped(line)}" for line in lines] or ["- You: nothing"]


def quoted(markdown: str) -> list[str]:
    return [f"> {line}".rstrip() for line in markdown.splitlines()]


def escaped(words: str) -> str:
    """What somebody typed, so that Markdown shows it as it stands: `a*b*c, __len__`."""
    return MARKUP.sub(lambda found: found[0][:-1] + "\\" + found[0][-1], words)
