"""Two mistakes in one function: which two, both put into the reference, give what an answer gives."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.faults import CheckFailed
from graders.judge.agreement import Agreement
from graders.judge.standard import Known
from graders.kata.mistakes import with_both
from graders.sandbox.messages import Request
from graders.sandbox.returned import leaves_of
from graders.sandbox.submission import Submission

MOST = 200  # pairs that are tried
PROBES = 3  # calls with a wrong reply, and as many with a right one, that say which pairs may fit
SECONDS = 2.0  # of the processor that all of these calls may take
EVIDENCE = 3  # wrong calls that a pair gives at least


@dataclass(frozen=True)
class Form:
    """One form of a mistake, and what it does in the probes."""

    known: Known
    alone: Submission
    edits: dict[str, str]
    effect: Tensor  # what it adds to the right numbers
    right: list[bool]
    alike: list[bool]  # whether its reply is the answer's

    def fits(self, other: Form) -> bool:
        """Whether each is as wrong as the answer wherever the other one is right."""
        marks = zip(self.right, self.alike, other.right, other.alike, strict=True)
        return self.known.name != other.known.name and all(
            (its or not right) and (alike or not its_right) for right, alike, its_right, its in marks
        )


def together(
    kata: Kata,
    agreement: Agreement,
    candidates: Sequence[tuple[Known, Submission]],
    right: Submission,
    failing: Submission,
    asked: Sequence[Request],
) -> tuple[Known, ...]:
    """Two mistakes that only both give the same reply to all of these, and none alone.

    Those come first whose effects add up to what is wrong with the answer. `right` is the reference.
    """
    same_reply = agreement.same_reply
    wrong = [one for one in asked if not same_reply(right, failing, one)]
    if len(wrong) < EVIDENCE:
        return ()
    probes, spared = spread(wrong), spread([one for one in asked if one not in wrong])
    usual, its = numbers(right, probes), numbers(failing, probes)
    if its.shape != usual.shape:
        return ()
    edits = {name: one for mistake in kata.mistakes for name, one in mistake.edits_of_forms.items()}
    forms, seconds = [], 0.0
    for known, one in candidates:
        if not known.form or known.slow or seconds > SECONDS:
            continue
        before = spent(one)
        if all(same_reply(right, one, each) for each in spared):
            effect = numbers(one, probes)
            effect = effect - usual if effect.shape == usual.shape else torch.full_like(usual, torch.inf)
            marks = [[same_reply(other, one, each) for each in probes] for other in (right, failing)]
            forms.append(Form(known, one, edits[known.form], effect, *marks))
        seconds += spent(one) - before
    pairs = [pair for pair in itertools.combinations(forms, 2) if pair[0].fits(pair[1])]
    pairs.sort(key=lambda pair: float((pair[0].effect + pair[1].effect + usual - its).nan_to_num(torch.inf).norm()))
    for pair, source in itertools.islice(sources(kata, pairs), MOST):
        if any(all(same_reply(form.alone, failing, one) for one in wrong) for form in pair):
            continue
        both = Submission(Source(source, "mistake.py"), right.names, right.launcher, right.banned, right.home)
        if all(same_reply(both, failing, one) for one in [*wrong, *asked]):
            return pair[0].known, pair[1].known
        seconds += spent(both)
        if both.hangs or seconds > SECONDS:
            break
    return ()


def spent(one: Submission) -> float:
    """Seconds of the processor, on its replies."""
    return sum(reply.seconds for _, reply in one.replies.values())


def sources(kata: Kata, pairs: list[tuple[Form, Form]]) -> Iterator[tuple[tuple[Form, Form], str]]:
    """The reference with both, where they are in different places."""
    reference = kata.reference_file.read_text(encoding="utf-8")
    for pair in pairs:
        source = with_both(reference, pair[0].edits, pair[1].edits)
        if source:
            yield pair, source


def spread(asked: list[Request]) -> list[Request]:
    """A few of them, from all parts."""
    return asked[:: -(-len(asked) // PROBES) or 1]


def numbers(one: Submission, asked: list[Request]) -> Tensor:
    """All that came back of these calls; nothing of an answer that was given up."""
    try:
        replies = [one.ask(request) for request in asked]
    except CheckFailed:
        return torch.zeros(0)
    found = [leaf for reply in replies for leaf in (*leaves_of(reply.result).values(), *reply.gradients.values())]
    return torch.cat([torch.zeros(0), *(leaf.double().flatten() for leaf in found if isinstance(leaf, Tensor))])
