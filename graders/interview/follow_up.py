"""The questions at the end of a kata: the candidate's answer, then ours beside it, then the candidate's own score."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graders.catalogue.texts import Question
from graders.interview import questioning
from graders.interview.interview import Interview
from graders.interview.record import MOST_SELF
from graders.sitting.commands import YES_OR_NO

PLAN = "Your plan, and below it the idea"
VERBS = "is|are|was|were|do|does|did|has|have|can|could|may|must|should|will|would"
YES_OR_NO_QUESTION = re.compile(rf"(?:^|[,:;.] (?:and |but |so |then )?)(?:{VERBS})\b", re.IGNORECASE)
POINTS = "Which of these did you say? Type their numbers, such as 1 3, or `all`, or `none`."
SCORES = "0 nothing of it, 1 a part, 2 the main point, 3 all that matters"


def current(interview: Interview) -> Question | None:
    """The first that has no score yet."""
    asked = interview.prepared.asked
    return next((one for one in asked if interview.round.answer(one.question).score is None), None)


def show(interview: Interview, question: Question) -> str:
    """Puts the question on the screen, unless it is there; returns what is asked for beside the time that is left."""
    answer = interview.round.answer(question.question)
    if interview.on_screen != question.question:
        asked = interview.prepared.asked
        put(interview, question.question, f"Question {asked.index(question) + 1} of {len(asked)}: ", answer.lines)
        if answer.revealed:
            show_answer(interview, question)
            interview.say(POINTS)
    return "which points " if answer.revealed else ""


def put(interview: Interview, title: str, before: str, said: Sequence[str]) -> None:
    """Something to answer or to score, and what was said to it so far."""
    interview.on_screen = title
    interview.say()
    interview.terminal.say(f"{before}{title}", style="bold")
    for line in said:
        interview.say(f"you said: {line}")


def plan_waits(interview: Interview) -> bool:
    """Whether there is a plan that was not compared with the idea yet."""
    return bool(interview.round.plan) and interview.round.plan_score is None


def show_plan(interview: Interview) -> str:
    """Puts the plan beside the idea, unless that is on the screen; returns what is asked for."""
    if interview.on_screen != PLAN:
        put(interview, PLAN, "", interview.round.plan)
        interview.terminal.markdown(interview.prepared.hints[1])
        ask_score(interview)
    return "your score "


def score_plan(interview: Interview, line: str) -> None:
    if line.strip() in map(str, range(MOST_SELF + 1)):
        interview.note("plan_score", score=int(line))
    else:
        ask_score(interview)


def is_no_answer(question: Question, line: str) -> bool:
    """Whether a line is a question itself, or yes or no where that was not the question."""
    said = line.strip().lower()
    return said.endswith("?") or (said in YES_OR_NO and not YES_OR_NO_QUESTION.search(question.question))


def ask_again(interview: Interview, question: Question, line: str) -> None:
    """Answers a question of the candidate's, if it is one of the prepared ones; then it is the candidate's turn."""
    if line.strip().endswith("?"):
        questioning.answer_if_sure(interview, line)
    interview.say(f"My question is: {question.question}")
    interview.say("Type an answer that does not end with a question mark, and then an empty line; or `skip`.")


def hear(interview: Interview, question: Question, line: str) -> None:
    """Takes a line of the answer, or the score. Raises: UsageError."""
    answer = interview.round.answer(question.question)
    if answer.revealed:
        take_score(interview, question, line)
    elif is_no_answer(question, line):
        ask_again(interview, question, line)
    elif line:
        interview.note("answer", question=question.question, text=line)
    elif answer.lines:
        reveal(interview, question)
        interview.say(POINTS)
    else:
        interview.say("type an answer and then an empty line; or `skip`")


def take_score(interview: Interview, question: Question, line: str) -> None:
    """The points of the model answer that were said, each by its number."""
    every = set(range(1, len(question.points) + 1))
    numbers = re.findall(r"\w+", line.lower().replace("all", " ".join(map(str, every))).replace("none", "0"))
    said = {int(one) for one in numbers if one.isdecimal()} - {0}
    if not numbers or not all(map(str.isdecimal, numbers)) or not said <= every:
        interview.say(POINTS)
    else:
        score = round(MOST_SELF * len(said) / len(every))
        interview.note("score", question=question.question, score=score, points=sorted(said))


def skip(interview: Interview, argument: str) -> None:
    """A command: the answer is shown, and the score is 0."""
    question = current(interview)
    if question is None:
        interview.note("plan_score", score=0)
        return
    if not interview.round.answer(question.question).revealed:
        reveal(interview, question)
    interview.note("score", question=question.question, score=0)


def reveal(interview: Interview, question: Question) -> None:
    interview.note("reveal", question=question.question)
    show_answer(interview, question)


def show_answer(interview: Interview, question: Question) -> None:
    interview.say()
    interview.say("My answer, point by point")
    points = [point.replace("\n", "\n    ") for point in question.points]
    interview.terminal.markdown("\n".join(f"{number}. {point}" for number, point in enumerate(points, start=1)))


def ask_score(interview: Interview) -> None:
    interview.say()
    interview.say(f"How good was yours, from 0 to {MOST_SELF}? {SCORES}")
