"""What a candidate can type, by phase."""

from __future__ import annotations

from dataclasses import replace

from graders.interview import follow_up, questioning, writing
from graders.interview.interview import WRITING, Interview
from graders.interview.round import DIAGNOSIS_COST, HINT_COSTS, LIST_COST
from graders.sitting import running
from graders.sitting.commands import Command, suspend, tell

TALKING = ("clarify", "plan", "code", "test")


def prompt(interview: Interview, argument: str) -> None:
    interview.terminal.markdown(interview.prepared.prompt)


def plan(interview: Interview, argument: str) -> None:
    if argument:
        interview.note("plan", text=argument)
        interview.say("noted")
    for line in () if argument else interview.round.plan:
        interview.say(f"  {line}")


def go_on(interview: Interview, argument: str) -> None:
    if (
        interview.phase != "test"
        or interview.round.submits
        or interview.confirm("nothing was submitted, which counts 0; go on?")
    ):
        interview.go_on()


def tell_time(interview: Interview, argument: str) -> None:
    interview.tell_time()


def end(interview: Interview, argument: str) -> None:
    if interview.confirm("this ends the interview, with a report of what is there; end it?"):
        interview.measure_tests()
        interview.finish()


def tell_commands(interview: Interview, argument: str) -> None:
    tell(interview.terminal, here(interview), {} if interview.report.partner else WORDS.get(interview.phase, QUESTION))


def known(interview: Interview) -> list[Command[Interview]]:
    """What can be typed in it at all; where people talk, they go on when they like."""
    if not interview.report.partner:
        return [*EVERY]
    there = [one for one in EVERY if one.name in WITH_A_PARTNER]
    return [replace(one, phases=()) if one.name == "next" else one for one in there]


def here(interview: Interview) -> list[Command[Interview]]:
    """What can be typed where it stands."""
    return [one for one in known(interview) if not one.phases or interview.phase in one.phases]


WITH_A_PARTNER = ("help", "prompt", "time", "run", "submit", "next", "quit", "end")
QUESTION = {"…?": "a question to me"}
WORDS = {
    "clarify": {"…": "anything else is a question to me"},
    "plan": QUESTION | {"…": "anything else is noted as your plan"},
}
COSTS = ", ".join(f"-{cost}" for cost in HINT_COSTS)
EVERY: tuple[Command[Interview], ...] = (
    Command("help", "this list", tell_commands),
    Command("prompt", "the task again", prompt),
    Command("time", "how much time has passed, and how much is left", tell_time),
    Command(
        "questions",
        f"the questions that I expect, which tell you the traps; -{LIST_COST} points",
        questioning.show_all,
        phases=TALKING,
    ),
    Command("ask N", "the answer to question N of that list", questioning.ask, "number", TALKING),
    Command("plan TEXT", "note a line of your plan; `plan` alone shows the lines so far", plan, "words", ("plan",)),
    Command("run FILE", f"run tests of yours: {running.WHICH}", running.run, "word", WRITING),
    Command("submit", "grade the answer; the last time counts", writing.submit, phases=WRITING),
    Command(
        "diagnose",
        f"name the mistake, if it is a known one; -{DIAGNOSIS_COST} points",
        writing.diagnose,
        phases=WRITING,
    ),
    Command("hint N", f"the next hint, or hint N again; {COSTS} points", writing.hint, "number", WRITING),
    Command("skip", "leave this question unanswered", follow_up.skip, phases=("follow-up",)),
    Command("next", "go on to the next phase", go_on, phases=TALKING),
    Command("quit", "go on another time, with --resume; the clock runs on", suspend),
    Command("end", "end the interview now, with its report", end),
)
NAMES = {command.name for command in EVERY}
