"""Whose answers there are: read out of folders, archives and repositories, of which only the answers' files are opened.

Names in archives are never used as paths, and a file that is too large is known by its size alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath

from graders.catalogue.katas import Kata
from graders.catalogue.source import LONGEST_SOURCE, Source, same_program, too_large
from graders.cohort.repositories import (
    IDENTITY,
    Row,
    Trouble,
    clone,
    commit_before,
    commit_of,
    fetch,
    made_at,
)
from graders.cohort.trees import LINK, NOT_LOOKED_INTO, Commit, Tree
from graders.cohort.writers import one_line
from graders.faults import UsageError

MOST_ENTRIES = 200_000  # of one learner's tree
NO_ANSWER = (
    "there is no file that is named like a kata; links are not followed, and folders that begin with a dot are left out"
)
# What browsers, file managers and Canvas make of a name that they have already.
COPIED = re.compile(r"[ _]?\(\d+\)$|-\d+$|[ _-]+copy( \d+)?$")
RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)\d)")  # names that Windows keeps for itself


@dataclass
class Learner:
    """One of the class, and what was found of theirs.

    Args:
        name: as the folder, the archive or the roster has it.
        slug: the same as a file's name; no two learners have the same.
        place: where that was found, which tells two learners of one name apart.
        answers: by kata, each named by its path in the learner's tree.
        notes: what there is to say of it, in sentences.
        unread: something of it could not be read, or not as it is now.
        about: the columns of `IDENTITY`, as far as they are known.
        commit, committed: of a repository, which one was read, and when that was made.
        until: their deadline; None where there is none.
        late: by kata, the days that an answer came after it.
    """

    name: str
    slug: str = ""
    place: str = ""
    answers: dict[str, Source] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unread: bool = False
    about: dict[str, str] = field(default_factory=dict)
    commit: str = ""
    committed: datetime | None = None
    until: datetime | None = None
    late: dict[str, int] = field(default_factory=dict)


def found_in(tree: Tree, name: str, katas: list[Kata], place: str = "") -> Learner:
    learner = Learner(name, place=place)
    with noted(learner):
        places = candidates(tree, katas)
        for kata in katas:
            path = the_one(kata.id, places[kata.id], learner)
            if path:
                with noted(learner):
                    size = places[kata.id][path]
                    shown, large = one_line(path), size > LONGEST_SOURCE
                    learner.answers[kata.id] = (
                        Source("", shown, too_large(size)) if large else Source.of_bytes(tree.read(path), shown)
                    )
    if not learner.answers and not learner.notes:
        learner.notes.append(NO_ANSWER)
    return learner


def unread(name: str, why: str) -> Learner:
    return Learner(name, notes=[one_line(why)], unread=True)


@contextlib.contextmanager
def noted(learner: Learner) -> Iterator[None]:
    """What could not be read costs nothing but itself."""
    try:
        yield
    except Trouble as trouble:
        learner.notes.append(one_line(str(trouble)))
        learner.unread = True


def parts_of(path: str) -> tuple[str, ...]:
    """Some programs for Windows write their own separators into a .zip."""
    return PurePosixPath(path.replace("\\", "/")).parts


def kata_of(name: str) -> str:
    """The kata that a file's name means, perhaps in other letters or as a copy; "" for no Python file."""
    stem, dot, ending = name.casefold().rpartition(".")
    return COPIED.sub("", stem.strip()) if dot and ending == "py" else ""


def candidates(tree: Tree, katas: list[Kata]) -> dict[str, dict[str, int]]:
    """Of each kata, the files that are named like its answer, and their sizes. Raises: Trouble."""
    found: dict[str, dict[str, int]] = {kata.id: {} for kata in katas}
    for number, (path, size) in enumerate(tree.files()):
        if number >= MOST_ENTRIES:
            raise Trouble(f"there are more than {MOST_ENTRIES:,} files; leave out what is no answer")
        *folders, name = parts_of(path)
        hidden = any(folder.startswith(".") or folder in NOT_LOOKED_INTO for folder in folders)
        if not hidden and (meant := kata_of(name)) in found:
            found[meant][path] = size
    return found


