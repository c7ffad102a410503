"""What a new kata takes of another: the form of its first answer, its imports, types and bans; no mathematics."""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graders.catalogue.katas import Kata
from graders.faults import UsageError
from graders.kata.signatures import parameters_of
from graders.kata.spec import Answer

TYPES = {bool: "bool", int: "int", float: "float", str: "str", type(None): "Tensor | None"}  # by a default


@dataclass(frozen=True)
class Likeness:
    """The new kata, the other's first answer that an oracle answers, and the parameters of the new one."""

    kata: Kata
    like: Kata
    answer: Answer
    signature: str  # of the new one

    @classmethod
    def of(cls, kata: Kata, like: Kata, signature: str | None = None) -> Likeness:
        """Raises: UsageError, GraderError."""
        if not like.reference_file.exists():
            raise UsageError(f"{like.reference_file.relative_to(like.root)} is missing: name another kata by --like")
        answer = next((one for one in like.grader.answers if one.oracle), like.grader.answers[0])
        is_class = answer.is_class or bool(answer.forward)
        name = kata.id.title().replace("_", "") if is_class else kata.id
        text = signature or f"{name}({answer.signature.partition('(')[2] or ')'}"
        try:
            parameters_of(text if re.fullmatch(r"\w+\(.*\)", text) else "(:)")
        except (SyntaxError, ValueError):
            raise UsageError(f"a signature should be like 'layer_norm(x, eps=1e-5)', got {signature!r}") from None
        return cls(kata, like, answer, text)

    @property
    def is_class(self) -> bool:
        return self.answer.is_class or bool(self.answer.forward)

    @property
    def name(self) -> str:
        """Of the answer: rms_norm, or RmsNorm."""
        return self.signature.partition("(")[0]

    @property
    def methods(self) -> list[str]:
        """The signatures of a class's methods."""
        return [text for name, text in self.answer.signatures.items() if "." in name]

    @property
    def called(self) -> str:
        """The signature of the function, or of the first method."""
        return self.methods[0] if self.methods else self.signature

    @property
    def required(self) -> list[str]:
        """The parameters of that which have no default."""
        return without_default(self.called)

    @property
    def inputs(self) -> list[str]:
        """What a scenario gets: what a class is made of, then the required parameters of its first method."""
        return list(dict.fromkeys([*without_default(self.signature), *self.required]))

    @property
    def tensors(self) -> list[str]:
        """What is required and a tensor, as far as types say so."""
        types = self.types(self.called)
        return [name for name in self.required if "Tensor" in types[name]]

    @property
    def differentiable(self) -> list[str]:
        known = [name for name in self.answer.differentiable if name in parameters_of(self.signature)]
        return (known or self.tensors) if self.answer.differentiates else []

    @property
    def budgeted(self) -> bool:
        return any(answer.budgets for answer in self.like.grader.answers)

    @property
    def banned(self) -> str:
        """The other's bans as they stand in its grader, or word for word where other lines of it are needed."""
        source = self.like.grader_file.read_text(encoding="utf-8")
        known = known_in(ast.parse(source))
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.keyword) and node.arg == "banned" and names_in(node.value) <= known:
                return ast.get_source_segment(source, node.value) or "()"
        return repr(self.like.grader.banned)

    @property
    def base(self) -> str:
        """Of a module, what it is derived from."""
        return "(nn.Module)" if "nn.Module" in map(ast.unparse, getattr(self.definition, "bases", ())) else ""

    @property
    def module(self) -> ast.Module:
        """The other's reference."""
        return ast.parse(self.like.reference_file.read_text(encoding="utf-8"))

    @property
    def definition(self) -> ast.FunctionDef | ast.ClassDef:
        """The answer in it."""
        kinds = ast.FunctionDef | ast.ClassDef
        return next(one for one in self.module.body if isinstance(one, kinds) and one.name == self.answer.name)

    def imports(self, file: Path) -> str:
        return "\n".join(map(ast.unparse, imports_of(ast.parse(file.read_text(encoding="utf-8")))))

    def types(self, signature: str) -> dict[str, str]:
        """Of the parameters of this function or method, and of what it returns: the other's, or else a likely one."""
        name, known = signature.partition("(")[0], known_in(self.module)
        inside = getattr(self.definition, "body", []) if self.is_class else [self.definition]
        wanted = self.answer.name if name == self.name else name
        nodes = [one for one in inside if isinstance(one, ast.FunctionDef) and one.name == wanted]
        found = {one.arg: one.annotation for node in nodes for one in ast.walk(node) if isinstance(one, ast.arg)}
        if nodes:
            found["return"] = nodes[0].returns
        theirs = {one: ast.unparse(type_) for one, type_ in found.items() if type_ and names_in(type_) <= known}
        likely = {one: TYPES.get(type(default), "Tensor") for one, default in parameters_of(signature).items()}
        return {"return": "None" if name == "__init__" else "Tensor"} | likely | theirs

    def declared(self, signature: str, first: str = "", wide: bool = False) -> str:
        """The line that begins a definition, with types; where it is wide, with a line for each parameter."""
        types = self.types(signature)
        parts = [first] * bool(first)
        for name, default in parameters_of(signature).items():
            parts.append(f"{name}: {types[name]}" + ("" if default is ... else f" = {written(default)}"))
        listed = "".join(f"\n    {part}," for part in parts) + "\n" if wide and parts else ", ".join(parts)
        return f"def {signature.partition('(')[0]}({listed}) -> {types['return']}:"


def without_default(signature: str) -> list[str]:
    return [name for name, default in parameters_of(signature).items() if default is ...]


def written(default: Any) -> str:
    """As people write it: 1e-5."""
    return re.sub(r"(?<=e-)0", "", repr(default)) if isinstance(default, float) else repr(default).replace("'", '"')


def imports_of(module: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in module.body if isinstance(node, ast.Import | ast.ImportFrom)]


def known_in(module: ast.Module) -> set[str]:
    """What a module's imports make known, with Python's own names."""
    names = {(one.asname or one.name).partition(".")[0] for node in imports_of(module) for one in node.names}
    return names | vars(builtins).keys()


def names_in(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
