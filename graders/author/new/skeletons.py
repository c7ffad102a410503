"""The files of a new kata. What an author has to fill in says so: `check` lists every TODO(author)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from textwrap import indent

from graders.author.new.likeness import Likeness
from graders.author.statement import HEADING, LAST
from graders.catalogue import statement as texts

TYPICAL = "five_by_seven"
SOLUTION = """\
# --- solution
# TODO(author): the steps that the stub shows, each as a comment that begins with "# TODO: ".
raise NotImplementedError
# --- end"""
TAB = "    "
NOTHING = "raise NotImplementedError"
TENSORS = "import torch\nfrom torch import Tensor"
SIZES = ("5, 7", "rows, features")
WAYS = ("first_way", "second_way", "third_way", "fourth_way")


def files(new: Likeness) -> dict[Path, str]:
    """Path -> text, of all but the stubs."""
    kata = new.kata
    programs = {kata.solutions / "alternatives" / f"{way}.py": "another right answer; name the file" for way in WAYS}
    if (new.like.solutions / "builtin.py").exists():
        programs[kata.solutions / "builtin.py"] = "torch's own answer; remove the file where there is none"
    return {
        kata.reference_file: reference(new),
        kata.grader_file: grader(new),
        kata.solutions / "mistakes.py": mistakes(new),
        **{path: program(new, what) for path, what in programs.items()},
        kata.statement: statement(new),
        kata.folder / "follow_up.md": follow_up(new),
        kata.folder / "interview.md": interview(new),
        kata.solutions / "hints.md": hints(new),
    }


def reference(new: Likeness) -> str:
    kata = new.kata
    title = f'"""{kata.about.title} by hand. Statement: katas/{kata.topic}/{kata.id}/README.md."""'
    docstring = '''\
"""TODO(author): the formula, in one line.

Args:
    TODO(author): what each argument is, with its shape.
Returns: TODO(author): shape and dtype.
Raises: TODO(author): ValueError if …; or no such line.
"""'''
    definition = defined(new, new.declared, SOLUTION, docstring)
    return f"{title}\n\n{new.imports(new.like.reference_file)}\n{TENSORS}\n\n\n{definition}"


def grader(new: Likeness) -> str:
    needed = (
        "import torch\nfrom torch import nn\n" * bool(new.base)
        + "from graders.kata import Answer, Budget, Case, Grader"
    )
    scenario = "scenario=one_call, " * new.is_class
    small, large = (drawn(new, size) for size in SIZES)
    budgets = f"""budgets=(
                Budget(  # TODO(author): the axes along which a naive answer costs too much.
                    "many_rows",
                    sizes={{"rows": (256, 4096), "features": (8, 32)}},
                    inputs=lambda draw, rows, features: {large},
                    {scenario}
                    hints={{"rows": "TODO(author): what to do instead of a loop"}},
                ),
            ),"""
    return f'''\
"""What is checked of {new.kata.id}."""

{new.imports(new.like.grader_file)}
{needed}


{oracle(new)}

GRADER = Grader(
    answers=(
        Answer(
            {new.kind + new.signature!r},
            {f"methods={(*new.methods,)}," * bool(new.methods)}
            oracle={"Right" * new.is_class}{new.name if new.is_class else "oracle"},
            {f"differentiable={(*new.differentiable,)}," * bool(new.differentiable)}
            cases=(
                # TODO(author): first a typical case, without what has a default, then what can go wrong.
                Case("{TYPICAL}", lambda draw: {small}, {scenario}),
            ),
            {budgets * new.budgeted}
        ),
    ),
    # TODO(author): all that would do the job ready-made.
    banned={new.banned},
)
'''


def drawn(new: Likeness, size: str) -> str:
    """The inputs of a call."""
    values = {name: f"draw.normal({size})" if name in new.tensors else "1" for name in new.inputs}
    return "{" + ", ".join(f'"{name}": {value}' for name, value in values.items()) + "}"


