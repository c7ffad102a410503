"""Where katas live: katas/<topic>/<kata>/ and, mirrored, solutions/<topic>/<kata>/."""

from __future__ import annotations

import difflib
import functools
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it imports torch, which takes a second; a name is found without
    from graders.spec import Grader

LEVELS = (1, 2, 3)
ROOT = Path(__file__).resolve().parent.parent


class Refused(Exception):
    """What the user asked for cannot be done; the message says why and what to do."""


class UnknownKata(Refused):
    """The message says which name, and what it may have meant."""


@dataclass(frozen=True)
class Kata:
    """One kata, by where it lives."""

    root: Path
    topic: str
    id: str

    @property
    def folder(self) -> Path:
        return self.root / "katas" / self.topic / self.id

    @property
    def answer_file(self) -> Path:
        """The stub: the one file that a learner edits."""
        return self.folder / f"{self.id}.py"

    @property
    def kept_stub(self) -> Path:
        """The stub as it was made: for forks that have removed the solutions."""
        return self.folder / ".stub.py"

    @property
    def grader_file(self) -> Path:
        return self.folder / "grader.py"

    @property
    def solutions(self) -> Path:
        return self.root / "solutions" / self.topic / self.id

    @property
    def reference_file(self) -> Path:
        return self.solutions / f"{self.id}.py"

    @property
    def place(self) -> tuple[int, str, str]:
        """In the designed order; what that does not name comes last, by its name."""
        order = designed_order(self.root)
        return order.index(self.id) if self.id in order else len(order), self.topic, self.id

    @property
    def rank(self) -> tuple[int, tuple[int, str, str]]:
        """Learners take the lowest first: by level, then as designed. Raises: GraderError."""
        return self.grader.level, self.place

    @functools.cached_property
    def module(self) -> ModuleType:
        """The imported grader.py. Raises: GraderError."""
        return load_module(self.grader_file, f"grader_of_{self.id}")

    @functools.cached_property
    def grader(self) -> Grader:
        """Raises: GraderError."""
        from graders.spec import Grader, GraderError

        grader = getattr(self.module, "GRADER", None)
        if not isinstance(grader, Grader):
            raise GraderError(f"{self.grader_file} should define GRADER, a Grader")
        return grader


def load_module(path: Path, name: str) -> ModuleType:
    """Imports one of the project's own files. Raises: GraderError."""
    from graders.spec import GraderError

    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise GraderError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except GraderError:
        raise
    except Exception as error:  # whatever an author's file raises, the fault is named and the other katas go on
        raise GraderError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def all_katas(root: Path = ROOT) -> list[Kata]:
    """By topic; both the topics and their katas in the designed order."""
    katas = [kata_at(path) for path in (root / "katas").glob("*/*/grader.py")]
    first = {kata.topic: kata.place for kata in sorted(katas, key=lambda kata: kata.place, reverse=True)}
    return sorted(katas, key=lambda kata: (first[kata.topic], kata.place))


@functools.cache
def designed_order(root: Path) -> list[str]:
    """What katas/order.txt names: the easy ones first, each after what it builds on."""
    path = root / "katas" / "order.txt"
    return path.read_text(encoding="utf-8").split() if path.exists() else []


def kata_at(grader_file: Path) -> Kata:
    """The kata of a grader.py."""
    folder = grader_file.resolve().parent
    return Kata(folder.parents[2], folder.parent.name, folder.name)


def find(names: list[str], root: Path = ROOT) -> list[Kata]:
    """The katas of these names, topics or paths, in the order given; all of them for none. Raises: UnknownKata."""
    katas = all_katas(root)
    return list(dict.fromkeys(kata for name in names for kata in called(name, katas, root))) if names else katas


def find_one(name: str, root: Path = ROOT) -> Kata:
    """Raises: UnknownKata, Refused where that is a topic of several."""
    found = find([name], root)
    if len(found) > 1:
        raise Refused(f"{name} is a topic of {len(found)} katas; name one: {', '.join(kata.id for kata in found)}")
    return found[0]


def called(name: str, katas: list[Kata], root: Path) -> list[Kata]:
    """A kata by its name or by a path in its folder, or all of a topic, likewise. Raises: UnknownKata."""
    paths = {place.resolve() for place in (Path(name), root / name)}
    found = (
        [kata for kata in katas if kata.id == name]
        or [kata for kata in katas if kata.topic == name]
        or [kata for kata in katas if any(path.is_relative_to(kata.folder.resolve()) for path in paths)]
        or [kata for kata in katas if kata.folder.parent.resolve() in paths]
    )
    if not found:
        names = [kata.id for kata in katas]
        near = difflib.get_close_matches(name, [*names, *{kata.topic for kata in katas}], n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names)}"
        raise UnknownKata(f"there is no kata called {name!r}; {hint}")
    return found
