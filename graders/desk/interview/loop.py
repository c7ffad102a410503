"""Runs an interview: one line after the other is read, and done, or noted as the candidate's words."""

from __future__ import annotations

import difflib

from graders.desk.interview import commands, follow_up
from graders.desk.interview.room import Room
from graders.faults import UsageError


def run(room: Room) -> None:
    """Until it is over. Raises: Suspended, EOFError, KeyboardInterrupt."""
    if not room.phase:
        room.enter(room.report.rounds[0].kata, "clarify")
    else:
        room.introduce()
    while not room.report.ended:
        try:
            step(room)
        except UsageError as error:
            room.say(f"error: {error}")
            if room.phase == "follow-up":  # what failed may have come before a line was read
                room.talk.ask("Enter tries again > ")


def step(room: Room) -> None:
    """One line on. Raises: UsageError, and what `run` raises."""
    if room.phase != "follow-up":
        obey(room, room.ask())
        return
    question = follow_up.current(room)
    if question is None:
        room.go_on()
        return
    line = room.ask(follow_up.show(room, question))
    if line.strip().lower() in commands.COMMANDS:  # the whole line
        obey(room, line)
    else:
        follow_up.hear(room, question, line)


def obey(room: Room, line: str) -> None:
    """Does what a line says, or notes it as the candidate's words."""
    word, _, rest = line.strip().partition(" ")
    command = commands.COMMANDS.get(word.lower())
    if command is None or not command.fits(rest.strip()):
        hear(room, line)
    elif room.phase not in command.phases:
        on = "skip" if room.phase == "follow-up" else "next"
        room.say(f"{command.name} belongs to {' and '.join(command.phases)}; `{on}` goes on here")
    else:
        command.act(room, rest.strip())
        if room.doubtful != command.name:
            room.doubtful = ""


def hear(room: Room, line: str) -> None:
    room.doubtful = ""
    near = difflib.get_close_matches(line.strip().lower(), commands.names(room.phase), n=1, cutoff=0.7)
    if not line:
        return
    if near or room.phase not in ("clarify", "plan"):
        hint = f"did you mean {near[0]}?" if near else "`help` lists what you can type"
        room.say(f"there is no command {line.split()[0]!r} here; {hint}")
        return
    room.note("words" if room.phase == "clarify" else "plan", text=line)
    room.say("noted")
