"""An interview's report in the terminal: what was measured and what the candidate scored, apart from each other."""

from __future__ import annotations

from datetime import datetime

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from graders.desk.status import when
from graders.interview.record import MOST_SELF, InterviewReport
from graders.interview.round import Round, marks
from graders.sitting.clock import in_words
from graders.sitting.terminal import Terminal

WEAK = 1  # a score of one's own, up to which the answer should be read again


def show(terminal: Terminal, report: InterviewReport, number: int, at: datetime) -> None:
    """`number` is its place among all interviews, from 1."""
    terminal.heading(f"Report of interview {number}")
    took = f"took {in_words(report.elapsed)}"
    if report.overtime:
        took += f", {in_words(report.overtime)} over"
    ended = {"finished": took, "abandoned": f"{took}; abandoned"}.get(report.ended, f"{took} so far; still open")
    terminal.say(f"{report.when.astimezone():%Y-%m-%d %H:%M}, {report.minutes} minutes, seed {report.seed}; {ended}")
    section(terminal, f"Measured: {report.measured} of {report.max_score}", measured(report))
    if report.self_scores:
        most = MOST_SELF * len(report.self_scores)
        section(terminal, f"Your own scores: {sum(report.self_scores)} of {most}", own_scores(report))
    section(terminal, "Marks, of 3 each", rubric(report))
    section(terminal, "Preparation", preparation(report))
    section(terminal, "Timeline", timeline(report))
    section(terminal, "To review", review(report, at))
    terminal.say(f"\nthis again:  nox -s interview -- --report {number}")


def section(terminal: Terminal, title: str, table: Table) -> None:
    terminal.say()
    terminal.say(title, style="bold")
    terminal.show(Padding(table, (0, 0, 0, 2)))


def grid(*widths: str) -> Table:
    """Columns whose heading ends in a dot are of words and may be folded; the others are of numbers."""
    made = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=any(widths))
    for heading in widths:
        words = heading.endswith(".") or not heading
        made.add_column(heading.rstrip("."), justify="left" if words else "right", no_wrap=not words, overflow="fold")
    return made


def measured(report: InterviewReport) -> Table:
    made = grid("kata.", "score", "help", "asked", "counts", "submits", "runs", "cost")
    for one in report.rounds:
        made.add_row(
            Text(one.kata),
            f"{one.score}/{one.max_score}" if one.last else "-",
            f"-{one.penalties}" if one.penalties else "-",
            f"+{one.earned}" if one.earned else "-",
            str(one.measured),
            str(len(one.submits)),
            str(len(one.runs)),
            "-" if one.cost is None else f"{one.cost:.1f}x",
        )
    return made


def own_scores(report: InterviewReport) -> Table:
    made = grid("kata.", "question.", "score")
    for one in report.rounds:
        for answer in one.answers:
            if answer.score is not None:
                made.add_row(Text(one.kata), Text(answer.question), str(answer.score))
    return made


def rubric(report: InterviewReport) -> Table:
    names = [name for name, _, _ in marks(report.rounds[0])]
    made = grid("kata.", *names)
    for one in report.rounds:
        made.add_row(Text(one.kata), *("-" if mark is None else str(mark) for _, mark, _ in marks(one)))
    return made


def preparation(report: InterviewReport) -> Table:
    made = grid("", "")
    for one in report.rounds:
        made.add_row(Text(one.kata), Text(prepared(one)))
    return made


def prepared(one: Round) -> str:
    """`2 questions in your own words, 3 by number, 1 that was not understood; a plan of 4 lines; 1 hint`"""
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


def timeline(report: InterviewReport) -> Table:
    made = grid("", "")
    made.columns[0].justify, made.columns[0].no_wrap = "right", True
    for seconds, words in report.timeline:
        made.add_row(in_words(seconds), Text(words))
    return made


def review(report: InterviewReport, at: datetime) -> Table:
    made = grid("", "")
    for name, due in report.review.items():
        made.add_row(Text(name), "now: it is not solved yet" if due is None else when(due, at))
    for one in report.rounds:
        for answer in one.answers:
            if answer.score is not None and answer.score <= WEAK:
                made.add_row(Text(one.kata), Text(f"read again: {answer.question}"))
    return made
