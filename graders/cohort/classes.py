"""What LEARNERS may be: a folder or a .zip with a part for each learner, a download, a roster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from graders.catalogue.katas import Kata
from graders.cohort.learners import Learner, check_class, found_in, of_repository, unread
from graders.cohort.repositories import Trouble, roster
from graders.cohort.trees import ARCHIVES, Folder, Tar, Tree, Zip
from graders.cohort.writers import one_line
from graders.faults import UsageError

OTHERS = (".rar", ".7z", ".tar.zst", ".gz", ".bz2", ".xz")  # archives that Python cannot look through, or of one file
# `leeann_LATE_4321_98765_softmax.py`, as Canvas's lib/content_zipper.rb names what was uploaded.
CANVAS = re.compile(r"(?:(?P<name>\w+?)_)?(?P<late>LATE_)?(?P<id>\d+|anon_\w+?)_\d+_(?P<rest>.+)")
# `Ann Lee_4321_assignsubmission_file_/…`, as Moodle's mod/assign names it; in old ones without folders.
MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_[a-z]+_?(?P<rest>.*)")


@dataclass(frozen=True)
class Owner:
    """Whose a file of a download is: its name there says so."""

    system: str
    name: str
    id: str
    late: bool
    rest: str  # what the learner called it; empty for a folder


@dataclass
class Joined:
    """The parts of a download that are one learner's."""

    parts: list[Tree] = field(default_factory=list)
    where: dict[str, Tree] = field(default_factory=dict)
    system: str = ""
    late: bool = False
    packed: list[str] = field(default_factory=list)  # archives in an archive

    def files(self) -> Iterator[tuple[str, int]]:
        for tree in self.parts:
            for path, size in tree.files():
                self.where[path] = tree
                yield path, size

    def read(self, path: str) -> bytes:
        return self.where[path].read(path)


class Single:
    """One file of a folder, or of an archive, under another name."""

    def __init__(self, tree: Tree, path: str, shown: str, size: int) -> None:
        self.tree, self.path, self.shown, self.size = tree, path, shown, size

    def files(self) -> Iterator[tuple[str, int]]:
        yield self.shown, self.size

    def read(self, path: str) -> bytes:
        return self.tree.read(self.path)


def all_learners(
    source: Path, katas: list[Kata], clones: Path, until: datetime | None = None, take_late: bool = False
) -> list[Learner]:
    """Raises: UsageError."""
    if source.suffix == ".csv":
        found = [of_repository(row, katas, clones, until, take_late) for row in roster(source, until)]
    elif source.is_dir():
        found = of_folder(source, katas)
    elif source.is_file() and ending(source, (".zip",)):
        found = of_archive(source, katas)
    else:
        raise UsageError(
            f"{source} should be a folder or a .zip of learners, or a roster that ends in .csv; check the path"
        )
    return check_class(found, source)


def left_out(source: Path) -> list[str]:
    """What could be a learner's, but begins with a dot."""
    if not source.is_dir():
        return []
    hidden = sorted(one for one in source.iterdir() if one.name.startswith(".") and one.name != ".git")
    return [one_line(one.name) for one in hidden if one.is_dir() or ending(one, ARCHIVES + OTHERS)]


def of_folder(source: Path, katas: list[Kata]) -> list[Learner]:
    """A learner for each folder and archive; in a download, for each whose name is before its files."""
    found: list[Learner] = []
    downloaded: dict[tuple[str, str], Joined] = {}
    whole = Folder(source)
    for entry in sorted(one for one in source.iterdir() if not one.name.startswith(".")):
        known = None if entry.is_symlink() else owner(entry.name, folder=entry.is_dir())
        if known:
            own = joined(downloaded, known)
            if entry.is_dir():
                own.parts.append(Folder(entry))
            elif ending(entry, ARCHIVES):
                own.parts.append(archive(entry))
            elif entry.is_file():
                own.parts.append(Single(whole, entry.name, known.rest, entry.lstat().st_size))
        elif entry.is_dir() or ending(entry, ARCHIVES + OTHERS):
            found.append(of_entry(entry, katas))
    return [*found, *of_download(downloaded, katas)]


def of_archive(source: Path, katas: list[Kata]) -> list[Learner]:
    """Of a .zip as Canvas and Moodle make it, or of folders. Raises: UsageError."""
    whole = Zip(source)
    found: dict[tuple[str, str], Joined] = {}
    try:
        for path, size in whole.files():
            first, _, inside = path.replace("\\", "/").partition("/")
            known = owner(first, folder=bool(inside)) or (Owner("", first, "", late=False, rest="") if inside else None)
            if known and not first.startswith("."):
                own, shown = joined(found, known), inside or known.rest
                own.parts.append(Single(whole, path, shown, size))
                own.packed += [shown] * bool(ending(Path(shown), ARCHIVES))
    except Trouble as trouble:
        raise UsageError(one_line(str(trouble))) from None
    return of_download(found, katas)


def joined(found: dict[tuple[str, str], Joined], known: Owner) -> Joined:
    own = found.setdefault((known.name, known.id), Joined(system=known.system))
    own.late |= known.late
    return own


def of_download(found: dict[tuple[str, str], Joined], katas: list[Kata]) -> list[Learner]:
    learners = []
    for (name, number), tree in sorted(found.items()):
        learner = found_in(tree, one_line(name), katas, place=number)
        learner.about = {tree.system: number} if number else {}
        if tree.late:
            learner.notes.append("Canvas says that this was handed in late")
        if tree.packed:
            learner.notes.append(
                f"{one_line(', '.join(tree.packed))} is in an archive itself: unpack the download first"
            )
            learner.unread = True
        learners.append(learner)
    return learners


def owner(entry: str, folder: bool) -> Owner | None:
    """None where the name is none of a download's. Canvas makes no folders."""
    moodle, canvas = MOODLE.fullmatch(entry), CANVAS.fullmatch(entry)
    if moodle:
        return Owner("moodle", moodle["name"], moodle["id"], late=False, rest=moodle["rest"])
    if canvas and not folder:
        return Owner("canvas", canvas["name"] or canvas["id"], canvas["id"], bool(canvas["late"]), canvas["rest"])
    return None


def of_entry(entry: Path, katas: list[Kata]) -> Learner:
    """Of a folder or an archive."""
    name = one_line(entry.name)
    if entry.is_symlink():
        learner = unread(name, f"{name} is a link, and links are not followed; put the folder itself here")
    elif entry.is_dir():
        learner = found_in(Folder(entry), name, katas)
    elif not ending(entry, ARCHIVES):
        learner = unread(name, f"{name} cannot be looked through; put a .zip or a .tar here")
    else:
        learner = found_in(archive(entry), name[: -len(ending(entry, ARCHIVES))], katas)
    learner.place = entry.name
    return learner


def archive(file: Path) -> Tree:
    return Zip(file) if ending(file, (".zip",)) else Tar(file)


def ending(file: Path, endings: tuple[str, ...]) -> str:
    """The one that the name has, be it in capitals; empty if it has none."""
    return next((one for one in endings if file.name.lower().endswith(one)), "")
