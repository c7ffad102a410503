"""An interview's report in the terminal: what was measured and what the candidate scored, apart from each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from graders.desk.status import when
from graders.interview.marks import MARKS, MOST, Marked, by_kata, marks, overall, trend
from graders.interview.record import MOST_SELF, InterviewReport
from graders.interview.round import Round
from graders.judge.screen import Fitting
from graders.sitting.clock import in_words
from graders.sitting.terminal import Terminal

WEAK = 1  # a score of one's own, up to which the answer should be read again
RECENT = 6  # interviews, or times that a kata was asked, whose marks and points are shown


def show(terminal: Terminal, past: Sequence[InterviewReport], number: int, at: datetime) -> None:
    """One of all interviews, by its place among them, from 1; what it is compared with is those before it."""
    report, known = past[number - 1], past[:number]
    terminal.heading(f"Report of interview {number}")
    took = f"took {in_words(report.elapsed)}"
    if report.overtime:
        took += f", {in_words(report.overtime)} over"
    ended = {"finished": took, "abandoned": f"{took}; abandoned"}.get(report.ended, f"{took} so far; still open")
    terminal.say(f"{report.when.astimezone():%Y-%m-%d %H:%M}, {report.minutes} minutes, seed {report.seed}; {ended}")
    for words in overall(report):
        terminal.say(words)
    section(terminal, f"Measured: {report.measured} of {report.max_score}", measured(report))
    if report.self_scores:
        most = MOST_SELF * len(report.self_scores)
        whose = "Your interviewer's scores" if report.partner else "Your own scores"
        section(terminal, f"{whose}: {sum(report.self_scores)} of {most}", own_scores(report))
    section(terminal, f"Marks, of {MOST} each", rubric(report))
    if len(marked := trend(known)) > 1:
        section(terminal, "Marks over interviews", over_interviews(marked))
    if again := {name: done for name, done in by_kata(known).items() if name in report.review and len(done) > 1}:
        section(terminal, "The same katas before", asked_before(again))
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
    made = Fitting(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=any(widths))
    for heading in widths:
        words = heading.endswith(".") or not heading
        made.add_column(heading.rstrip("."), justify="left" if words else "right", no_wrap=not words, overflow="fold")
    return made


def named(one: Round) -> str:
    """With an arrow before what the kata above turned into."""
    return f"→ {one.kata}" if one.after else one.kata


def measured(report: InterviewReport) -> Table:
    made = grid("kata.", "score", "help", "asked", "counts", "submits", "runs", "cost")
    for one in report.rounds:
        made.add_row(
            Text(named(one)),
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
        made.add_row(Text(named(one)), *("-" if mark is None else str(mark) for _, mark, _ in marks(one)))
    return made


def over_interviews(marked: Sequence[Marked]) -> Table:
    """The last ones, the newest below."""
    made = grid("", "measured", *MARKS)
    for number, one, known in marked[-RECENT:]:
        averages = ("-" if (mark := known[name]) is None else f"{mark:.1f}" for name in MARKS)
        share = f"{100 * one.measured / one.max_score:.0f} %"
        made.add_row(f"{number}: {one.when.astimezone():%Y-%m-%d}", share, *averages)
    return made


def asked_before(again: Mapping[str, Sequence[Round]]) -> Table:
    """`54, 80, now 92`"""
    made = grid("", "")
    for name, done in again.items():
        points = [str(one.measured) for one in done]
        left_out = [f"({len(points) - RECENT} earlier ones)"] if len(points) > RECENT else []
        made.add_row(Text(name), ", ".join([*left_out, *points[-RECENT:-1], f"now {points[-1]}"]))
    return made


def preparation(report: InterviewReport) -> Table:
    made = grid("", "")
    for one in report.rounds:
        made.add_row(Text(one.kata), Text(prepared(one)))
    return made


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