def oracle(new: Likeness) -> str:
    """What the expected numbers come from, and of a class what happens to it."""
    right = "TODO(author): right in float64, by other means than the reference"
    if not new.is_class:
        return defined(new, untyped, f"# {right}.\nraise NotImplementedError", name="oracle")
    right_class = defined(new, untyped, docstring=f'"""{right}."""', name=f"Right{new.name}")
    return f"""\
{right_class}

def one_call({", ".join([new.name, *new.inputs])}):
    # TODO(author): what happens to it in place of one call.
{indent(life(new), TAB)}

"""


def life(new: Likeness) -> str:
    """What happens to a class in a scenario."""
    if not new.base or not new.tensors:
        return f"return {one_call(new)}"
    return f"""\
made = {made(new)}.to({new.tensors[0]}.dtype)
own = {{}}  # TODO(author): its weights by their names, which are inputs
return torch.func.functional_call(made, own, ({", ".join(new.required)}{"," * (len(new.required) == 1)}))"""


def one_call(new: Likeness) -> str:
    """Of the function, or of a class's first method."""
    method = new.called.partition("(")[0]
    start = new.name if not new.is_class else made(new) if new.base and method == "forward" else f"{made(new)}.{method}"
    return f"{start}({', '.join(new.required)})"


def made(new: Likeness) -> str:
    return f"{new.name}({', '.join(one for one in new.inputs if one not in new.required)})"


def program(new: Likeness, what: str) -> str:
    nn = "from torch import nn\n" * bool(new.base)
    return f'"""TODO(author): {what}."""\n\nimport torch\n{nn}\n\n{defined(new, untyped)}'


def defined(
    new: Likeness, head: Callable[[str, str], str], body: str = NOTHING, docstring: str = "", name: str = ""
) -> str:
    """The answer, where `head` makes a line of a signature and a first parameter, and `body` is all that it does."""
    about = f"{docstring}\n" * bool(docstring)
    if not new.is_class:
        signature = new.signature.replace(new.name, name or new.name, 1)
        return f"{head(signature, '')}\n{indent(about + body, TAB)}\n"
    made = f"class {name or new.name}{new.base}:\n{indent(about, TAB)}"
    for method in (new.signature.replace(new.name, "__init__", 1), *new.methods):
        first = "super().__init__()\n" if method.startswith("__init__") and new.base and head != untyped else ""
        made += indent(f"\n{head(method, 'self')}\n{indent(first + body, TAB)}\n", TAB)
    return made


def untyped(signature: str, first: str) -> str:
    name, _, more = signature.partition("(")
    return f"def {name}({first}{', ' if first and more != ')' else ''}{more}:"


def mistakes(new: Likeness) -> str:
    slow = '\n    # Mistake("its_name", "what costs too much; what to do", {…}, slow=True),' * new.budgeted
    return f'''\
"""Known wrong answers to {new.kata.id}."""

from graders.kata import Mistake

MISTAKES = (
    # TODO(author): fifteen to twenty-five, each the smallest edit of the reference:
    # Mistake("its_name", "what is wrong; what to do", {{"text of the reference": "what stands there instead"}}),{slow}
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {{}}
'''


def statement(new: Likeness) -> str:
    kata, about = new.kata, new.like.about
    half = "| float16 and bfloat16 | about the last digits of that dtype | `half_precision` |\n" * bool(new.tensors)
    performance = "| TODO(author): many rows | no Python loop, no table of all pairs | `performance` |\n" * new.budgeted
    banned, flow = bool(new.like.grader.banned), "Let gradients flow. " * bool(new.differentiable)
    allowed = flow + ("Call no TODO(author): what is banned, in a word." if banned else "All of torch is allowed.")
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

| situation | what must come | test |
| --- | --- | --- |
{half}{performance}
<details>
<summary>The full contract</summary>

TODO(author): the example by hand, in whole sentences.

## Must hold

- TODO(author): a fact for all that is tested, after it the cases and tests that hold it. <!-- {TYPICAL} -->
{gradients}\
{refused}\
- What [every kata asks](../../../README.md#what-every-kata-asks) also holds.

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

<!-- also:
TODO(author): eight to twelve other wordings, one on a line
-->

TODO(author): the answer.
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
