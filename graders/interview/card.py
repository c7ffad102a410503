"""An interview's report in the terminal: what was measured and what the candidate scored, apart from each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from rich.table import Table
from rich.text import Text

from graders.desk.status import when
from graders.interview.marks import MARKS, MOST, Marked, by_kata, marks, overall, trend
from graders.interview.record import MOST_SELF, InterviewReport
from graders.interview.round import Answered, Round
from graders.judge.screen import Fitting
from graders.sitting.clock import in_words, took
from graders.sitting.terminal import Terminal

MEASURED = ("kata.", "score", "help", "asked", "counts", "submits", "runs", "cost")
WEAK = 1  # a score of one's own, up to which the answer should be read again
RECENT = 6  # interviews, or times that a kata was asked, whose marks and points are shown


def show(terminal: Terminal, past: Sequence[InterviewReport], number: int, at: datetime) -> None:
    """One of all interviews, by its place among them, from 1; what it is compared with is those before it."""
    report, known, section = past[number - 1], past[:number], terminal.section
    terminal.heading(f"Report of interview {number}")
    terminal.say(f"{report.began}, {report.minutes} minutes, seed {report.seed}; {took(report)}")
    for words in overall(report):
        terminal.say(words)
    section(f"Measured: {report.measured} of {report.max_score}", table(MEASURED, map(measured, report.rounds)))
    if report.self_scores:
        most = MOST_SELF * len(report.self_scores)
        whose = "Your interviewer's scores" if report.partner else "Your own scores"
        scores = ((one.kata, answer.question, str(answer.score)) for one, answer in scored(report))
        section(f"{whose}: {sum(report.self_scores)} of {most}", table(("kata.", "question.", "score"), scores))
    section(f"Marks, of {MOST} each", table(("kata.", *MARKS), map(rubric, report.rounds)))
    if len(marked := trend(known)) > 1:
        section("Marks over interviews", table(("", "measured", *MARKS), over_interviews(marked)))
    if again := {name: done for name, done in by_kata(known).items() if name in report.review and len(done) > 1}:
        section("The same katas before", table(("", ""), ((name, points(done)) for name, done in again.items())))
    section("Preparation", table(("", ""), ((one.kata, prepared(one)) for one in report.rounds)))
    section("Timeline", table((">", ""), ((in_words(seconds), words) for seconds, words in report.timeline)))
    section("To review", table(("", ""), review(report, at)))
    terminal.say(f"\nthis again:  nox -s interview -- --report {number}")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Columns whose heading ends in a dot, or is empty, are of words and may be folded; the others are of numbers."""
    made = Fitting(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=headings[-1] != "")
    for heading in headings:
        words = heading.endswith(".") or not heading
        made.add_column(heading.rstrip(".>"), justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for row in rows:
        made.add_row(*map(Text, row))
    return made


def named(one: Round) -> str:
    """With an arrow before what the kata above turned into."""
    return f"→ {one.kata}" if one.after else one.kata


def measured(one: Round) -> Sequence[str]:
    return (
        named(one),
        f"{one.score}/{one.max_score}" if one.last else "-",
        f"-{one.penalties}" if one.penalties else "-",
        f"+{one.earned}" if one.earned else "-",
        str(one.measured),
        str(len(one.submits)),
        str(len(one.runs)),
        "-" if one.cost is None else f"{one.cost:.1f}x",
    )


def scored(report: InterviewReport) -> list[tuple[Round, Answered]]:
    return [(one, answer) for one in report.rounds for answer in one.answers if answer.score is not None]


def rubric(one: Round) -> Sequence[str]:
    return named(one), *("-" if mark is None else str(mark) for _, mark, _ in marks(one))


def over_interviews(marked: Sequence[Marked]) -> Iterator[Sequence[str]]:
    """The last ones, the newest below."""
    for number, one, known in marked[-RECENT:]:
        averages = ("-" if (mark := known[name]) is None else f"{mark:.1f}" for name in MARKS)
        share = f"{100 * one.measured / one.max_score:.0f} %"
        yield f"{number}: {one.when.astimezone():%Y-%m-%d}", share, *averages


def points(done: Sequence[Round]) -> str:
    """`54, 80, now 92`"""
    found = [str(one.measured) for one in done]
    left_out = [f"({len(found) - RECENT} earlier ones)"] if len(found) > RECENT else []
    return ", ".join([*left_out, *found[-RECENT:-1], f"now {found[-1]}"])


def prepared(one: Round) -> str:
    """`2 questions in your own words, 3 by number, 1 that was not understood; a plan of 4 lines; 1 hint`"""
    if one.partner:
        return f"asked {counted(len(one.typed), 'question')} of those prepared; {counted(one.hints, 'hint')}"
    by_number = len(one.asked) - len(one.typed)
    asked = f"{counted(len(one.typed), 'question')} in your own words, {by_number} by number"
    if one.words:
        asked += f", {len(one.words)} that I did not understand"
    if one.listed:
        asked += "; you saw the list"
    words = [asked, f"a plan of {counted(len(one.plan), 'line')}" if one.plan else "no plan"]
    if one.hints:
        words.append(counted(one.hints, "hint"))
    if one.diagnoses:
        words.append("diagnosis" if len(one.diagnoses) == 1 else f"{len(one.diagnoses)} diagnoses")
    return "; ".join(words)


def counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def review(report: InterviewReport, at: datetime) -> Iterator[Sequence[str]]:
    for name, due in report.review.items():
        yield name, "now: it is not solved yet" if due is None else when(due, at)
    for one, answer in scored(report):
        if answer.score is not None and answer.score <= WEAK:
            yield one.kata, f"read again: {answer.question}"
