"""Automatic wrong answers: every small change of a reference that a slip of the pen could make."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mod,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
MODULES = ("torch", "nn", "F", "math")
DELETED = (ast.Assign, ast.AugAssign, ast.Expr, ast.Assert)  # a `raise` is one of the standard mistakes


def mutants(source: str) -> dict[str, str]:
    """Name -> mutated source. A name shows the statement before and after: `a + b -> a - b`."""
    tree = ast.parse(source)
    original = ast.unparse(tree) + "\n"
    found: dict[str, str] = {}
    for node, statement in sites(tree):
        for replacement in variations(node):
            changed = Replace(node, replacement).visit(copy.deepcopy(statement, {id(node): node}))
            name = f"{headline(statement)} -> {headline(changed) if changed else '(deleted)'}"
            module = copy.deepcopy(tree, {id(statement): statement})
            Replace(statement, changed or ast.Pass()).visit(module)
            source = ast.unparse(ast.fix_missing_locations(module)) + "\n"
            if source != original and source not in found.values():
                found[name if name not in found else f"{name} ({len(found)})"] = source
    return found


class Replace(ast.NodeTransformer):
    """Puts `new` where `old` stands, by identity; None takes a statement away."""

    def __init__(self, old: ast.AST, new: ast.AST | None) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST | None:
        if node is self.old:
            return self.new
        visited: ast.AST | None = self.generic_visit(node)
        return visited


def headline(statement: ast.AST) -> str:
    """A statement on one line; of a compound one its header."""
    return ast.unparse(statement).split("\n", 1)[0]


def sites(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.stmt]]:
    """Every node that may be changed, with its innermost statement. Messages, docstrings and types are left alone."""
    for statement in ast.walk(tree):
        if isinstance(statement, ast.stmt) and not isinstance(statement, ast.Import | ast.ImportFrom | ast.ClassDef):
            for node in inside(statement):
                yield node, statement


def inside(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is below it, down to the next statement."""
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if is_docstring or isinstance(node, ast.JoinedStr):
        return
    yield node
    if isinstance(node, ast.Raise):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "msg"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.stmt):
                yield from inside(child)


def variations(node: ast.AST) -> Iterator[ast.AST | None]:
    """What may stand in a node's place; None deletes it."""
    if isinstance(node, DELETED):
        yield None
    elif isinstance(node, ast.If | ast.IfExp):
        yield changed(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Compare):
        for operator in COMPARISONS[type(node.ops[0])]:
            yield changed(node, ops=[operator(), *node.ops[1:]])
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield changed(node, op=ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Constant):
        yield from constants(node)
    elif isinstance(node, ast.Call):
        yield from calls(node)


def constants(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)
    elif isinstance(node.value, float):
        yield ast.Constant(node.value * 2 + (node.value == 0))
    elif isinstance(node.value, str):
        yield ast.Constant(node.value + "?")


def calls(node: ast.Call) -> Iterator[ast.AST]:
    """Without one keyword, without the last argument, with the first two swapped, and without the call itself."""
    for index in range(len(node.keywords)):
        yield changed(node, keywords=node.keywords[:index] + node.keywords[index + 1 :])
    if len(node.args) > 1:
        yield changed(node, args=node.args[:-1])
        yield changed(node, args=[node.args[1], node.args[0], *node.args[2:]])
    if isinstance(node.func, ast.Attribute) and not is_in_module(node.func):
        yield node.func.value
    elif node.args:
        yield node.args[0]


def is_in_module(function: ast.expr) -> bool:
    """Whether it is something like `torch.linalg.norm`, not a method of a value."""
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and function.id in MODULES


def changed(node: ast.AST, **fields: object) -> ast.AST:
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made
