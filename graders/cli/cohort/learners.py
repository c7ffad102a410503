"""Whose answers there are: read out of folders, archives and repositories, of which nothing is run or unpacked.

Only the answers' files are opened. Links are not followed, names in archives are never used as paths, and a file that
is too large is known by its size alone.
"""

from __future__ import annotations

import os
import re
import stat
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from graders.catalogue.katas import Kata
from graders.catalogue.source import LONGEST_SOURCE
from graders.cli.cohort.repositories import Trouble, clone, git, roster
from graders.faults import UsageError

MOST_ENTRIES = 200_000  # of one learner's tree
MOST_UNPACKED = 1 << 30  # bytes of an archive that are looked through
NOT_LOOKED_INTO = {"solutions", "tests", "node_modules", "__pycache__", "__MACOSX"}
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True)
class Answer:
    """A file that a learner wrote. Of one that is too large only the size is known."""

    path: str  # in the learner's tree
    content: bytes
    size: int


@dataclass
class Learner:
    """One of the class, and what was found of theirs.

    Args:
        name: as the folder, the archive or the roster has it.
        slug: the same as a file's name; no two learners have the same.
        answers: by kata.
        notes: what could not be read, in sentences.
    """

    name: str
    slug: str = ""
    answers: dict[str, Answer] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class Tree(Protocol):
    """The plain files of a learner."""

    def files(self) -> Iterator[tuple[str, int]]:
        """Their paths, with / between names, and their sizes. Raises: Trouble."""

    def read(self, path: str) -> bytes:
        """At most what a submission may have, and one byte more. Raises: Trouble."""


def all_learners(source: Path, katas: list[Kata], clones: Path) -> list[Learner]:
    """Of a folder or a roster, by name. Raises: UsageError."""
    if source.suffix == ".csv":
        found = [of_repository(*row, katas, clones) for row in roster(source)]
    elif source.is_dir():
        entries = sorted(entry for entry in source.iterdir() if not entry.name.startswith("."))
        found = [of_entry(entry, katas) for entry in entries if entry.is_dir() or entry.name.endswith(ARCHIVES)]
    else:
        raise UsageError(f"{source} should be a folder of learners or a roster that ends in .csv; check the path")
    if not found:
        raise UsageError(f"{source} has no learners: it should have a folder, a .zip or a .tar of each")
    name_files(found)
    return found


def of_entry(entry: Path, katas: list[Kata]) -> Learner:
    """Of a folder or an archive."""
    name = entry.name
    if entry.is_symlink():
        return Learner(name, notes=[f"{name} is a link, and links are not followed; put the folder itself here"])
    if entry.is_dir():
        return found_in(Folder(entry), name, katas)
    name = next(name.removesuffix(ending) for ending in ARCHIVES if name.endswith(ending))
    return found_in(Zip(entry) if entry.suffix == ".zip" else Tar(entry), name, katas)


def found_in(tree: Tree, name: str, katas: list[Kata]) -> Learner:
    learner = Learner(name)
    try:
        places = candidates(tree, katas)
        for kata in katas:
            path = the_one(places[kata.id], learner)
            if path:
                size = places[kata.id][path]
                content = tree.read(path) if size <= LONGEST_SOURCE else b""
                learner.answers[kata.id] = Answer(path, content, max(size, len(content)))
    except Trouble as trouble:
        learner.notes.append(str(trouble))
    if not learner.answers and not learner.notes:
        learner.notes.append("there is no file that is named like a kata")
    return learner


def candidates(tree: Tree, katas: list[Kata]) -> dict[str, dict[str, int]]:
    """Of each kata, the files that are named like its answer, and their sizes. Raises: Trouble."""
    found: dict[str, dict[str, int]] = {kata.id: {} for kata in katas}
    for number, (path, size) in enumerate(tree.files()):
        if number >= MOST_ENTRIES:
            raise Trouble(f"there are more than {MOST_ENTRIES:,} files; leave out what is no answer")
        *folders, name = PurePosixPath(path).parts
        hidden = any(folder.startswith(".") or folder in NOT_LOOKED_INTO for folder in folders)
        if name.endswith(".py") and name[:-3] in found and not hidden:
            found[name[:-3]][path] = size
    return found


def the_one(places: dict[str, int], learner: Learner) -> str | None:
    """The file that stands where the repository has it, else the one that lies least deep."""
    if not places:
        return None
    name = PurePosixPath(next(iter(places))).stem

    def order(path: str) -> tuple[bool, int]:
        parts = PurePosixPath(path).parts
        return not (len(parts) >= 4 and parts[-4] == "katas" and parts[-2] == name), len(parts)

    ranked = sorted(places, key=lambda path: (*order(path), path))
    if len(ranked) > 1 and order(ranked[0]) == order(ranked[1]):
        learner.notes.append(f"{ranked[0]} and {ranked[1]} may both be the answer to {name}; neither was graded")
        return None
    return ranked[0]


