"""Makes a kata's stub from its reference, so that signature, docstring and types cannot drift apart."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import re
import tokenize

from graders.catalogue.katas import Kata
from graders.catalogue.source import same_program
from graders.faults import GraderError, UsageError

START, END = "# --- solution", "# --- end"
AT_HAND = "# --- above: your code so far; below: what it should turn into"
CONTINUED = re.compile(r"# --- your (\w+) \((\w+)\): ")


def stub_of(reference: str) -> str:
    """The reference with every marked body replaced by its `# TODO` comments and `raise NotImplementedError`.

    A body stands between a line `# --- solution` and a line `# --- end`, both indented like it. Torch is imported, also
    where the reference does without.

    Raises: GraderError where the markers do not pair up.
    """
    lines: list[str] = []
    inside = todo = False
    for line in reference.splitlines():
        text, indent = line.strip(), line[: len(line) - len(line.lstrip())]
        if text in (START, END):
            if inside == (text == START):
                raise GraderError(f"the markers {START!r} and {END!r} should alternate")
            inside = text == START
            if not inside:
                lines.append(f"{indent}raise NotImplementedError")
            continue
        todo = text.startswith("# TODO") or (todo and text.startswith("#"))
        if todo or not inside:
            lines.append(line)
    if inside or "raise NotImplementedError" not in "\n".join(lines):
        raise GraderError(f"a reference should mark its bodies with {START!r} and {END!r}")
    of_torch = [i for i, line in enumerate(lines) if line.startswith(("import torch.", "from torch "))]
    if of_torch and "import torch" not in lines:
        lines.insert(of_torch[0], "import torch")
    return "\n".join(lines) + "\n"


def stub_for(kata: Kata) -> str:
    """What stands in the learner's file before anything is done. Raises: UsageError, GraderError."""
    if kata.reference_file.exists():
        return stub_of(kata.reference_file.read_text(encoding="utf-8"))
    if kata.kept_stub.exists():
        return kata.kept_stub.read_text(encoding="utf-8")
    raise UsageError(
        f"the stub of {kata.id} is made from {kata.reference_file.relative_to(kata.root)} or else "
        f"{kata.kept_stub.relative_to(kata.root)}, and neither is here: restore one with git"
    )


def bare(stub: str) -> str:
    """A stub's signatures alone, without the docstrings and comments that answer what a candidate should ask."""
    lines = stub.splitlines()
    for node in ast.walk(ast.parse(stub)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            first, last = node.body[0].lineno, node.body[0].end_lineno or 0
            lines[first - 1 : last] = [""] * (last - first + 1)
    for token in tokenize.generate_tokens(iter([f"{line}\n" for line in lines] + [""]).__next__):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    text = re.sub(r":\n\n+|\n{3,}(?= )", lambda gap: gap[0][0] + "\n" * (gap[0][0] == ":"), "\n".join(lines).strip())
    return re.sub(r"\n{3,}", "\n\n\n", text) + "\n"


def at_hand(code: str, stub: str) -> str:
    """A stub with somebody's code for another kata above it; in comments where it is no Python."""
    together = f"{code.rstrip()}\n\n\n{AT_HAND}\n\n{stub}"
    try:
        ast.parse(together)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        commented = "\n".join(f"# {line}".rstrip() for line in code.rstrip().splitlines())
        return f"{commented}\n\n\n{AT_HAND}\n\n{stub}"
    return together


def continued(kata: str, code: str, stub: str) -> str:
    """Somebody's answer to this kata, which another goes on from; above it, in comments, what the other's stub asks."""
    asked = re.findall(r"^ *(# TODO.*(?:\n *#.*)*)", stub, re.MULTILINE)
    todo = "".join(f"{re.sub(r'^ +', '', one, flags=re.MULTILINE)}\n" for one in asked)
    return f"# --- your {kata} ({mark_of(code)}): change it as the statement says\n{todo}\n{code.lstrip()}"


def begins_with(source: str) -> str:
    """The kata whose answer an answer was begun with, or ""."""
    found = CONTINUED.match(source)
    return found[1] if found else ""


def mark_of(code: str) -> str:
    """A digest that is equal for programs that differ at most in comments and layout."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):  # else it is no program
        code = ast.dump(ast.parse(code))
    return hashlib.sha256(code.encode()).hexdigest()[:8]


def signatures(stub: str) -> str:
    """What a stub asks to write, a line for each function, class and method."""
    found = []
    for node in ast.parse(stub).body:
        if isinstance(node, ast.FunctionDef):
            found.append(ast.unparse(node.args).join((f"{node.name}(", ")")))
        elif isinstance(node, ast.ClassDef):
            found.append(f"class {node.name}")
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            found += [f"    {one.name}({ast.unparse(one.args)})" for one in methods]
    return "\n".join(found)


def is_untouched(kata: Kata, source: str) -> bool:
    """Whether nothing was written yet, into the stub, its bare signatures or what the kata goes on from.

    Raises: UsageError, GraderError.
    """
    if found := CONTINUED.match(source):
        return found[2] == mark_of(source)
    source = source.rpartition(AT_HAND)[2]
    if "NotImplementedError" not in source:  # quick to see
        return False
    stub = stub_for(kata)
    return any(same_program(source, start) for start in (stub, bare(stub)))
