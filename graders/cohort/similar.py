"""Which answers are one program, or nearly: found as a fact, with all that is common to most of them taken out.

Equal: the syntax trees are, without comments, docstrings, the types in signatures, and the names that a program gives
to variables, arguments, functions and classes. Alike: scikit-learn weighs runs of tokens by how rare they are among the
class's answers to the kata (tf-idf), and compares the answers by the cosine of that.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from graders.catalogue.katas import Kata
from graders.catalogue.source import lines_of
from graders.cohort.learners import Learner
from graders.cohort.writers import one_line

RUN = 5  # tokens that are looked at together
ALIKE = 0.75  # cosine from which on a pair is shown; a known mistake mended elsewhere in the same text has about 0.9
FEWEST = 20  # runs that have to be left of an answer: shorter ones are alike by themselves
MANY = 6  # answers, from which on what more than half of them have is common
MOST_PAIRS = 20


@dataclass(frozen=True)
class Program:
    """One of the texts that are compared.

    Args:
        who: a learner, or where a known text stands.
        known: a reference, an alternative, or of an earlier class.
    """

    who: str
    text: str
    known: bool = False


@dataclass(frozen=True)
class Same:
    """Programs that differ at most in what the module's docstring leaves out, and in layout."""

    kata: str
    learners: list[str]
    known: list[str]


@dataclass(frozen=True)
class Pair:
    """Two that are alike in part; `sides` has their lines, and whether they are the same there."""

    kata: str
    one: str
    other: str
    percent: int
    sides: list[tuple[str, str, bool]]


def compare(learners: list[Learner], katas: list[Kata], earlier: list[Learner]) -> tuple[list[Same], list[Pair]]:
    """What is equal, and the pairs that are most alike."""
    same: list[Same] = []
    pairs: list[Pair] = []
    for kata in katas:
        stub = kata.kept_stub.read_text(encoding="utf-8") if kata.kept_stub.exists() else ""
        groups: dict[str, list[Program]] = {}
        for program in [*programs(kata, learners), *own_answers(kata), *of_earlier(kata, earlier)]:
            made = shape(program.text)
            if made and made != shape(stub):
                groups.setdefault(made, []).append(program)
        given = [group for group in groups.values() if not all(one.known for one in group)]
        for group in given:
            if len(group) > 1:
                names = sorted(one.who for one in group if not one.known)
                same.append(Same(kata.id, names, [one.who for one in group if one.known]))
        firsts = [next(one for one in group if not one.known) for group in given]
        common = {run for text in [stub, *(one.text for one in own_answers(kata))] for run in runs(text)}
        if len(firsts) > 1:
            pairs += alike(kata.id, firsts, common)
    return same, sorted(pairs, key=lambda pair: -pair.percent)[:MOST_PAIRS]


def programs(kata: Kata, learners: list[Learner]) -> list[Program]:
    return [Program(one.name, one.answers[kata.id].text) for one in learners if kata.id in one.answers]


def own_answers(kata: Kata) -> Iterator[Program]:
    """The reference and the alternatives, each with its file."""
    for file in sorted({kata.reference_file, *kata.alternatives}):
        if file.exists():
            yield Program(file.relative_to(kata.root).as_posix(), file.read_text(encoding="utf-8"), known=True)


def of_earlier(kata: Kata, earlier: list[Learner]) -> list[Program]:
    found = [(one.name, one.answers[kata.id]) for one in earlier if kata.id in one.answers]
    return [Program(f"{name}: {answer.shown} (an earlier class)", answer.text, known=True) for name, answer in found]


def alike(kata: str, found: list[Program], common: set[str]) -> list[Pair]:
    """Pairs of different programs that share most of what few have: neither the stub nor the repository's answers."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]  # takes a second

    all_runs = [[run for run in runs(one.text) if run not in common] for one in found]
    try:
        weigh = TfidfVectorizer(analyzer=list, binary=True, max_df=0.5 if len(found) >= MANY else 1.0)
        weights = weigh.fit_transform(all_runs)
    except ValueError:  # nothing is left of any
        return []
    cosines, left = (weights @ weights.T).tocoo(), weights.getnnz(axis=1)
    return [
        Pair(kata, found[i].who, found[j].who, round(100 * share), side_by_side(found[i].text, found[j].text))
        for i, j, share in zip(cosines.row, cosines.col, cosines.data, strict=True)
        if i < j and share >= ALIKE and min(left[i], left[j]) >= FEWEST
    ]


def runs(source: str) -> list[str]:
    """The program's tokens, as many together as `RUN` says; names that it gave itself are all one."""
    tree = bare(source)
    if tree is None:
        return []
    own = own_variables(tree)
    try:
        tokens = re.findall(r"\w+|[^\w\s]", ast.unparse(tree))
    except RecursionError:
        return []
    plain = ["v" if token in own else token for token in tokens]
    return [" ".join(plain[start : start + RUN]) for start in range(len(plain) - RUN + 1)]


def own_variables(tree: ast.Module) -> set[str]:
    """The names of its variables and arguments; a builtin or what is imported is none."""
    own = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return own | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def side_by_side(one: str, other: str) -> list[tuple[str, str, bool]]:
    left, right = ([one_line(line.expandtabs(4)) for line in lines_of(text)] for text in (one, other))
    rows: list[tuple[str, str, bool]] = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        height = max(j - i, m - k)
        rows += [
            (left[i + n] if i + n < j else "", right[k + n] if k + n < m else "", kind == "equal")
            for n in range(height)
        ]
    return rows


def bare(source: str) -> ast.Module | None:
    """A program without its comments, docstrings and the types in signatures; None where it is none."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
            if not isinstance(node, ast.ClassDef):
                node.returns = None
    if ast.get_docstring(tree, clean=False) is not None:
        tree.body = tree.body[1:]
    return tree if tree.body else None


def shape(source: str) -> str:
    """A program also without the names that it gives itself, but for those after a dot; empty where it is none."""
    tree = bare(source)
    if tree is None:
        return ""
    names: dict[str, str] = {}
    own = own_variables(tree) | {
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }

    def renamed(name: str) -> str:
        return names.setdefault(name, f"n{len(names)}") if name in own else name

    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = renamed(node.id)
        elif isinstance(node, ast.arg):
            node.arg = renamed(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node.name = renamed(node.name)
    try:
        return ast.dump(tree)
    except RecursionError:
        return ""
