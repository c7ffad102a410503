"""What a kata's round, and a whole interview, come to: five marks, and the line that labs write at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import mean

from graders.desk.measured_tests import Measured
from graders.interview.record import MOST_SELF, InterviewReport
from graders.interview.round import Round
from graders.sitting.clock import in_words

MARKS = ("clarify", "plan", "code", "test", "explain")
MOST = 3  # of each
Mark = tuple[int | None, str]
Averages = dict[str, float | None]
Marked = tuple[int, InterviewReport, Averages]  # by number, with the averages of its marks
VERDICTS = ((0.9, "strong hire"), (0.75, "hire"), (0.6, "lean hire"), (0.4, "lean no hire"), (0.0, "no hire"))
WEIGHTS = {"points": 0.7, "test": 0.2, "clarify": 0.1}  # of what is measured
NEEDED, LEAST = {"test": "own tests", "clarify": "questions", "explain": "explanations"}, 2  # for the best of them
LATE = 0.1  # of the time, by which more costs a verdict's step


def marks(one: Round) -> list[tuple[str, int | None, str]]:
    """Each from 0 to 3, and where it is from; None where that was not reached, or not scored yet."""
    found = (clarify(one), plan(one), code(one), test(one), explain(one))
    return [(name, mark, source) for name, (mark, source) in zip(MARKS, found, strict=True)]


def clarify(one: Round) -> Mark:
    mark = min(len(one.traps), MOST) if one.traps or "clarify" in one.reached else None
    how = "counted by your interviewer" if one.partner else "measured"
    return mark, f"{how}: questions about this task's traps, in your own words"


def plan(one: Round) -> Mark:
    passed = "plan" in one.reached and one.reached[-1] != "plan"
    if passed and not one.plan and not one.partner:
        return 0, "measured: there is no plan"
    return one.plan_score, f"scored by {one.scorer}, compared with the idea"


def code(one: Round) -> Mark:
    by_score = sum(one.score >= limit for limit in (50, 80, 100)) if one.last else 0
    mark = by_score if one.last or "code" in one.reached else None
    return mark, "measured: one point each if the last submission has at least 50, 80 and 100 points"


def test(one: Round) -> Mark:
    """By the share of known mistakes that own tests catch; interviews of older versions had another measure."""
    if one.tests is None and not one.runs:
        return 0 if "test" in one.reached else None, "measured: no tests of your own were run"
    if one.tests is None:
        tested = [passed for _, passed in one.runs]
        return (
            1 + (one.tested_first > 0) + any(tested),
            "measured: one point each if own tests were run, if some were run before submitting, and if some passed",
        )
    right, caught, known = one.tests
    if not known:
        return None, "not measured"
    mark = sum(right and caught >= share * known and caught > 0 for share in (0, 1 / 3, 2 / 3))
    return mark, f"measured: {Measured(*one.tests).in_words}"


def explain(one: Round) -> Mark:
    return round(mean(one.self_scores)) if one.self_scores else None, f"scored by {one.scorer}: the follow-up questions"


def averages(report: InterviewReport) -> Averages:
    """Of each mark over the interview's katas; None where no kata has it."""
    every = [mark for one in report.rounds for mark in marks(one)]
    found = {name: [mark for other, mark, _ in every if other == name and mark is not None] for name in MARKS}
    return {name: mean(known) if known else None for name, known in found.items()}


def overall(report: InterviewReport) -> Iterator[str]:
    """What a lab would write, by what was measured and by the candidate's own scores, apart, each with its grounds."""
    if report.ended != "finished":
        return
    if not any(one.submits for one in report.rounds):
        yield "Overall: no verdict, since nothing was submitted."
        return
    late, known = report.overtime > LATE * 60 * report.minutes, averages(report)
    share, words = measured_share(report, known), ", ".join(grounds(report, known, late))
    known["explain"] = known["explain"] or 0  # who explains nothing is no strong hire
    lacking = [what for name, what in NEEDED.items() if (mark := known[name]) is not None and mark < LEAST]
    capped = share >= VERDICTS[0][0] and bool(lacking)
    why = f"; a strong hire has {LEAST} of {MOST} or more in {' and '.join(lacking)} also" * capped
    step = verdict(share, late or capped)
    yield f"Overall: {step}, by what was measured: {words}{why}."
    own = [score for one in report.rounds for score in (*one.self_scores, one.plan_score) if score is not None]
    planned = ", plans included," if any(one.plan_score is not None for one in report.rounds) else ""
    if own:
        share = sum(own) / (MOST_SELF * len(own))
        whose = "your interviewer's" if report.partner else "your own"
        yield f"By {whose} scores{planned} the verdict would be {verdict(share)}: {sum(own)} of {MOST_SELF * len(own)}."


def verdict(share: float, late: bool = False) -> str:
    words = [name for _, name in VERDICTS]
    step = next(place for place, (least, _) in enumerate(VERDICTS) if share >= least)
    return words[min(step + late, len(words) - 1)]


def measured_share(report: InterviewReport, known: Averages) -> float:
    shares = {"points": report.measured / report.max_score}
    shares |= {name: mark / MOST for name in ("test", "clarify") if (mark := known[name]) is not None}
    return sum(WEIGHTS[name] * share for name, share in shares.items()) / sum(WEIGHTS[name] for name in shares)


def grounds(report: InterviewReport, known: Averages, late: bool) -> Iterator[str]:
    yield f"{report.measured} of {report.max_score} points"
    for name, words in (("test", "own tests"), ("clarify", "questions")):
        if (mark := known[name]) is not None:
            yield f"{words} {mark:.1f} of {MOST}"
    over = f"{in_words(report.overtime)} over time" if report.overtime else "in time"
    yield over + ", which lowers the verdict by a step" * late


def trend(reports: Iterable[InterviewReport]) -> list[Marked]:
    """The interviews that were held to their end."""
    return [(number, one, averages(one)) for number, one in enumerate(reports, start=1) if one.ended == "finished"]


def by_kata(reports: Iterable[InterviewReport]) -> dict[str, list[Round]]:
    """What was submitted for each kata, the oldest first."""
    found: dict[str, list[Round]] = {}
    for one in reports:
        for submitted in (part for part in one.rounds if part.submits):
            found.setdefault(submitted.kata, []).append(submitted)
    return found
