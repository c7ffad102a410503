"""The candidate's questions: understood in their own words where that is sure, else asked back."""

from __future__ import annotations

from rich.text import Text

from graders.interview.interview import Interview
from graders.interview.round import LIST_COST

NO_ANSWER = "I have no answer ready to that: decide it yourself, and say what you choose."


def answer(interview: Interview, line: str) -> None:
    """To a question in the candidate's words."""
    found = interview.matcher.match(line)
    if found.meant is not None:
        reply(interview, found.meant + 1, typed=line)
        return
    interview.note("words", text=line)
    if found.maybe:
        alone = len(found.maybe) == 1
        how = "Type `yes`" if alone else "Type `ask` and its number"
        interview.say(f"I am not sure what you ask. Do you mean this? {how}, or put it another way.")
        interview.offered = (found.maybe[0] + 1, line) if alone else None
        show(interview, [number + 1 for number in found.maybe])
    else:
        interview.say(NO_ANSWER)


def take(interview: Interview, meant: bool) -> None:
    """What was asked back: whether it was meant."""
    assert interview.offered
    number, words = interview.offered
    if meant:
        reply(interview, number, typed=words)
    else:
        interview.say("Then put it another way, or go on.")


def ask(interview: Interview, argument: str) -> None:
    """A command: one of the prepared questions by its number."""
    count = len(interview.clarifying[interview.round.kata])
    if not argument or not 1 <= int(argument) <= count:
        interview.say(f"ask by number, from 1 to {count}; `questions` lists them")
        return
    reply(interview, int(argument))


def reply(interview: Interview, number: int, **typed: str) -> None:
    one = interview.clarifying[interview.round.kata][number - 1]
    interview.note("ask", number=number, question=one.question, **typed)
    interview.terminal.say(one.question, style="bold")
    interview.terminal.markdown(one.answer)


def show_all(interview: Interview, argument: str) -> None:
    """A command: the list of all of them, which costs points once."""
    if not interview.round.listed and not interview.confirm(f"the list costs {LIST_COST} points; show it?"):
        return
    if not interview.round.listed:
        interview.note("list")
    show(interview, list(range(1, len(interview.clarifying[interview.round.kata]) + 1)))


def show(interview: Interview, numbers: list[int]) -> None:
    table = interview.terminal.two_columns()
    for number in numbers:
        one = interview.clarifying[interview.round.kata][number - 1]
        table.add_row(str(number), Text(one.question + (" (asked)" if number in interview.round.asked else "")))
    interview.terminal.show(table)
