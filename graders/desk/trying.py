"""Tries a call of the learner's answer, and the same call of the reference: both are shown, and nothing is judged."""

from __future__ import annotations

import doctest
import re
import time
from dataclasses import dataclass

import torch
from torch import Tensor

from graders.catalogue import texts
from graders.catalogue.katas import Kata
from graders.catalogue.source import Source, lines_of
from graders.faults import CheckFailed, UsageError
from graders.judge.card import printed
from graders.judge.correctness import same_leaf
from graders.judge.expected import same_form, same_tensors
from graders.judge.run import source_of
from graders.kata.tolerances import TOLERANCES, dtype_name
from graders.sandbox.launcher import Launcher
from graders.sandbox.messages import Reply, Request
from graders.sandbox.returned import THE_OUTPUT, Returned, leaves_of
from graders.sandbox.submission import Submission
from graders.worker.visible import LONGEST, visible

MOST = 50_000  # characters of a try: tensors that a failing call was given may be in it
SHOWN = 6_000  # characters of what is shown of a result
HURRIED = 2  # times that the reference's time is halved: it takes a tenth of a second
NAME = "_tried"
CALLED = """

def {name}():
    import ast, math, torch
    import torch.nn.functional as F
    from torch import Tensor, nn
    names = {{**locals(), **globals()}}
    tree = ast.parse({text!r})
    last = tree.body.pop().value if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, {shown!r}, "exec"), names)
    return eval(compile(ast.Expression(last), {shown!r}, "eval"), names) if last else None
"""
CALL = Request(target=NAME, answers=(NAME,), arguments={}, positional=0)
GRADIENT = re.compile(r"\.(backward\(|grad\b)")
RANKS = "# an answer of several ranks cannot be tried here, but with a case's inputs:\n#   nox -s run -- {} --case CASE"


@dataclass(frozen=True)
class Tried:
    """What came of a try, in words.

    Args:
        yours, expected: what the answer and the reference returned; the second is empty without a reference.
        agree: None where there is nothing to compare.
    """

    yours: str
    printed: str
    expected: str
    agree: bool | None
    differs: str
    seconds: float

    @property
    def verdict(self) -> str:
        if self.agree is None:
            return "not compared: there is no reference here"
        return "as expected, within the usual tolerance" if self.agree else f"not as expected: {self.differs}"


class Call(Submission):
    """A source with a try behind it, whose lines are counted as if they stood below the source's own."""

    def __init__(self, source: Source, text: str, launcher: Launcher, banned: tuple[str, ...] = ()) -> None:
        self.own = len(lines_of(source.text))
        self.tried = lines_of(text)
        called = CALLED.format(name=NAME, text="\n" * self.own + text, shown=source.shown)
        super().__init__(Source(source.text + called, source.shown, source.unreadable), [NAME], launcher, banned)

    def at(self, line: int | None) -> str:
        number = (line or 0) - self.own
        if 0 < number <= len(self.tried):
            return f" (line {number} of the try: `{visible(self.tried[number - 1].strip())}`)"
        return super().at(line)

    def reply(self) -> Reply:
        """Raises: CheckFailed where there is no result."""
        try:
            reply = self.ask(CALL)
        finally:
            self.close()
        for name, line in reply.banned_calls:
            raise CheckFailed(f"{name} is not allowed in this kata, but is called{self.at(line or self.mention(name))}")
        if reply.died:
            raise CheckFailed(f"the call {reply.died}")
        return reply


def tried(launcher: Launcher, kata: Kata, source: Source, text: str) -> Tried:
    """Raises: UsageError, GraderError; Interrupted where the launcher is."""
    if not has_code(text):
        raise UsageError("there is nothing to try; write a call")
    if len(text) > MOST:
        raise UsageError(f"a try should have at most {MOST:,} characters, got {len(text):,}; shorten it")
    begun = time.monotonic()
    call, own, differs = Call(source, text, launcher, kata.grader.banned), Reply(), ""
    try:
        own = call.reply()
        yours = call.explain(own.raised) if own.raised else in_words(own.result)
    except CheckFailed as failed:
        yours = differs = str(failed)
    expected, agree = "", None
    if kata.reference_file.exists():
        right = Reply()
        try:
            reference = Call(source_of(kata, kata.reference_file), text, launcher)
            reference.hangs = HURRIED
            right = reference.reply()
            expected = f"{right.raised.type}: {right.raised.message}" if right.raised else in_words(right.result)
            differs = differs or difference(own, right)
        except CheckFailed:
            expected = differs = "the reference gives no result either" if differs else "the reference gives no result"
        agree = not differs
    return Tried(yours, printed(own.printed, most=LONGEST), expected, agree, differs, time.monotonic() - begun)


def has_code(text: str) -> bool:
    """Whether there is more than comments."""
    return any(line.lstrip()[:1] not in ("", "#") for line in lines_of(text))


def difference(own: Reply, right: Reply) -> str:
    """Where the two first differ; tensors may by as much as in a result of their dtype, and numbers as in float32."""
    if own.raised or right.raised:
        raised = [one.raised.type if one.raised else "a result" for one in (right, own)]
        return "" if raised[0] == raised[1] else f"should be {raised[0]}, got {raised[1]}"
    try:
        same_form(own.result, right.result)
        same_tensors(own.result, right.result, lambda wanted: (wanted.dtype,))
        got = leaves_of(own.result, like=right.result)
        for where, wanted in leaves_of(right.result).items():
            dtype = wanted.dtype if isinstance(wanted, Tensor) else torch.float32
            same_leaf(where, where, got[where], wanted, TOLERANCES.get(dtype, TOLERANCES[torch.float32]))
    except CheckFailed as failed:
        return str(failed)
    return ""


def in_words(result: Returned) -> str:
    """Each tensor with its shape and dtype, and everything else as Python writes it."""
    shown = []
    for where, leaf in leaves_of(result).items():
        named = "" if where == THE_OUTPUT else f"{where}: "
        value = f"{tuple(leaf.shape)} {dtype_name(leaf.dtype)}\n{leaf}" if isinstance(leaf, Tensor) else repr(leaf)
        shown.append(visible(named + value, SHOWN))
    return visible("\n".join(shown), SHOWN) or "nothing"


def example(kata: Kata) -> str:
    """The calls of the statement's example, whose last values are shown together. Raises: UsageError."""
    parsed = doctest.DocTestParser().get_examples(texts.text_of(kata))
    if any(doctest.SKIP in one.options for one in parsed):
        return RANKS.format(kata.id)
    if "autograd" in kata.grader.banned:  # also for whoever tries
        parsed = [one for one in parsed if not GRADIENT.search(one.source)]
    shown = list[str]()
    while parsed and parsed[-1].want and parsed[-1].source.count("\n") == 1:
        shown.insert(0, parsed.pop().source.strip())
    made = [(one.source.rstrip("\n"), one.want) for one in parsed if one.source != "import torch\n"]
    lines = [f"print({line})" if want and "\n" not in line else line for line, want in made]
    return "\n".join([*lines, ", ".join(shown)]).strip()
