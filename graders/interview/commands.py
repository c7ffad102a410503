"""What a candidate can type, by phase."""

from __future__ import annotations

from dataclasses import replace

from graders.interview import follow_up, questioning, writing
from graders.interview.interview import WRITING, Interview
from graders.interview.round import DIAGNOSIS_COST, HINT_COSTS, LIST_COST, PHASES
from graders.sitting import running
from graders.sitting.commands import Command, Suspended, tell

TALKING = ("clarify", "plan", "code", "test")


def prompt(interview: Interview, argument: str) -> None:
    interview.terminal.markdown(interview.prompts[interview.round.kata])


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


def suspend(interview: Interview, argument: str) -> None:
    raise Suspended


def end(interview: Interview, argument: str) -> None:
    if interview.confirm("this ends the interview, with a report of what is there; end it?"):
        interview.measure_tests()
        interview.finish()


def tell_commands(interview: Interview, argument: str) -> None:
    tell(interview.terminal, here(interview), {} if interview.report.partner else WORDS.get(interview.phase, QUESTION))


def known(interview: Interview) -> list[Command[Interview]]:
    """What can be typed in it at all; where people talk, they go on when they like."""
    partner = interview.report.partner
    there = [one for one in EVERY if not partner or one.name in WITH_A_PARTNER]
    return [replace(one, phases=PHASES) if partner and one.name == "next" else one for one in there]


def here(interview: Interview) -> list[Command[Interview]]:
    """What can be typed where it stands."""
    return [one for one in known(interview) if interview.phase in one.phases]


WITH_A_PARTNER = ("help", "prompt", "time", "run", "submit", "next", "quit", "end")
QUESTION = {"…?": "a question to me"}
WORDS = {
    "clarify": {"…": "anything else is a question to me"},
    "plan": QUESTION | {"…": "anything else is noted as your plan"},
}
EVERY: tuple[Command[Interview], ...] = (
    Command("help", "this list", PHASES, tell_commands),
    Command("prompt", "the task again", PHASES, prompt),
    Command("time", "how much time has passed, and how much is left", PHASES, tell_time),
    Command(
        "questions",
        f"the questions that I expect, which tell you the traps; -{LIST_COST} points",
        TALKING,
        questioning.show_all,
    ),
    Command("ask N", "the answer to question N of that list", TALKING, questioning.ask, "number"),
    Command("plan TEXT", "note a line of your plan; `plan` alone shows the lines so far", ("plan",), plan, "words"),
    Command(
        "run FILE",
        "run tests of yours: FILE, else the file that you ran last, else KATA_test.py",
        WRITING,
        running.run,
        "word",
    ),
    Command("submit", "grade the answer; the last time counts", WRITING, writing.submit),
    Command(
        "diagnose",
        f"name the mistake, if it is a known one; -{DIAGNOSIS_COST} points",
        WRITING,
        writing.diagnose,
    ),
    Command(
        "hint N",
        "the next hint, or hint N again; " + ", ".join(f"-{cost}" for cost in HINT_COSTS) + " points",
        WRITING,
        writing.hint,
        "number",
    ),
    Command("skip", "leave this question unanswered", ("follow-up",), follow_up.skip),
    Command("next", "go on to the next phase", TALKING, go_on),
    Command("quit", "go on another time, with --resume; the clock runs on", PHASES, suspend),
    Command("end", "end the interview now, with its report", PHASES, end),
)
NAMES = {command.name for command in EVERY}
