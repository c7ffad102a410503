"""What a candidate can type, by phase, and the loop that does it, or notes it as the candidate's words."""

from __future__ import annotations

from dataclasses import replace

from graders.interview import follow_up, questioning, writing
from graders.interview.interview import WRITING, Interview
from graders.interview.round import DIAGNOSIS_COST, HINT_COSTS, LIST_COST, PHASES
from graders.sitting import asking_back, running
from graders.sitting.commands import QUIT, TIME, Command, is_answer, nearest, obey, tell, unknown, until
from graders.sitting.wording import goes_on

TALKING = ("clarify", "plan", "code", "test")


def run(interview: Interview) -> None:
    """Until it is over. Raises: Suspended, EOFError, KeyboardInterrupt."""
    if not interview.phase:
        interview.enter(interview.report.rounds[0].kata, PHASES[0])
    else:
        interview.introduce()

    def failed() -> None:
        if interview.phase == PHASES[-1]:  # what failed may have come before a line was read
            interview.terminal.ask(lambda: "Enter tries again > ")

    until(lambda: bool(interview.report.ended), lambda: step(interview), interview.say, failed)


def step(interview: Interview) -> None:
    """One line on. Raises: UsageError, and what `run` raises."""
    if interview.phase != "follow-up" or interview.report.partner:
        do(interview, interview.ask())
        return
    question = follow_up.current(interview)
    if question is None and not follow_up.plan_waits(interview):
        interview.go_on()
        return
    line = interview.ask(follow_up.show(interview, question) if question else follow_up.show_plan(interview))
    if line.strip().lower() in NAMES:  # the whole line
        do(interview, line)
    elif question:
        follow_up.hear(interview, question, line)
    else:
        follow_up.score_plan(interview, line)


def do(interview: Interview, line: str) -> None:
    """Does what a line says, or notes it as the candidate's words."""
    if not is_answer(line):
        interview.offer = None
    if not obey(interview, line, known(interview), here(interview), interview.say):
        hear(interview, line)


def hear(interview: Interview, line: str) -> None:
    talks = interview.phase in ("clarify", "plan") and not interview.report.partner
    words = talks and len(line.split()) > 1
    near = "" if words else nearest(line, (one.name for one in here(interview)))
    if near and not is_answer(line):
        interview.say(unknown(line, near))
    elif interview.report.partner:
        interview.say("tell that to your interviewer; `help` lists what you can type")
    elif is_answer(line):
        if asking_back.answered(interview.offer, line, interview.say):
            interview.offer = None
    elif interview.phase == "clarify" and goes_on(line):
        interview.say("then type `next`")
    elif interview.phase == "clarify" or line.endswith("?"):
        questioning.answer(interview, line)
    elif talks:
        interview.note("plan", text=line)
        interview.say("noted")
    else:
        interview.say(unknown(line, near))


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
    TIME,
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
    QUIT,
    Command("end", "end the interview now, with its report", end),
)
NAMES = {command.name for command in EVERY}
