"""Whose answers there are: read out of folders, archives and repositories, of which nothing is run or unpacked.

Only the answers' files are opened. Links are not followed, names in archives are never used as paths, and a file that
is too large is known by its size alone.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import lzma
import os
import re
import stat
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Protocol, cast

from graders.catalogue.katas import Kata
from graders.catalogue.source import LONGEST_SOURCE, Source, too_large
from graders.cohort.repositories import Trouble, clone, fetch, git, roster
from graders.faults import UsageError
from graders.worker.visible import WHOLE, visible

MOST_ENTRIES = 200_000  # of one learner's tree
MOST_UNPACKED = 1 << 30  # bytes of an archive that are looked through
MOST_AT_ONCE = 1 << 20  # bytes of one of its headers
NOT_LOOKED_INTO = {"solutions", "tests", "node_modules", "__pycache__", "__MACOSX"}
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
OTHERS = (".rar", ".7z", ".tar.zst", ".gz", ".bz2", ".xz")  # archives that Python cannot look through, or of one file


@dataclass
class Learner:
    """One of the class, and what was found of theirs.

    Args:
        name: as the folder, the archive or the roster has it.
        slug: the same as a file's name; no two learners have the same.
        answers: by kata, each named by its path in the learner's tree.
        notes: what there is to say of it, in sentences.
        unread: something of it could not be read, or not as it is now.
        commit: of a repository, which one was read, and when that was made.
    """

    name: str
    slug: str = ""
    answers: dict[str, Source] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unread: bool = False
    commit: str = ""


class Tree(Protocol):
    """The plain files of a learner."""

    def files(self) -> Iterator[tuple[str, int]]:
        """Their paths, with / between names, and their sizes. Raises: Trouble."""

    def read(self, path: str) -> bytes:
        """At most what a submission may have, and one byte more. Raises: Trouble."""


def all_learners(source: Path, katas: list[Kata], clones: Path) -> list[Learner]:
    """Of a folder or a roster, by name. Raises: UsageError."""
    if source.suffix == ".csv":
        rows = roster(source)
        found = [of_repository(readable(name), where, revision, katas, clones) for name, where, revision in rows]
    elif source.is_dir():
        entries = sorted(entry for entry in source.iterdir() if not entry.name.startswith("."))
        found = [of_entry(entry, katas) for entry in entries if entry.is_dir() or ending(entry, ARCHIVES + OTHERS)]
    else:
        raise UsageError(f"{source} should be a folder of learners or a roster that ends in .csv; check the path")
    if not found:
        raise UsageError(f"{source} has no learners: it should have a folder, a .zip or a .tar of each")
    name_files(found)
    return found


def of_entry(entry: Path, katas: list[Kata]) -> Learner:
    """Of a folder or an archive."""
    name = readable(entry.name)
    if entry.is_symlink():
        return unread(name, f"{name} is a link, and links are not followed; put the folder itself here")
    if entry.is_dir():
        return found_in(Folder(entry), name, katas)
    if not ending(entry, ARCHIVES):
        return unread(name, f"{name} cannot be looked through; put a .zip or a .tar here")
    name = name[: -len(ending(entry, ARCHIVES))]
    return found_in(Zip(entry) if ending(entry, (".zip",)) else Tar(entry), name, katas)


def unread(name: str, why: str) -> Learner:
    return Learner(name, notes=[why], unread=True)


def ending(file: Path, endings: tuple[str, ...]) -> str:
    """The one that the name has, be it in capitals; empty if it has none."""
    return next((one for one in endings if file.name.lower().endswith(one)), "")


def readable(text: str) -> str:
    """In one line, and harmless: a name may have line breaks or escapes in it, or be bytes that are no UTF-8."""
    one_line = text.encode(errors="replace").decode().replace("\n", "\\n").replace("\t", "\\t")
    return visible(one_line, WHOLE)


def found_in(tree: Tree, name: str, katas: list[Kata]) -> Learner:
    learner = Learner(name)
    with noted(learner):
        places = candidates(tree, katas)
        for kata in katas:
            path = the_one(places[kata.id], learner)
            if path:
                with noted(learner):
                    size = places[kata.id][path]
                    shown, large = readable(path), size > LONGEST_SOURCE
                    learner.answers[kata.id] = (
                        Source("", shown, too_large(size)) if large else Source.of_bytes(tree.read(path), shown)
                    )
    if not learner.answers and not learner.notes:
        learner.notes.append("there is no file that is named like a kata; links are not followed")
    return learner


@contextlib.contextmanager
def noted(learner: Learner) -> Iterator[None]:
    """What could not be read costs nothing but itself."""
    try:
        yield
    except Trouble as trouble:
        learner.notes.append(readable(str(trouble)))
        learner.unread = True


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
        both = readable(f"{ranked[0]} and {ranked[1]}")
        learner.notes.append(f"{both} may both be the answer to {name}; neither was graded")
        learner.unread = True
        return None
    return ranked[0]


def name_files(learners: list[Learner]) -> None:
    """Gives each a name for files: letters and digits of their own script, and a number where two would be the same."""
    taken: set[str] = set()
    known: set[str] = set()
    for learner in learners:
        plain = unicodedata.normalize("NFC", learner.name)
        base = re.sub(r"[^\w-]+", "-", plain).strip("-_")[:80] or "learner"
        learner.slug, number = base, 1
        while learner.slug.casefold() in taken:
            number += 1
            learner.slug = f"{base}-{number}"
        taken.add(learner.slug.casefold())
        if learner.name in known:
            learner.notes.append(f"another learner has the same name; the files of this one are called {learner.slug}")
        known.add(learner.name)


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
        with told(f"{self.file.name} is no .zip that can be read"), zipfile.ZipFile(self.file) as archive:
            for one in archive.infolist():
                if not one.is_dir() and not stat.S_ISLNK(one.external_attr >> 16):
                    yield one.filename, one.file_size

    def read(self, path: str) -> bytes:
        with told(f"{path} cannot be read out of {self.file.name}"), zipfile.ZipFile(self.file) as archive:
            if archive.getinfo(path).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Trouble(f"{path} is compressed in a rare way in {self.file.name}; a usual .zip can be read")
            with archive.open(path) as stream:
                return stream.read(LONGEST_SOURCE + 1)


class Tar:
    """A learner's .tar, perhaps compressed. What it holds is read while it is looked through, once."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.kept: dict[str, bytes] = {}

    def files(self) -> Iterator[tuple[str, int]]:
        with (
            told(f"{self.file.name} is no .tar that can be read"),
            plain_stream(self.file) as stream,
            tarfile.open(fileobj=cast("IO[bytes]", Sparing(stream)), mode="r:") as archive,
        ):
            seen = 0
            for one in archive:
                seen += one.size
                if seen > MOST_UNPACKED:
                    raise Trouble(f"{self.file.name} unpacks to more than 1 GB; leave out what is no answer")
                if one.isreg():
                    if one.name.endswith(".py") and one.size <= LONGEST_SOURCE:
                        self.kept[one.name] = content_of(archive.extractfile(one))
                    yield one.name, one.size

    def read(self, path: str) -> bytes:
        return self.kept[path]


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """Raises: Trouble, whatever a hostile archive makes Python's own modules raise."""
    try:
        yield
    except Trouble:
        raise
    except Exception as error:
        raise Trouble(f"{what}: {error}") from None


