"""What everybody asks has an answer in each kata's interview.md, and it agrees with the grader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from graders.author.check.code import TODO
from graders.author.check.page import Page
from graders.catalogue import texts
from graders.catalogue.katas import Kata
from graders.catalogue.signature import facts_in
from graders.judge.vectors import TestVectors

HEADING = "## Contract"
EVERY = re.compile(r"\b(?:all|both|every|each)\b")  # of the arguments


def contract(kata: Kata) -> Iterator[str]:
    """Raises: UsageError, GraderError where a case has no inputs."""
    page = Page.of(kata, texts.interview_file(kata))
    own = {kind: one.answer for one in texts.clarifying(kata) for kind in one.kinds}
    lines, shared = texts.contract(kata), texts.shared(kata)
    for kind in lines:
        if shared and (kind not in shared or not shared[kind].question):
            yield f"{page.at(f'- {kind}:')}: {texts.SHARED} has no question of the kind {kind}"
        elif kind in own:
            yield f"{page.at(f'- {kind}:')}: leave it out, since a question of the kind {kind} has the answer"
    answers = lines | own
    for kind, why in needed(kata):
        if kind in shared and kind not in answers:
            yield f"{page.shown}: under {HEADING!r} should stand '- {kind}: …', since {why}"
    gradients = answers.get("gradients", "")
    if not gradients or TODO in gradients or EVERY.search(gradients):
        return
    tested = {name for answer in kata.grader.answers for name in answer.differentiable}
    for name in sorted(tested.intersection(one.name for one in facts_in(texts.signature_block(kata)))):
        if not re.search(rf"\b{name}\b", gradients):
            yield f"{page.shown}: what it says of gradients should name {name}, since the grader tests its gradient"


def needed(kata: Kata) -> Iterator[tuple[str, str]]:
    """The kinds that a page has to answer, and why."""
    for kind, one in texts.shared(kata).items():
        if one.question and not one.answer:
            yield kind, f"people ask {one.question!r}"
    results = [one.said for one in facts_in(texts.signature_block(kata)) if not one.name]
    if any(re.search(r"\bscalar\b|\(\)", said) for said in results):
        yield "reductions", "a result is a scalar"
    vectors = TestVectors(kata.id, kata.grader, 0)
    cases = [(case.name, vectors.arguments(case)) for answer in kata.grader.answers for case in answer.cases]
    for kind, is_there in (("empty", is_empty), ("infinities", is_infinite)):
        for name, calls in cases:
            if any(is_there(value) for call in calls for value in call.values()):
                yield kind, f"{name} has such an input"
                break


def is_empty(value: Any) -> bool:
    return value.numel() == 0 if isinstance(value, Tensor) else isinstance(value, list | tuple) and not value


def is_infinite(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point() and not bool(torch.isfinite(value).all())
