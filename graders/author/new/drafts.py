"""The texts of a new kata, with TODO(author) where an author has something to say."""

from __future__ import annotations

from functools import partial

from graders.author.new.likeness import Likeness
from graders.author.new.programs import TYPICAL, defined, one_call, untyped
from graders.author.statement import HEADING, LAST
from graders.catalogue import texts


def statement(new: Likeness) -> str:
    kata, about = new.kata, new.like.about
    half = "| float16 and bfloat16 | to a few units in the last place | `half_precision` |\n" * bool(new.tensors)
    performance = "| TODO(author): many rows | no Python loop, no table of all pairs | `performance` |\n" * new.budgeted
    banned, flow = bool(new.like.grader.banned), "Let gradients flow. " * bool(new.differentiable)
    allowed = flow + ("Do not call TODO(author): what is banned, in a word." if banned else "All of torch is allowed.")
    refused = "- Not allowed under any name (function, module or method): TODO(author): all of it.\n" * banned
    gradients = f"- Gradients flow to {' and '.join(new.differentiable)}.\n" * bool(new.differentiable)
    return f"""\
---
title: {kata.about.title}
topic: {kata.topic}
level: {about.level}
after: []
minutes: {about.minutes}
---

# {kata.about.title}

TODO(author): what it is for, in a sentence or two.

Edit [{kata.id}.py]({kata.id}.py), then run `nox -s grade -- {kata.id}`.

```python
{shown(new)}```

TODO(author): after each parameter above a remark, as `# (N, D), float16 to float64`.

## Formula

$$\\text{{TODO(author): the formula}}$$

TODO(author): what its letters mean.

## Example

```python
>>> import torch
>>> {one_call(new)}
TODO(author): what comes out, small enough to be calculated by hand in the contract below

```

## {texts.FIRST}

- TODO(author): three to five bullets for what right mathematics does, with their cases. <!-- {TYPICAL} -->
- TODO(author): the next.
- {allowed}

`nox -s grade -- {kata.id} -k core` tests this alone.

## {texts.THEN}

| situation | what is expected | test |
| --- | --- | --- |
{half}{performance}
<details>
<summary>The full contract</summary>

TODO(author): the example by hand, in whole sentences.

## Must hold

- TODO(author): a fact for all that is tested, after it the cases and tests that hold it. <!-- {TYPICAL} -->
{gradients}\
{refused}\
- What [every kata asks](../../../docs/rules.md) also holds.

</details>

<details>
<summary>What is graded</summary>

{HEADING}
{LAST}"""


def shown(new: Likeness) -> str:
    """The signatures with types, as a statement shows them."""
    return defined(new, partial(new.declared, wide=not new.is_class), "...").replace("super().__init__()\n", "")


def follow_up(new: Likeness) -> str:
    return f"""\
# Follow-up questions: {new.kata.id}

Answer each aloud before you unfold what we would say.

<details><summary>TODO(author): eight or more questions that an interviewer asks next?</summary>

TODO(author): the answer.

</details>
"""


def interview(new: Likeness) -> str:
    return f"""\
# Interview: {new.kata.id}

## Prompt

Please write `{new.signature}`. TODO(author): the task in an interviewer's words, without what a good candidate asks.

## Clarifying questions

### TODO(author): four or more questions that a good candidate asks?
<!-- also: TODO(author): eight other wordings | or two, and its kind from katas/interview.md -->

TODO(author): the answer.

## Contract

- gradients: TODO(author): which arguments get one? Leave out what a question of this kind answers.
- calls: TODO(author): what may not be called, in people's words
- cost: TODO(author): limits on loops, time and memory
- without: TODO(author): what is not part of it, such as dropout or masks
"""


def hints(new: Likeness) -> str:
    nudge, idea, nearly = texts.HINTS
    return f"""\
# Hints: {new.kata.id}

## {nudge}

TODO(author): questions that lead to the idea.

## {idea}

TODO(author): the steps in words, then the traps.

## {nearly}

```python
{defined(new, untyped, "return ...  # 1")}```

1. TODO(author): what stands there.
"""
