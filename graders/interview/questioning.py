"""The candidate's questions: understood in their own words where that is sure, else asked back."""

from __future__ import annotations

from collections.abc import Sequence

from graders.catalogue.texts import Question
from graders.interview.interview import Interview
from graders.interview.round import LIST_COST
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
        reply(interview, interview.prepared.questions[likeliest], typed=line)
        offer(interview, others, line, likeliest)
    elif found.maybe:
        offer(interview, found.maybe, line)
    else:
        interview.say(NOT_UNDERSTOOD)


def answer_if_sure(interview: Interview, line: str) -> Match | None:
    """By the contract, or by what is prepared; what else it may mean, where it was not answered."""
    if known := interview.prepared.contract.answer(line):
        reply(interview, known, typed=line)
        return None
    found = interview.prepared.matcher.match(line)
    if found.meant is None:
        return found
    reply(interview, interview.prepared.questions[found.meant], typed=line)
    return None


def offer(interview: Interview, numbers: Sequence[int], line: str, taken: int | None = None) -> None:
    """Lists what else may be meant by a line; what it was taken for can be taken back.

    What is offered first was understood; a pick from what vague words bring up earns nothing.
    """
    known = interview.prepared.questions

    def take(meant: int) -> None:
        how = "typed" if taken is None and meant == numbers[0] else "picked"
        reply(interview, known[meant], earns=not is_vague(line), **{how: line})

    def take_back() -> None:
        assert taken is not None
        interview.note("back", question=known[taken].question, text=line)

    made = Offer(numbers, take, None if taken is None else take_back)
    interview.ask_back(made, "ask", listed(interview, [known[one] for one in numbers]))


def ask(interview: Interview, argument: str) -> None:
    """A command: one of the prepared questions by its number."""
    count = len(interview.prepared.clarifying)
    if not argument or not 1 <= int(argument) <= count:
        interview.say(f"ask by number, from 1 to {count}; `questions` lists them")
        return
    if not interview.round.listed:
        interview.say(f"to ask by number, you need the list: `questions` shows it (-{LIST_COST} points)")
        return
    reply(interview, interview.prepared.clarifying[int(argument) - 1])


def reply(interview: Interview, one: Question, earns: bool = True, **asked: str) -> None:
    """The answer to a question that was asked in these words, or by its number. General and usual ones earn nothing."""
    own = interview.prepared.clarifying
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
    interview.terminal.numbered(listed(interview, interview.prepared.clarifying))


def listed(interview: Interview, questions: Sequence[Question]) -> list[str]:
    """As a list shows them."""
    asked = {interview.prepared.questions[number - 1].question for number in interview.round.asked}
    return [one.question + " (asked)" * (one.question in asked) for one in questions]
