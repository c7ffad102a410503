"""Makes a kata's stub from its reference, so that signature, docstring and types cannot drift apart."""

from __future__ import annotations

from graders.spec import GraderError

START, END = "# --- solution", "# --- end"


def stub_of(reference: str) -> str:
    """The reference with every marked body replaced by its `# TODO` comments and `raise NotImplementedError`.

    A body stands between a line `# --- solution` and a line `# --- end`, both indented like it.

    Raises: GraderError where the markers do not pair up.
    """
    lines: list[str] = []
    inside = False
    for line in reference.splitlines():
        text, indent = line.strip(), line[: len(line) - len(line.lstrip())]
        if text in (START, END):
            if inside == (text == START):
                raise GraderError(f"the markers {START!r} and {END!r} should alternate")
            inside = text == START
            if not inside:
                lines.append(f"{indent}raise NotImplementedError")
        elif not inside or text.startswith("# TODO"):
            lines.append(line)
    if inside or "raise NotImplementedError" not in "\n".join(lines):
        raise GraderError(f"a reference should mark its bodies with {START!r} and {END!r}")
    return "\n".join(lines) + "\n"
