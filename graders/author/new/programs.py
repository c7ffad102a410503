"""The code of a new kata. What an author has to fill in says so: `check` lists every TODO(author)."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent

from graders.author.new.likeness import Likeness

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
            {"class " * new.is_class + new.signature!r},
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
    # TODO(author): twenty to thirty, each the smallest edit of the reference:
    # Mistake("its_name", "what is wrong; what to do", {{"text of the reference": "what stands there instead"}}),{slow}
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {{}}
'''
