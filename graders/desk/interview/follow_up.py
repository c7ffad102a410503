"""The questions at the end of a kata: the candidate's answer, then ours beside it, then the candidate's own score."""

from __future__ import annotations

from graders.catalogue.statement import Question
from graders.desk.interview.record import MOST_SELF
from graders.desk.interview.room import Room

SCORES = "0 nothing of it, 1 a part, 2 the main point, 3 all that matters"


def current(room: Room) -> Question | None:
    """The first that has no score yet."""
    asked = room.follow_ups[room.round.kata]
    return next((one for one in asked if room.round.answer(one.question).score is None), None)


def show(room: Room, question: Question) -> str:
    """Puts the question on the screen, unless it is there; returns what is asked for beside the time that is left."""
    revealed = room.round.answer(question.question).revealed
    if room.shown != question.question:
        asked = room.follow_ups[room.round.kata]
        room.say()
        room.talk.say(f"Question {asked.index(question) + 1} of {len(asked)}: {question.question}", style="bold")
        for line in room.round.answer(question.question).lines:
            room.say(f"you said: {line}")
        room.shown = question.question
        if revealed:
            show_answer(room, question)
            ask_score(room)
    return "your score " if revealed else ""


def hear(room: Room, question: Question, line: str) -> None:
    """Takes a line of the answer, or the score. Raises: UsageError."""
    if room.round.answer(question.question).revealed:
        take_score(room, question, line)
    else:
        take_answer(room, question, line)


def take_answer(room: Room, question: Question, line: str) -> None:
    if line:
        room.note("answer", question=question.question, text=line)
    elif room.round.answer(question.question).lines:
        reveal(room, question)
    else:
        room.say("type an answer and then an empty line; or `skip`")


def take_score(room: Room, question: Question, line: str) -> None:
    if line.strip() in map(str, range(MOST_SELF + 1)):
        room.note("score", question=question.question, score=int(line))
    else:
        ask_score(room)


def skip(room: Room, argument: str) -> None:
    """A command: the answer is shown, and the score is 0."""
    question = current(room)
    if question is not None and not room.round.answer(question.question).revealed:
        room.note("reveal", question=question.question)
        show_answer(room, question)
    if question is not None:
        room.note("score", question=question.question, score=0)


def reveal(room: Room, question: Question) -> None:
    room.note("reveal", question=question.question)
    show_answer(room, question)
    ask_score(room)


def show_answer(room: Room, question: Question) -> None:
    room.say()
    room.say("My answer")
    room.talk.markdown(question.answer)


def ask_score(room: Room) -> None:
    room.say()
    room.say(f"How good was yours, from 0 to {MOST_SELF}? {SCORES}")
