"""The candidate's questions: understood in their own words where that is sure, else asked back."""

from __future__ import annotations

from rich.text import Text

from graders.catalogue.texts import Question
from graders.interview.interview import Interview
from graders.interview.round import LIST_COST
from graders.sitting import asking_back
from graders.sitting.asking_back import Offer

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
        interview.say(asking_back.preamble(len(found.maybe), "ask"))
        interview.offer = Offer(found.maybe, lambda meant: reply(interview, meant, line))
        show(interview, [(str(place), prepared(interview, one)) for place, one in enumerate(found.maybe, start=1)])
    else:
        interview.say(NOT_UNDERSTOOD)


def ask(interview: Interview, argument: str) -> None:
    """A command: one of the prepared questions by its number."""
    count = len(interview.clarifying[interview.round.kata])
    if not argument or not 1 <= int(argument) <= count:
        interview.say(f"ask by number, from 1 to {count}; `questions` lists them")
        return
    if not interview.round.listed:
        interview.say(f"to ask by number, you need the list: `questions` shows it (-{LIST_COST} points)")
        return
    reply(interview, int(argument) - 1)


def prepared(interview: Interview, index: int) -> Question:
    """Of the kata's own questions, which come first, or of the general ones."""
    return [*interview.clarifying[interview.round.kata], *interview.general[interview.round.kata]][index]


def reply(interview: Interview, index: int, words: str = "") -> None:
    """The answer to a question that was asked in these words, or by its number. General and usual ones earn nothing."""
    one, typed = prepared(interview, index), {"typed": words} if words else {}
    if index < len(interview.clarifying[interview.round.kata]):
        trap = not one.usual and interview.phase != "follow-up"  # by then, it prepares nothing
        interview.note("ask", number=index + 1, question=one.question, trap=trap, **typed)
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
