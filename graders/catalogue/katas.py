"""Where katas live: katas/<topic>/<kata>/ and, mirrored, solutions/<topic>/<kata>/."""

from __future__ import annotations

import difflib
import functools
import importlib.util
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import frontmatter
import yaml

from graders.faults import ROOT, UsageError

if TYPE_CHECKING:  # it imports torch, which takes a second; a name is found without
    from graders.kata.mistakes import Mistake
    from graders.kata.spec import Grader

LEVELS = (1, 2, 3)
ASKED = ("often", "sometimes")  # docs/rules.md says what it means; of other katas no report is known
RESTORE = ": restore it with git"  # what a learner does about a file of ours


class UnknownKata(UsageError):
    """The message says which name, and what it may have meant."""


@dataclass(frozen=True)
class About:
    """What a statement says at its top, in its front matter: known without importing the grader.

    Args:
        title: as a heading.
        topic: the folder's name.
        level: 1 to 3, from warm-up to hard.
        after: the katas that it builds on, by their names.
        minutes: that somebody who knows the matter needs for it in an interview, follow-up questions among them.
        aliases: what people also call it, as a name: `rope`. A statement need not say any.
        asked: how often in interviews, of ASKED, as candidates report; empty where no report is known.
        continues: the kata whose answer is changed into one to this; empty for most.
    """

    title: str
    topic: str
    level: int = 1
    after: tuple[str, ...] = ()
    minutes: int = 15
    aliases: tuple[str, ...] = ()
    asked: str = ""
    continues: str = ""


SAID: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "title": ("a text", lambda value: isinstance(value, str) and bool(value)),
    "topic": ("a text", lambda value: isinstance(value, str)),
    "level": (f"one of {', '.join(map(str, LEVELS))}", lambda value: type(value) is int and value in LEVELS),
    "after": (
        "a list of katas",
        lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value),
    ),
    "minutes": ("a whole number above 0", lambda value: type(value) is int and value > 0),
}
ALIAS = re.compile(r"[a-z][a-z0-9_]*")
# What may be left out.
MAY_SAY: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "aliases": (
        "a list of names in small letters",
        lambda value: isinstance(value, list) and all(ALIAS.fullmatch(str(name)) for name in value),
    ),
    "asked": (f"one of {', '.join(ASKED)}", lambda value: value in ASKED),
    "continues": ("a kata's name", lambda value: isinstance(value, str) and bool(ALIAS.fullmatch(value))),
}


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
    def file_name(self) -> str:
        """What an answer is called where it does not lie in the kata's folder."""
        return f"{self.id}.py"

    @property
    def kept_stub(self) -> Path:
        """The stub as it was made: for forks that have removed the solutions."""
        return self.folder / ".stub.py"

    @property
    def statement(self) -> Path:
        return self.folder / "README.md"

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
    def alternatives(self) -> list[Path]:
        """Other right answers."""
        return sorted((self.solutions / "alternatives").glob("*.py"))

    @functools.cached_property
    def about(self) -> About:
        """Its front matter; where there is no statement, the least. Raises: UsageError."""
        try:
            said: dict[str, Any] = frontmatter.load(str(self.statement)).metadata
        except FileNotFoundError:
            return About(self.id, self.topic)
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise self.unclear(" ".join(str(error).split())) from None
        if said.keys() - MAY_SAY.keys() != SAID.keys():
            raise self.unclear(f"it names {', '.join(map(str, said)) or 'none of them'}")
        for name, (wanted, fits) in (SAID | MAY_SAY).items():
            if name in said and not fits(said[name]):
                raise self.unclear(f"{name} should be {wanted}, got {said[name]!r}")
        if said["topic"] != self.topic:
            raise self.unclear(f"topic should be {self.topic}, the folder, got {said['topic']}")
        return About(**{**said, "after": tuple(said["after"]), "aliases": tuple(said.get("aliases", ()))})

    def unclear(self, why: str) -> UsageError:
        path = self.statement.relative_to(self.root)
        return UsageError(f"{path} should begin with {', '.join(SAID)} ({why}){RESTORE}")

    @property
    def rank(self) -> int:
        """Its place on the path that learners take. Raises: UsageError."""
        return path(self.root).index(self.id)

    @functools.cached_property
    def module(self) -> ModuleType:
        """The imported grader.py. Raises: GraderError."""
        return load_module(self.grader_file, f"grader_of_{self.id}")

    @functools.cached_property
    def grader(self) -> Grader:
        """Raises: GraderError."""
        from graders.faults import GraderError
        from graders.kata.spec import Grader

        grader = getattr(self.module, "GRADER", None)
        if not isinstance(grader, Grader):
            raise GraderError(f"{self.grader_file} should define GRADER, a Grader")
        return grader

    @functools.cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        """Known wrong answers; none where a fork has removed the solutions. Raises: GraderError."""
        return tuple(self.proof.MISTAKES) if self.proof else ()

    @property
    def equivalents(self) -> dict[str, str]:
        """Mutant of the reference -> why it is no mistake. Raises: GraderError."""
        return dict(getattr(self.proof, "EQUIVALENT", {}))

    @property
    def fixed(self) -> dict[str, str]:
        """What is equal in the inputs of all seeds, or a pattern of such -> why it stays. Raises: GraderError."""
        return dict(getattr(self.proof, "FIXED", {}))

    @functools.cached_property
    def proof(self) -> ModuleType | None:
        """The imported mistakes.py, where it is there. Raises: GraderError."""
        path = self.solutions / "mistakes.py"
        return load_module(path, f"mistakes_of_{self.id}") if path.exists() else None


