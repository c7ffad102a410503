"""Runs an interview: one line after the other is read, and done, or noted as the candidate's words."""

from __future__ import annotations

from graders.faults import UsageError
from graders.interview import commands, follow_up, questioning
from graders.interview.interview import Interview
from graders.sitting import asking_back
from graders.sitting.commands import at, is_answer, nearest, unknown
from graders.sitting.interrupts import Stopped


def run(interview: Interview) -> None:
    """Until it is over. Raises: Suspended, EOFError, KeyboardInterrupt."""
    if not interview.phase:
        interview.enter(interview.report.rounds[0].kata, "clarify")
    else:
        interview.introduce()
    while not interview.report.ended:
        try:
            step(interview)
        except Stopped as stopped:
            interview.say(str(stopped))
        except UsageError as error:
            interview.say(f"error: {error}")
            if interview.phase == "follow-up":  # what failed may have come before a line was read
                interview.terminal.ask(lambda: "Enter tries again > ")


def step(interview: Interview) -> None:
    """One line on. Raises: UsageError, and what `run` raises."""
    if interview.phase != "follow-up":
        obey(interview, interview.ask())
        return
    question = follow_up.current(interview)
    if question is None and follow_up.plan_waits(interview):
        line = interview.ask(follow_up.show_plan(interview))
        if line.strip().lower() in commands.COMMANDS:
            obey(interview, line)
        else:
            follow_up.score_plan(interview, line)
        return
    if question is None:
        interview.go_on()
        return
    line = interview.ask(follow_up.show(interview, question))
    if line.strip().lower() in commands.COMMANDS:  # the whole line
        obey(interview, line)
    elif not interview.round.answer(question.question).revealed and follow_up.is_no_answer(question, line):
        follow_up.ask_again(interview, question, line)
    else:
        follow_up.hear(interview, question, line)


def obey(interview: Interview, line: str) -> None:
    """Does what a line says, or notes it as the candidate's words."""
    word, _, rest = line.strip().partition(" ")
    if not is_answer(line):
        interview.offer = None
    command = commands.COMMANDS.get(word.lower())
    if command is None or not command.fits(rest.strip()):
        hear(interview, line)
    elif interview.phase not in command.phases:
        on = "skip" if interview.phase == "follow-up" else "next"
        interview.say(f"{command.name} is for {' and '.join(command.phases)}; type `{on}` to go on")
    else:
        command.act(interview, rest.strip())


def hear(interview: Interview, line: str) -> None:
    words = interview.phase in ("clarify", "plan") and len(line.split()) > 1
    near = "" if words else nearest(line, (one.name for one in at(interview.phase, commands.EVERY)))
    if not line:
        return
    if is_answer(line):
        if not interview.offer:
            interview.say("there is no question open; `help` lists what you can type")
        elif asking_back.answered(interview.offer, line.strip().lower(), interview.say):
            interview.offer = None
        return
    if near or (interview.phase not in ("clarify", "plan") and not line.endswith("?")):
        interview.say(unknown(line, near))
        return
    if interview.phase == "clarify" or line.endswith("?"):
        questioning.answer(interview, line)
    else:
        interview.note("plan", text=line)
        interview.say("noted")
