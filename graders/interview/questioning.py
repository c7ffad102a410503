"""The candidate's questions: understood in their own words where that is sure, else asked back."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from graders.catalogue.texts import Question
from graders.interview.interview import Interview
from graders.interview.round import LIST_COST
from graders.sitting import asking_back
from graders.sitting.asking_back import Match, Offer
from graders.sitting.wording import is_vague

NOT_UNDERSTOOD = (
    f"I did not understand: put it another way. `questions` lists what I expect to be asked (-{LIST_COST} points)."
)


def answer(interview: Interview, line: str) -> None:
    """To a question in the candidate's words."""
    found = answer_if_sure(interview, line)
    if found is None:
        return
    interview.note("words", text=line)
    if found.clear:
        interview.say("I take that as:")
        likeliest, *others = found.maybe
        reply(interview, prepared(interview, likeliest), typed=line)
        offer(interview, others, line, likeliest)
    elif found.maybe:
        interview.say(asking_back.preamble(len(found.maybe), "ask"))
        offer(interview, found.maybe, line)
    else:
        interview.say(NOT_UNDERSTOOD)


def answer_if_sure(interview: Interview, line: str) -> Match | None:
    """By the contract, or by what is prepared; what else it may mean, where it was not answered."""
    if known := interview.contract.answer(line):
        reply(interview, known, typed=line)
        return None
    found = interview.matcher.match(line)
    if found.meant is None:
        return found
    reply(interview, prepared(interview, found.meant), typed=line)
    return None


def offer(interview: Interview, numbers: Sequence[int], line: str, taken: int | None = None) -> None:
    """Lists what else may be meant by a line; what it was taken for can be taken back.

    What is offered first was understood; a pick from what vague words bring up earns nothing.
    """

    def take(meant: int) -> None:
        how = "typed" if taken is None and meant == numbers[0] else "picked"
        reply(interview, prepared(interview, meant), earns=not is_vague(line), **{how: line})

    def take_back() -> None:
        assert taken is not None
        interview.note("back", question=prepared(interview, taken).question, text=line)

    if taken is not None:
        interview.say(asking_back.may_be_taken_back(len(numbers)))
    interview.offer = Offer(numbers, take, None if taken is None else take_back)
    show(interview, [(str(place), prepared(interview, one)) for place, one in enumerate(numbers, start=1)])


def ask(interview: Interview, argument: str) -> None:
    """A command: one of the prepared questions by its number."""
    count = len(interview.clarifying[interview.round.kata])
    if not argument or not 1 <= int(argument) <= count:
        interview.say(f"ask by number, from 1 to {count}; `questions` lists them")
        return
    if not interview.round.listed:
        interview.say(f"to ask by number, you need the list: `questions` shows it (-{LIST_COST} points)")
        return
    reply(interview, prepared(interview, int(argument) - 1))


def prepared(interview: Interview, index: int) -> Question:
    """Of the kata's own questions, which come first, or of the general ones."""
    return [*interview.clarifying[interview.round.kata], *interview.general[interview.round.kata]][index]


def reply(interview: Interview, one: Question, earns: bool = True, **asked: str) -> None:
    """The answer to a question that was asked in these words, or by its number. General and usual ones earn nothing."""
    own = interview.clarifying[interview.round.kata]
    if one in own:
        trap = earns and not one.usual and interview.phase != "follow-up"  # by then, it prepares nothing
        interview.note("ask", number=own.index(one) + 1, question=one.question, trap=trap, **asked)
    else:
        interview.note("general", question=one.question, **asked)
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
