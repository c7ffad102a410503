"""Learners' repositories: which there are, how git fetches them, and what stood in them at a deadline.

Standard library only, since .github/classroom.py uses this where nothing is installed.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graders.faults import UsageError

CLONE_SECONDS = 300
MIRRORED = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
IDENTITY = ("login", "id", "email", "section")  # columns that go from the roster into what is exported
ABOUT = (*IDENTITY, "file", "commit", "committed", "until", "late", "graders", "notes")  # of grades.csv


class Trouble(Exception):
    """A learner's tree cannot be read; the message is a sentence."""


@dataclass(frozen=True)
class Row:
    """A line of the roster; of its columns only the first two have to be there."""

    learner: str = ""
    repository: str = ""
    revision: str = "HEAD"
    login: str = ""
    id: str = ""
    email: str = ""
    section: str = ""
    until: str = ""
    extra_days: str = ""

    def deadline(self, of_all: datetime | None) -> datetime | None:
        """Their own, or the one of all, and their extra days. Raises: ValueError."""
        until, more = moment(self.until) if self.until else of_all, timedelta(days=float(self.extra_days or 0))
        return until and until + more


def moment(text: str) -> datetime:
    """A point in time. Raises: ValueError where it is none, or does not say its time zone."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(text)
    return found


def roster(file: Path, of_all: datetime | None = None) -> list[Row]:
    """Raises: UsageError, also where a deadline with its extra days, perhaps the one of all, is after the year 9999."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, skipinitialspace=True, strict=True)
            head = [cell.strip().casefold().replace(" ", "_") for cell in next(reader, [])]
            lines = [(reader.line_num, cells) for cells in reader if any(map(str.strip, cells))]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{file} cannot be read ({error}); it should be a .csv in UTF-8") from None
    if not {"learner", "repository"} <= set(head):
        raise UsageError(f"{file} should begin with the line: learner,repository,revision")
    if not lines:
        raise UsageError(f"{file} has no learners: it should have a line of each")
    return [row_of(head, cells, f"line {number} of {file}", of_all) for number, cells in lines]


def row_of(head: list[str], cells: list[str], where: str, of_all: datetime | None) -> Row:
    """Raises: UsageError."""
    if len(cells) > len(head):
        raise UsageError(f"{where} has more cells than the first line; put a cell with a comma in quotation marks")
    names = [field.name for field in fields(Row)]
    row = Row(**{name: cell.strip() for name, cell in zip(head, cells, strict=False) if name in names and cell.strip()})
    if not row.learner or not row.repository:
        raise UsageError(f"{where} should name a learner and a repository")
    try:
        row.deadline(of_all)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{where}: until should be like 2026-12-15T23:59+01:00, and extra_days a number such as 2, "
            f"got {row.until!r} and {row.extra_days!r}"
        ) from None
    return row


def clone(repository: str, folder: Path) -> None:
    """Without a checkout, whole or not at all. Raises: Trouble."""
    if repository.startswith("-"):
        raise Trouble(f"{repository} is no address of a repository")
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # of a run that was killed
    git(None, "clone", "--bare", "--quiet", "--end-of-options", repository, str(part))
    part.rename(folder)


def fetch(repository: Path) -> None:
    """Makes a clone what its origin is now: branches renamed or removed, tags moved, another default branch.

    Raises: Trouble.
    """
    git(repository, "fetch", "--quiet", "--prune", "--force", "origin", *MIRRORED)
    told = git(repository, "ls-remote", "--symref", "origin", "HEAD").decode(errors="replace")
    if default := re.search(r"^ref: (refs/heads/\S+)\tHEAD$", told, re.MULTILINE):
        git(repository, "symbolic-ref", "HEAD", default[1])
    elif alone := re.search(r"^([0-9a-f]{40,64})\tHEAD$", told, re.MULTILINE):
        git(repository, "update-ref", "--no-deref", "HEAD", alone[1])


def commit_of(repository: Path, revision: str) -> str:
    """Raises: Trouble."""
    try:
        return git(repository, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    except Trouble:
        raise Trouble("it has no such commit; perhaps nothing was pushed, or `revision` should name a branch") from None


def commit_before(repository: Path, commit: str, until: datetime) -> str:
    """The last one up to then, by its committer's clock; empty where there is none. Raises: Trouble."""
    if made_at(repository, commit) <= until:
        return commit  # also where git cannot count so far: its years end with 2099
    latest = f"--before={until.isoformat()}"
    return git(repository, "rev-list", "--max-count=1", latest, "--end-of-options", commit).decode().strip()


def made_at(repository: Path, commit: str, path: str = "") -> datetime:
    """When a commit was made, or the last one before it that changed the file. Raises: Trouble.

    A clock that shows no time, such as one of the year 10000, is later than all others.
    """
    only = ["--", f":(literal){path}"] if path else []
    shown = git(repository, "log", "--max-count=1", "--format=%cI", "--end-of-options", commit, *only)
    try:
        return datetime.fromisoformat(shown.decode().strip())
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)


def git(clone: Path | None, *arguments: str) -> bytes:
    """What it prints. No hook, no prompt, and no helper that a repository could name. Raises: Trouble."""
    safe = ["-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "-c", "core.fsmonitor=false"]
    where = ["--git-dir", str(clone)] if clone else []
    environment = os.environ | {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", *safe, *where, *arguments], capture_output=True, env=environment, timeout=CLONE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise Trouble(f"git was not done after {CLONE_SECONDS} seconds") from None
    except OSError as error:
        raise Trouble(str(error)) from None
    if done.returncode:
        raise Trouble(next(iter(done.stderr.decode(errors="replace").splitlines()), "git failed"))
    return done.stdout
