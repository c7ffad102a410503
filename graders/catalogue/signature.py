"""A statement's signature as data: what its types and its comments say of each argument and of each result."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """What a signature says of an argument or, without a name, of a result."""

    owner: str  # `MultiHeadAttention.forward`
    name: str
    type: str
    default: str | None
    said: str  # in the comment

    @property
    def is_tensor(self) -> bool:
        return "Tensor" in self.type and "Callable" not in self.type

    @property
    def words(self) -> str:
        """As Markdown: "`eps: float`, above 0; `1e-6` if you leave it out"."""
        shown = f"`{self.name}: {self.type}`" if self.name else f"`{self.owner}` returns `{self.type}`"
        left_out = f"; it is `{self.default}` if you leave it out" if self.default is not None else ""
        return shown + (f": {self.said}" if self.said else "") + left_out + "."


def facts_in(block: str) -> list[Fact]:
    """Of a signature's code, whose comments say what its types do not; none where that is no Python."""
    try:
        module = ast.parse(block)
    except SyntaxError:
        return []
    lines = block.splitlines()
    aliases = {
        ast.unparse(one.targets[0]): ast.unparse(one.value) for one in module.body if isinstance(one, ast.Assign)
    }
    found: dict[tuple[str, str], Fact] = {}

    def said(line: int, name: str) -> str:
        """In the comment of this line; what is `as above`, or not said, was said of that name before."""
        words = lines[line - 1].partition("  # ")[2].strip()
        above = next((fact.said for (_, known), fact in reversed(found.items()) if known == name != ""), "")
        return above if above and (not words or words.startswith("as above")) else words

    def typed(annotation: ast.expr | None) -> str:
        """Its text, with what a name of the block's own stands for."""
        text = ast.unparse(annotation) if annotation else "None"
        return re.sub(r"\w+", lambda name: aliases.get(name[0], name[0]), text)

    def visit(body: Sequence[ast.stmt], owner: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{node.name}.")
            elif isinstance(node, ast.AnnAssign):
                name = ast.unparse(node.target)
                found[owner, name] = Fact(owner, name, typed(node.annotation), None, said(node.lineno, name))
            elif isinstance(node, ast.FunctionDef):
                add(node, owner + node.name)

    def add(node: ast.FunctionDef, owner: str) -> None:
        arguments = [one for one in (*node.args.args, *node.args.kwonlyargs) if one.arg != "self"]
        defaults = [*node.args.defaults, *(one for one in node.args.kw_defaults if one)]
        given = [None] * (len(arguments) - len(defaults)) + [ast.get_source_segment(block, one) for one in defaults]
        last = node.body[-1].lineno
        for one, default in zip(arguments, given, strict=True):
            found[owner, one.arg] = Fact(owner, one.arg, typed(one.annotation), default, said(one.lineno, one.arg))
        found[owner, ""] = Fact(owner, "", typed(node.returns), None, said(last, ""))

    visit(module.body, "")
    return list(found.values())
