"""Bugs to be planted: known mistakes as changes of a few lines of the reference, as a learner is shown it."""

from __future__ import annotations

import ast
import difflib
import itertools
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graders.catalogue.katas import Kata
from graders.catalogue.syntax import unusual

WORD = re.compile(r"(?<=[(,:\[] )-\d\w*|(?<=[(\[])-\d\w*|\w+|[^\w\s]")
MOST_LINES = 4  # that a bug takes the place of, or has itself: who rewrites more plants no bug


@dataclass(frozen=True)
class Change:
    """Lines of the right file, from `first` to before `last`, counted from 0, and those that stand there instead."""

    first: int
    last: int
    lines: tuple[str, ...]

    def overlaps(self, other: Change) -> bool:
        """Or stands where it would not be clear which of the two comes first."""
        if self.first == self.last or other.first == other.last:
            return self.first <= other.last and other.first <= self.last
        return self.first < other.last and other.first < self.last


@dataclass(frozen=True)
class Bug:
    """A mistake as it can be planted, from the first changed line to the last; `sentence` says what is wrong."""

    name: str
    sentence: str
    changes: tuple[Change, ...]
    slow: bool = False


def right_file(kata: Kata) -> str:
    """The reference as it is without bugs."""
    return plain(kata.reference_file.read_text(encoding="utf-8"))


def bugs_of(kata: Kata, slow: bool = False) -> list[Bug]:
    """The mistakes that are small edits, each in its smallest form that has one defect and looks like code.

    Raises: GraderError.
    """
    if not kata.reference_file.exists():
        return []
    reference, right = kata.reference_file.read_text(encoding="utf-8"), right_file(kata)
    forms = {
        one: sorted((changes(right, plain(source)) for source in one.planted_forms(reference)), key=size)
        for one in kata.mistakes
    }
    found = []
    for mistake, own in forms.items():
        others = [form for other, some in forms.items() if other is not mistake for form in some]
        bugs = [Bug(mistake.name, mistake.diagnosis, form, slow) for form in own if 0 < size(form) <= MOST_LINES]
        good = (one for one in bugs if not is_odd(one, right, kata) and not has_another(one.changes, others, right))
        found += [*itertools.islice(good, mistake.slow == slow)]
    return found


def has_another(form: Sequence[Change], others: Sequence[Sequence[Change]], right: str) -> bool:
    """Whether it is another mistake with one word replaced: who puts that right is left with the other mistake.

    So `p.log2()` is no bug where `p.log()` is another mistake, which underflows.
    """
    lines = right.splitlines()
    where = [(one.first, one.last) for one in form]
    mine, none = words_in(form), Counter(WORD.findall("\n".join(lines[at] for pair in where for at in range(*pair))))
    for other in others:
        if [(one.first, one.last) for one in other] == where:
            its = words_in(other)
            replaced = (mine - its).total() == (its - mine).total() == 1
            if replaced and (its - none).total() and different(mine, none) == different(its, none) + 2:
                return True
    return False


def words_in(some: Sequence[Change]) -> Counter[str]:
    """Words and signs of the lines that are put there."""
    return Counter(WORD.findall("\n".join(line for one in some for line in one.lines)))


def different(one: Counter[str], other: Counter[str]) -> int:
    """How many words are in one of them alone."""
    return (one - other).total() + (other - one).total()


def is_odd(bug: Bug, right: str, kata: Kata) -> bool:
    """Whether it can be seen by its style alone: something in its lines occurs in no right answer of any kata."""
    lines = {number + 1 for place in places(bug, [bug]) for number in place}
    return bool(unusual(planted(right, [bug]), lines, kata.root))


def changes(right: str, wrong: str) -> tuple[Change, ...]:
    own, its = right.splitlines(), wrong.splitlines()
    matcher = difflib.SequenceMatcher(None, own, its, autojunk=False)
    return tuple(
        Change(first, last, tuple(its[begin:end]))
        for kind, first, last, begin, end in matcher.get_opcodes()
        if kind != "equal"
    )


def size(some: Sequence[Change]) -> int:
    """In lines."""
    return sum(max(one.last - one.first, len(one.lines)) for one in some)


def are_apart(bugs: Sequence[Bug]) -> bool:
    """Whether no two of them change the same lines."""
    return not any(
        one.overlaps(other)
        for bug, another in itertools.combinations(bugs, 2)
        for one in bug.changes
        for other in another.changes
    )


def planted(right: str, bugs: Sequence[Bug]) -> str:
    """The right file with these in it, which are apart."""
    lines = right.splitlines()
    for one in sorted((one for bug in bugs for one in bug.changes), key=lambda one: one.first, reverse=True):
        lines[one.first : one.last] = one.lines
    for number in idle_imports("\n".join(lines)) if bugs else ():
        lines[number - 1] = ""  # it would tell what is missing; the other lines stay where they are
    return "\n".join(lines) + "\n"


def idle_imports(text: str) -> list[int]:
    """The lines whose imports nothing uses, from 1; none of what is no Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return [
        one.lineno
        for one in imports
        if one.lineno == one.end_lineno
        and not any((name.asname or name.name).partition(".")[0] in used for name in one.names)
    ]


def places(bug: Bug, bugs: Sequence[Bug]) -> list[range]:
    """Where it stands in the file that has all of these bugs: lines counted from 0, none where it leaves some out."""
    others = [one for other in bugs for one in other.changes]
    made = []
    for change in bug.changes:
        moved = sum(len(one.lines) - (one.last - one.first) for one in others if one.first < change.first)
        made.append(range(change.first + moved, change.first + moved + len(change.lines)))
    return made


def stood_for(line: int, bugs: Sequence[Bug]) -> set[int]:
    """The lines of the right file that a line of the file with these bugs stands for, both counted from 1.

    Next to something that is left out, that as well.
    """
    at, moved, found = line - 1, 0, set[int]()
    for one in sorted((one for bug in bugs for one in bug.changes), key=lambda one: one.first):
        begin, end = one.first + moved, one.first + moved + len(one.lines)
        if begin <= at < end or (begin == end and at in (begin - 1, begin)):
            found |= set(range(one.first + 1, one.last + 1)) or {one.first, one.first + 1}
        if begin <= at < end:
            return found
        if at < begin:
            break
        moved += len(one.lines) - (one.last - one.first)
    return found | {at - moved + 1}


def plain(source: str) -> str:
    """The program with its docstrings, but without comments, which often say what the right line does.

    Nor has it what an edit leaves behind where it takes something away: `pass`, and an `if` that does nothing.
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(iter([f"{line}\n" for line in lines] + [""]).__next__):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip() or "\0"
    text = "\n".join(line for line in lines if line != "\0") + "\n"
    while idle := next(idle_statements(text), None):
        lines = text.splitlines()
        lines[idle.lineno - 1 : idle.end_lineno] = []
        text = "\n".join(lines) + "\n"
    return text


def idle_statements(text: str) -> Iterator[ast.stmt]:
    """Those that do nothing, where something else is left beside them."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.mod | ast.stmt) and len(body := getattr(node, "body", [])) > 1:
            yield from filter(is_idle, body)


def is_idle(one: ast.stmt) -> bool:
    if not isinstance(one, ast.If) or one.orelse:
        return isinstance(one, ast.Pass)
    never = isinstance(one.test, ast.Constant) and not one.test.value
    return never or all(isinstance(inner, ast.Pass) for inner in one.body)
