"""Runs an interview: one line after the other is read, and done, or noted as the candidate's words."""

from __future__ import annotations

from graders.interview import commands, follow_up, questioning
from graders.interview.interview import Interview
from graders.interview.round import PHASES
from graders.sitting import asking_back
from graders.sitting.commands import is_answer, nearest, unknown, until
from graders.sitting.commands import obey as do
from graders.sitting.wording import goes_on


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
        obey(interview, interview.ask())
        return
    question = follow_up.current(interview)
    if question is None and not follow_up.plan_waits(interview):
        interview.go_on()
        return
    line = interview.ask(follow_up.show(interview, question) if question else follow_up.show_plan(interview))
    if line.strip().lower() in commands.NAMES:  # the whole line
        obey(interview, line)
    elif question:
        follow_up.hear(interview, question, line)
    else:
        follow_up.score_plan(interview, line)


def obey(interview: Interview, line: str) -> None:
    """Does what a line says, or notes it as the candidate's words."""
    if not is_answer(line):
        interview.offer = None
    if not do(interview, line, commands.known(interview), commands.here(interview), interview.say):
        hear(interview, line)


def hear(interview: Interview, line: str) -> None:
    talks = interview.phase in ("clarify", "plan") and not interview.report.partner
    words = talks and len(line.split()) > 1
    near = "" if words else nearest(line, (one.name for one in commands.here(interview)))
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
