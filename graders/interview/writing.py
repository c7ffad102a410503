"""What a candidate does while writing: has the answer graded, takes help for points."""

from __future__ import annotations

from graders.desk import attempts
from graders.interview.interview import VIA, Interview
from graders.interview.round import DIAGNOSIS_COST, HINT_COSTS
from graders.judge.card import Card, Row
from graders.judge.results import Result
from graders.sitting.grading import SittingReporter
from graders.sitting.interrupts import whole

MOST_NAMES = 10


class InterviewReporter(SittingReporter):
    """Shows what failed and what it cost, and not what it looks like: a hint outside of the interview costs nothing."""

    def rows(self, card: Card) -> list[Row]:
        """The card's facts, the names of what failed, and the cost."""
        rows = [*card.facts]
        names = list(dict.fromkeys(outcome.name.split("/")[1] for outcome in card.result.failures))
        if len(names) > 1:
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            rows.append(("checks", ", ".join(names[:MOST_NAMES]) + more))
        return rows + [("cost", words) for words in card.costs]


def submit(interview: Interview, argument: str) -> None:
    result = InterviewReporter(interview.terminal, interview.judge).of(interview.kata, interview.file)
    if result.todo:
        interview.say(f"nothing is written yet: write your answer into {interview.shown} first")
        return
    if not result.source_text.strip():
        interview.say(f"this does not count: there is nothing to judge in {interview.shown}")
        return
    with whole():
        note(interview, result)
    one = interview.round
    less = f", less {one.penalties} for help" if one.penalties else ""
    less += f", plus {one.earned} for questions" if one.earned else ""
    less += f": {one.measured}" if less else ""
    interview.say(
        f"this counts {one.score}{less}; " + ("`next` goes on" if one.solved else "`submit` again, or `next`")
    )


def note(interview: Interview, result: Result) -> None:
    """Remembers what was submitted, as an attempt at the kata also."""
    if interview.phase == "code":
        interview.enter(interview.round.kata, "test", quietly=True)
    attempts.record(interview.state, result, interview.judge.seed, VIA)
    interview.note(
        "submit",
        state=result.reached,
        score=result.score,
        max_score=result.max_score,
        failed=[outcome.name for outcome in result.failures],
        diagnosis=result.diagnosis,
        costs=result.costs,
    )


def diagnose(interview: Interview, argument: str) -> None:
    last = interview.round.last
    if last is None or last.state == "solved":
        interview.say("there is no failure to find a mistake for; `submit` first")
    elif not last.diagnosis:
        interview.say("your answer behaves like no known mistake; this costs nothing")
    else:
        if last.diagnosis not in interview.round.diagnoses:
            interview.note("diagnose", diagnosis=last.diagnosis)
        interview.say(f"looks like {last.diagnosis}  (-{DIAGNOSIS_COST} points)")


def hint(interview: Interview, argument: str) -> None:
    level = int(argument) if argument else min(interview.round.hints + 1, len(HINT_COSTS))
    if not 1 <= level <= min(interview.round.hints + 1, len(HINT_COSTS)):
        interview.say(f"hints come one by one, up to {len(HINT_COSTS)}; {interview.round.hints} were shown so far")
        return
    if level > interview.round.hints:
        interview.note("hint", level=level)
        interview.state.add("hint", interview.round.kata, {"level": level})
    interview.terminal.say(f"Hint {level} of {len(HINT_COSTS)} (-{HINT_COSTS[level - 1]} points)", style="bold")
    interview.terminal.markdown(interview.prepared.hints[level - 1])