def plain_stream(file: Path) -> IO[bytes]:
    """What the file holds once it is not compressed any more."""
    with file.open("rb") as stream:
        begins = stream.read(6)
    for sign, opener in ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\0", lzma.open)):
        if begins.startswith(sign):
            return cast("IO[bytes]", opener(file, "rb"))
    return file.open("rb")


class Sparing:
    """A stream that gives little at once: a header in a .tar may say that it goes on for gigabytes."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.seek, self.tell, self.close = stream.seek, stream.tell, stream.close
        self.stream = stream

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= MOST_AT_ONCE:
            raise Trouble("the .tar has a header of more than 1 MB; pack it anew")
        return self.stream.read(size)


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
    """What the repository has now; where it cannot be reached, what it had at the last run."""
    address = hashlib.sha256(repository.encode()).hexdigest()[:12]  # a/b-c and a-b/c are two
    folder = clones / f"{re.sub(r'[^A-Za-z0-9]+', '-', repository)[-80:]}-{address}"
    late = ""
    try:
        if not folder.exists():
            clone(repository, folder)
        else:
            try:
                fetch(folder)
            except Trouble as trouble:
                late = f"{repository} cannot be reached now ({trouble}): this is what was fetched before"
        known = git(folder, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
        made = git(folder, "show", "--no-patch", "--format=%cI", "--end-of-options", known).decode().strip()
    except Trouble as trouble:
        return unread(name, f"{repository} at {revision} cannot be had: {trouble}")
    learner = found_in(Commit(folder, known), name, katas)
    learner.commit = f"{known[:10]} of {made}"
    if late:
        learner.notes.append(readable(late))
        learner.unread = True
    return learner
