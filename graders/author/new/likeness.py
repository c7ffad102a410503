"""What a new kata takes of another: the form of its first answer, its imports and its bans; no mathematics."""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import dataclass
from pathlib import Path

from graders.catalogue.katas import Kata
from graders.faults import UsageError
from graders.kata.spec import Answer, parameters_of

Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Likeness:
    """The new kata, and the first answer of the other one that an oracle answers."""

    kata: Kata
    like: Kata
    answer: Answer

    @classmethod
    def of(cls, kata: Kata, like: Kata) -> Likeness:
        """Raises: UsageError, GraderError."""
        if not like.reference_file.exists():
            raise UsageError(f"{like.reference_file.relative_to(like.root)} is missing: name another kata by --like")
        return cls(kata, like, next((one for one in like.grader.answers if one.oracle), like.grader.answers[0]))

    @property
    def is_class(self) -> bool:
        return self.answer.is_class or bool(self.answer.forward)

    @property
    def kind(self) -> str:
        """What stands before a class's signature."""
        return "class " if self.is_class else ""

    @property
    def name(self) -> str:
        """Of the answer: rms_norm, or RmsNorm."""
        return self.kata.id.title().replace("_", "") if self.is_class else self.kata.id

    @property
    def signature(self) -> str:
        """As a grader names it."""
        return self.answer.signature.removeprefix("class ").replace(self.answer.name, self.name, 1)

    @property
    def methods(self) -> list[str]:
        """The signatures of a class's methods."""
        return [text for name, text in self.answer.signatures.items() if "." in name]

    @property
    def required(self) -> list[str]:
        """The parameters of the function, or of the first method, that have no default."""
        signature = self.methods[0] if self.methods else self.answer.signature
        return [name for name, default in parameters_of(signature).items() if default is ...]

    def drawn(self, size: str) -> list[tuple[str, str]]:
        """The required parameters, each with what may be given for it: where a type is named, it decides."""
        source = ast.parse(self.like.reference_file.read_text(encoding="utf-8"))
        types = {one.arg: one.annotation for one in ast.walk(source) if isinstance(one, ast.arg) and one.annotation}
        tensors = {name for name in self.required if name not in types or "Tensor" in ast.unparse(types[name])}
        return [(name, f"draw.normal({size})" if name in tensors else "1") for name in self.required]

    @property
    def has_tensors(self) -> bool:
        return any(given != "1" for _, given in self.drawn(""))

    @property
    def differentiable(self) -> list[str]:
        known = self.required if self.is_class else parameters_of(self.answer.signature)
        return [name for name in self.answer.differentiable if name in known]

    @property
    def budgeted(self) -> bool:
        return any(answer.budgets for answer in self.like.grader.answers)

    @property
    def banned(self) -> str:
        """The other's bans as they stand in its grader, or word for word where other lines of it are needed."""
        source = self.like.grader_file.read_text(encoding="utf-8")
        known = names_of(imports_of(source))
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.keyword) and node.arg == "banned" and names_in(node.value) <= known:
                return ast.get_source_segment(source, node.value) or "()"
        return repr(self.like.grader.banned)

    def imports(self, file: Path) -> str:
        source = file.read_text(encoding="utf-8")
        return "\n".join(ast.get_source_segment(source, node) or "" for node in imports_of(source))

    @property
    def definition(self) -> Definition:
        """The answer in the other's reference."""
        body = ast.parse(self.like.reference_file.read_text(encoding="utf-8")).body
        return next(one for one in body if isinstance(one, Definition) and one.name == self.answer.name)

    @property
    def base(self) -> str:
        """Of a module, what it is derived from."""
        bases = [ast.unparse(one) for one in getattr(self.definition, "bases", [])]
        return "(nn.Module)" if "nn.Module" in bases else ""

    def program(self, body: str, docstring: str = '"""TODO(author): the formula, in one line."""') -> str:
        """The other's reference with another name, and `body` in place of all that it does."""
        source, found = self.like.reference_file.read_text(encoding="utf-8"), self.definition
        lines = [*self.headed(source, found), *indented(docstring.splitlines())]
        if isinstance(found, ast.FunctionDef):
            return "\n".join([*lines, *indented(body.splitlines())]) + "\n"
        wanted = {"__init__", *(text.partition("(")[0] for text in self.methods)}
        for method in (one for one in found.body if isinstance(one, ast.FunctionDef) and one.name in wanted):
            first = ["super().__init__()"] if method.name == "__init__" and found.bases else []
            inside = [*self.headed(source, method), *indented([*first, *body.splitlines()])]
            lines += ["", *(inside if method.col_offset == 0 else indented(inside))]
        return "\n".join(lines) + "\n"

    def headed(self, source: str, node: Definition) -> list[str]:
        """The lines of a definition above its body, without indentation."""
        known = names_of(imports_of(source))
        if isinstance(node, ast.FunctionDef) and not names_in(node.args) | names_in(node.returns) <= known:
            for one in ast.walk(node.args):
                if isinstance(one, ast.arg):
                    one.annotation = None
            lines = [f"def {node.name}({ast.unparse(node.args)}):"]
        else:
            above = source.splitlines()[node.lineno - 1 : node.body[0].lineno - 1]
            lines = [re.sub(r"  # .*", "", line[node.col_offset :]) for line in above]
        return [re.sub(rf"^((?:def|class) ){self.answer.name}\b", rf"\1{self.name}", line) for line in lines]


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" if line else "" for line in lines]


def imports_of(source: str) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]


def names_of(imports: list[ast.Import | ast.ImportFrom]) -> set[str]:
    """What these make known, with Python's own names."""
    return {(one.asname or one.name).partition(".")[0] for node in imports for one in node.names} | vars(
        builtins
    ).keys()


def names_in(node: ast.AST | None) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} if node else set()
