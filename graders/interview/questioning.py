"""The candidate's questions: understood in their own words where that is sure, else asked back."""

from __future__ import annotations

from rich.text import Text

from graders.catalogue.texts import Question
from graders.interview.interview import Interview
from graders.interview.round import LIST_COST

NOT_UNDERSTOOD = (
    f"I did not understand: put it another way. `questions` lists what I expect to be asked (-{LIST_COST} points)."
)


def answer(interview: Interview, line: str) -> None:
    """To a question in the candidate's words."""
    found = interview.matcher.match(line)
    if found.meant is not None:
        reply(interview, found.meant, line)
        return
    interview.note("words", text=line)
    if found.maybe:
        how = "Type `yes`" if len(found.maybe) == 1 else "Type its number"
        interview.say(f"I am not sure what you ask. Do you mean this? {how}, or put it another way.")
        interview.offered = found.maybe, line
        show(interview, [(str(place), prepared(interview, one)) for place, one in enumerate(found.maybe, start=1)])
    else:
        interview.say(NOT_UNDERSTOOD)


def take(interview: Interview, said: str) -> None:
    """What was asked back: which was meant, by its place; or `yes`, where there is one; or `no`."""
    assert interview.offered
    offered, words = interview.offered
    if said.startswith("n"):
        interview.say("Then put it another way, or go on.")
    elif said.isdecimal() and 1 <= int(said) <= len(offered):
        reply(interview, offered[int(said) - 1], words)
    elif said.isdecimal() or len(offered) > 1:
        interview.say(f"Which of them? Type a number from 1 to {len(offered)}, or put it another way.")
        return
    else:
        reply(interview, offered[0], words)
    interview.offered = None


def ask(interview: Interview, argument: str) -> None:
    """A command: one of the prepared questions by its number."""
    count = len(interview.clarifying[interview.round.kata])
    if not argument or not 1 <= int(argument) <= count:
        interview.say(f"ask by number, from 1 to {count}; `questions` lists them")
        return
    reply(interview, int(argument) - 1)


def prepared(interview: Interview, index: int) -> Question:
    """Of the kata's own questions, which come first, or of the general ones."""
    return [*interview.clarifying[interview.round.kata], *interview.general[interview.round.kata]][index]


def reply(interview: Interview, index: int, words: str = "") -> None:
    """The answer to a question that was asked in these words, or by its number. General ones earn nothing."""
    one, typed = prepared(interview, index), {"typed": words} if words else {}
    if index < len(interview.clarifying[interview.round.kata]):
        interview.note("ask", number=index + 1, question=one.question, **typed)
    else:
        interview.note("general", question=one.question, **typed)
    interview.terminal.say(one.question, style="bold")
    interview.terminal.markdown(one.answer)


def show_all(interview: Interview, argument: str) -> None:
    """A command: the list of all of them, which costs points once."""
    if not interview.round.listed and not interview.confirm(f"the list costs {LIST_COST} points; show it?"):
        return
    if not interview.round.listed:
        interview.note("list")
    own = enumerate(interview.clarifying[interview.round.kata], start=1)
    show(interview, [(str(number), one) for number, one in own])


def show(interview: Interview, rows: list[tuple[str, Question]]) -> None:
    table = interview.terminal.two_columns()
    asked = {prepared(interview, number - 1).question for number in interview.round.asked}
    for number, one in rows:
        table.add_row(number, Text(one.question + (" (asked)" if one.question in asked else "")))
    interview.terminal.show(table)