def load_module(path: Path, name: str) -> ModuleType:
    """Imports one of the project's own files. Raises: GraderError."""
    from graders.faults import GraderError

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
    """By topic; both the topics and their katas in the order of the path. Raises: UsageError."""
    katas = sorted(found_katas(root), key=lambda kata: kata.rank)
    topics = list(dict.fromkeys(kata.topic for kata in katas))
    return sorted(katas, key=lambda kata: topics.index(kata.topic))


def found_katas(root: Path) -> list[Kata]:
    return [kata_at(file) for file in (root / "katas").glob("*/*/grader.py")]


@functools.cache
def path(root: Path) -> list[str]:
    """All katas as a learner should take them: what they build on first, then by level, minutes, topic and name.

    Raises: UsageError.
    """
    waiting = sorted(found_katas(root), key=lambda kata: (kata.about.level, kata.about.minutes, kata.topic, kata.id))
    taken: list[str] = []
    while waiting:
        left = {kata.id for kata in waiting}
        first = next((kata for kata in waiting if left.isdisjoint(kata.about.after)), waiting[0])
        waiting.remove(first)
        taken.append(first.id)
    return taken


def sets(root: Path) -> dict[str, list[str]]:
    """Rounds of katas that are asked together, by their names in katas/sets.yaml. Raises: UsageError."""
    found: dict[str, list[str]] = listed(root / "katas/sets.yaml")
    return found


def goals(root: Path) -> dict[str, tuple[str, list[str]]]:
    """Paths by what they lead to, by their names in katas/paths.yaml: a title, and which katas. Raises: UsageError."""
    found = listed(root / "katas/paths.yaml")
    return {name: (said["title"], said.get("katas") or path(root)) for name, said in found.items()}


def on_path_to(goal: str | None, root: Path) -> list[Kata]:
    """All katas for none. Raises: UsageError, where there is no such path."""
    known = goals(root) if goal else {}
    if goal and goal not in known:
        words = "; ".join(f"{name}: {title}" for name, (title, _) in known.items())
        raise UsageError(f"there is no path {goal!r}; there are {words or 'none'}")
    return [kata for kata in all_katas(root) if not goal or kata.id in known[goal][1]]


def listed(file: Path) -> Any:
    """Raises: UsageError."""
    try:
        return yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"katas/{file.name} cannot be read ({' '.join(str(error).split())}){RESTORE}") from None


def kata_at(grader_file: Path) -> Kata:
    """The kata of a grader.py."""
    folder = grader_file.resolve().parent
    return Kata(folder.parents[2], folder.parent.name, folder.name)


def find(names: list[str], root: Path = ROOT) -> list[Kata]:
    """The katas of these names, topics or paths, in the order given; all of them for none. Raises: UnknownKata."""
    known = {kata.id: kata for kata in found_katas(root)}
    if names and known.keys() >= set(names):  # where all others stand on the path need not be known
        return list(dict.fromkeys(known[name] for name in names))
    katas = all_katas(root)
    return list(dict.fromkeys(kata for name in names for kata in called(name, katas, root))) if names else katas


def find_one(name: str, root: Path = ROOT) -> Kata:
    """Raises: UnknownKata, UsageError where that is a topic of several."""
    found = find([name], root)
    if len(found) > 1:
        raise UsageError(f"{name} is a topic of {len(found)} katas; name one: {', '.join(kata.id for kata in found)}")
    return found[0]


def called(name: str, katas: list[Kata], root: Path) -> list[Kata]:
    """A kata by its name, by a path in its folder or by an alias, or all of a topic likewise. Raises: UnknownKata."""
    paths = {place.resolve() for place in (Path(name), root / name)}
    found = (
        [kata for kata in katas if kata.id == name]
        or [kata for kata in katas if kata.topic == name]
        or [kata for kata in katas if any(path.is_relative_to(kata.folder.resolve()) for path in paths)]
        or [kata for kata in katas if kata.folder.parent.resolve() in paths]
        or [announced(name, kata) for kata in katas if as_alias(name) in (kata.id, *kata.about.aliases)][:1]
    )
    if not found:
        names = [kata.id for kata in katas]
        aliases = (alias for kata in katas for alias in kata.about.aliases)
        known = [*names, *dict.fromkeys(kata.topic for kata in katas), *aliases]
        near = difflib.get_close_matches(name, known, n=1) or [one for one in known if name and name in one.split("_")]
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names)}"
        raise UnknownKata(f"there is no kata called {name!r}; {hint}")
    return found


def as_alias(name: str) -> str:
    return re.sub(r"[-\s]", "_", name.strip().lower())


@functools.cache
def announced(name: str, kata: Kata) -> Kata:
    """The kata that `name` means; that it has another name is said once."""
    print(f"{name} is {kata.id}", file=sys.stderr)
    return kata