def the_one(kata: str, places: dict[str, int], learner: Learner) -> str | None:
    """The file that is named like the kata and stands where the repository has it, else the least deep one; no link."""
    files = [path for path, size in places.items() if size != LINK]
    if not files:
        for link in places:
            learner.notes.append(f"{one_line(link)} is a link, and links are not followed: {kata} was not graded")
            learner.unread = True
        return None

    def order(path: str) -> tuple[bool, bool, int]:
        parts = parts_of(path)
        return (
            parts[-1] != f"{kata}.py",
            not (len(parts) >= 4 and parts[-4] == "katas" and parts[-2] == kata),
            len(parts),
        )

    ranked = sorted(files, key=lambda path: (*order(path), path))
    if len(ranked) > 1 and order(ranked[0]) == order(ranked[1]):
        both = one_line(f"{ranked[0]} and {ranked[1]}")
        learner.notes.append(f"{both} may both be the answer to {kata}; neither was graded")
        learner.unread = True
        return None
    if order(ranked[0])[0]:
        learner.notes.append(f"{one_line(ranked[0])} was taken for the answer to {kata}")
    elif aside := [path for path in ranked if order(path)[0]]:
        learner.notes.append(f"{one_line(ranked[0])} was taken, and not {one_line(', '.join(aside))}")
    return ranked[0]


def of_repository(
    row: Row, katas: list[Kata], clones: Path, until: datetime | None = None, take_late: bool = False
) -> Learner:
    """What the repository had at the deadline; where it cannot be reached, what it had at the last run.

    What came later is taken as well where `take_late` says so, or where nothing came before, and is marked.
    """
    name, repository = one_line(row.learner), row.repository
    address = hashlib.sha256(repository.encode()).hexdigest()[:12]  # a/b-c and a-b/c are two
    folder = clones / f"{re.sub(r'[^A-Za-z0-9]+', '-', repository)[-80:]}-{address}"
    away, due = "", row.deadline(until)
    try:
        if not folder.exists():
            clone(repository, folder)
        else:
            try:
                fetch(folder)
            except Trouble as trouble:
                away = f"{repository} cannot be reached now ({trouble}): this is what was fetched before"
        newest = commit_of(folder, row.revision)
        known = commit_before(folder, newest, due) if due else newest
        learner = found_in(Commit(folder, known or newest), name, katas)
        if due and not known:
            learner.notes.append("nothing was committed in time: the newest commit was graded")
        if due and known != newest and (take_late or not known):
            add_late(learner, folder, newest, due, {} if not known else learner.answers, katas)
        read = newest if learner.late or not known else known
        learner.commit, learner.committed = read[:10], made_at(folder, read)
    except Trouble as trouble:
        learner = unread(name, f"{repository} at {row.revision} cannot be had: {trouble}")
    learner.place, learner.until = f"{repository} {row.revision}", due
    learner.about = {column: one_line(getattr(row, column)) for column in IDENTITY}
    if away:
        learner.notes.append(one_line(away))
        learner.unread = True
    return learner


def add_late(
    learner: Learner, clone: Path, newest: str, due: datetime, in_time: dict[str, Source], katas: list[Kata]
) -> None:
    """Takes the answers that became other programs after the deadline, and marks them. Raises: Trouble."""
    before, tree = dict(in_time), Commit(clone, newest)
    answers = found_in(tree, learner.name, katas).answers
    paths = {one_line(path): path for path in tree.objects}
    for kata, answer in answers.items():
        if kata not in before or not same_program(before[kata].text, answer.text):
            after = made_at(clone, newest, paths[answer.shown]) - due
            learner.answers[kata] = answer
            learner.late[kata] = max(1, math.ceil(after / timedelta(days=1)))


def name_files(learners: list[Learner]) -> None:
    """Gives each a name for files that nobody else ever gets, whoever joins or leaves.

    Most names are their own; any other is told apart by a digest, which no name of its own can end with.
    """
    counted = Counter(learner.name for learner in learners)
    places: Counter[tuple[str, str]] = Counter()
    for learner in learners:
        same = counted[learner.name] > 1
        places[learner.name, learner.place] += 1
        again = f"\0{learner.place}\0{places[learner.name, learner.place]}" if same else ""
        learner.slug = slug(learner.name, again)
        note = f"another learner has the same name; the files of this one are called {learner.slug}"
        if same and note not in learner.notes:
            learner.notes.append(note)


def slug(name: str, again: str = "") -> str:
    plain = unicodedata.normalize("NFC", name)
    base = re.sub(r"[^\w-]+", "-", plain).strip("-_")[:80]
    if name and (base, again) == (name, "") and name == name.casefold() and not RESERVED.fullmatch(name):
        return name
    return f"{base or 'learner'}.{hashlib.sha256(f'{name}{again}'.encode()).hexdigest()[:8]}"


def check_class(found: list[Learner], source: Path) -> list[Learner]:
    """Raises: UsageError where nobody is there."""
    if not found:
        raise UsageError(f"{source} has no learners: it should have a folder, a .zip or a .tar of each")
    name_files(found)
    return found