def name_files(learners: list[Learner]) -> None:
    """Gives each a name for files: letters and digits of their own script, and a number where two would be the same."""
    taken: set[str] = set()
    for learner in learners:
        plain = unicodedata.normalize("NFC", learner.name)
        base = re.sub(r"[^\w-]+", "-", plain).strip("-_")[:80] or "learner"
        learner.slug, number = base, 1
        while learner.slug.casefold() in taken:
            number += 1
            learner.slug = f"{base}-{number}"
        taken.add(learner.slug.casefold())


class Folder:
    """A learner's folder; links in it, and what is no plain file, are as if they were not there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def files(self) -> Iterator[tuple[str, int]]:
        def give_up(error: OSError) -> None:
            raise Trouble(f"{error.filename} cannot be read: {error.strerror}")

        for folder, folders, names in os.walk(self.root, onerror=give_up):
            folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in NOT_LOOKED_INTO)
            for name in names:
                path = Path(folder, name)
                state = path.lstat()
                if stat.S_ISREG(state.st_mode):
                    yield path.relative_to(self.root).as_posix(), state.st_size

    def read(self, path: str) -> bytes:
        try:
            handle = os.open(self.root / path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with os.fdopen(handle, "rb") as stream:
                return stream.read(LONGEST_SOURCE + 1)
        except OSError as error:
            raise Trouble(f"{path} cannot be read: {error.strerror}") from None


class Zip:
    """A learner's .zip."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def files(self) -> Iterator[tuple[str, int]]:
        with self.opened() as archive:
            for one in archive.infolist():
                if not one.is_dir() and not stat.S_ISLNK(one.external_attr >> 16):
                    yield one.filename, one.file_size

    def read(self, path: str) -> bytes:
        with self.opened() as archive:
            try:
                with archive.open(path) as stream:
                    return stream.read(LONGEST_SOURCE + 1)
            except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile, EOFError) as error:
                raise Trouble(f"{path} cannot be read out of {self.file.name}: {error}") from None

    def opened(self) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(self.file)
        except (OSError, zipfile.BadZipFile) as error:
            raise Trouble(f"{self.file.name} is no .zip that can be read: {error}") from None


class Tar:
    """A learner's .tar, perhaps compressed. What it holds is read while it is looked through, once."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.kept: dict[str, bytes] = {}

    def files(self) -> Iterator[tuple[str, int]]:
        try:
            with tarfile.open(self.file, "r|*") as archive:
                seen = 0
                for one in archive:
                    seen += one.size
                    if seen > MOST_UNPACKED:
                        raise Trouble(f"{self.file.name} unpacks to more than 1 GB; leave out what is no answer")
                    if one.isreg():
                        if one.name.endswith(".py") and one.size <= LONGEST_SOURCE:
                            self.kept[one.name] = content_of(archive.extractfile(one))
                        yield one.name, one.size
        except (OSError, EOFError, tarfile.TarError) as error:
            raise Trouble(f"{self.file.name} is no .tar that can be read: {error}") from None

    def read(self, path: str) -> bytes:
        return self.kept[path]


def content_of(stream: IO[bytes] | None) -> bytes:
    return stream.read(LONGEST_SOURCE + 1) if stream else b""


class Commit:
    """A revision of a bare clone: its files are read out of git's store, and never checked out."""

    def __init__(self, clone: Path, revision: str) -> None:
        self.clone = clone
        self.revision = revision
        self.objects: dict[str, str] = {}

    def files(self) -> Iterator[tuple[str, int]]:
        listed = git(self.clone, "ls-tree", "-r", "-z", "--long", "--end-of-options", self.revision)
        for line in filter(None, listed.decode(errors="replace").split("\0")):
            about, _, path = line.partition("\t")
            mode, _, name, size = about.split()
            if mode in ("100644", "100755"):
                self.objects[path] = name
                yield path, int(size)

    def read(self, path: str) -> bytes:
        return git(self.clone, "cat-file", "blob", self.objects[path])[: LONGEST_SOURCE + 1]


def of_repository(name: str, repository: str, revision: str, katas: list[Kata], clones: Path) -> Learner:
    """What the repository has now, if it can be reached."""
    folder = clones / re.sub(r"\W+", "-", repository)[-100:]
    try:
        if not folder.exists():
            clone(repository, folder)
        else:
            git(folder, "fetch", "--quiet", "origin", "+refs/heads/*:refs/heads/*")
        known = git(folder, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    except Trouble as trouble:
        return Learner(name, notes=[f"{repository} at {revision} cannot be had: {trouble}"])
    return found_in(Commit(folder, known), name, katas)
