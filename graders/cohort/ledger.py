"""What was judged: an SQLite file takes each verdict as it comes, so that nothing is lost and nothing done twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from graders.catalogue.katas import Kata, all_katas
from graders.catalogue.source import Source
from graders.cohort.similar import shape
from graders.faults import ROOT, UsageError
from graders.sandbox.cage import Isolation
from graders.sandbox.server import LEVELS

ROOMS = ("worker", "sandbox", "kata", "catalogue", "judge")  # that a verdict comes out of
TABLES = """
CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, kata TEXT NOT NULL, seconds REAL, document TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS seeds (program TEXT PRIMARY KEY, seed INTEGER NOT NULL);
"""


class Ledger:
    """The verdicts of a folder of results. Raises, wherever it reads or writes: UsageError."""

    def __init__(self, file: Path) -> None:
        with explained(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            self.file = file
            self.connection = sqlite3.connect(file, isolation_level=None, timeout=60)
            self.connection.execute("PRAGMA journal_mode=WAL")
            self.connection.executescript(TABLES)

    def add(self, key: str, program: str, document: dict[str, Any], seconds: float) -> None:
        row = (key, document["kata"], seconds, json.dumps(document))
        with explained(self.file):
            self.connection.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)", row)
            self.connection.execute("INSERT OR IGNORE INTO seeds VALUES (?, ?)", (program, document["seed"]))

    def find(self, key: str) -> dict[str, Any] | None:
        with explained(self.file):
            row = self.connection.execute("SELECT document FROM verdicts WHERE key = ?", (key,)).fetchone()
            return json.loads(row[0]) if row else None

    def seed_of(self, program: str, new: int) -> int:
        """The one that the program met first, or the new one."""
        with explained(self.file):
            row = self.connection.execute("SELECT seed FROM seeds WHERE program = ?", (program,)).fetchone()
            return int(row[0]) if row else new

    def seconds(self) -> dict[str, float]:
        """What an answer to each kata took on average."""
        with explained(self.file):
            return dict(self.connection.execute("SELECT kata, AVG(seconds) FROM verdicts GROUP BY kata"))

    def close(self) -> None:
        self.connection.close()


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keeps a second run out of the folder; the lock goes with the process. Raises: UsageError."""
    with explained(folder), contextlib.closing(sqlite3.connect(folder / ".lock", timeout=0)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            busy = f"another run writes into {folder} now: wait until it has ended, or name another folder with --out"
            raise UsageError(busy) from None
        yield


@contextlib.contextmanager
def explained(file: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError, ValueError) as error:
        if type(error) is sqlite3.DatabaseError or isinstance(error, ValueError):  # not one of its special cases
            raise UsageError(
                f"{file} is damaged ({error}): delete {file.name}, then run the same again; what it held is graded anew"
            ) from None
        raise UsageError(
            f"{file} cannot be written ({error}); what was judged so far is kept: mend that, then run the same again"
        ) from None


@dataclass(frozen=True)
class Terms:
    """What a verdict was come to on: they travel with the task, and the judge's own come back with the verdict.

    Args:
        seed: what the inputs are made from.
        isolation: of a task the least that will do; of a verdict the one that there was.
        graders: see `version`.
    """

    seed: int
    isolation: Isolation
    graders: str

    def met_by(self, other: Terms) -> bool:
        enough = LEVELS.index(other.isolation) >= LEVELS.index(self.isolation)
        return enough and other == replace(self, isolation=other.isolation)


def key_of(kata: Kata, answer: Source, engine: str, seed: int | None, isolation: str) -> str:
    """Of all that a verdict follows from. A seed that was drawn, not named, is none of it: an answer that was judged
    keeps its verdict, and a new one meets a seed that nobody has seen.
    """
    parts = (kata.id, engine, grader_digest(kata), str(seed), isolation, answer.unreadable, answer.text)
    return hashlib.sha256(b"".join(part.encode() + b"\0" for part in parts)).hexdigest()


def program_of(kata: Kata, answer: Source, engine: str, seed: int | None, isolation: str) -> str:
    """The same for programs that differ at most in comments, layout and their own names: they meet the same inputs,
    and so get the same points, whenever they are handed in.
    """
    return key_of(kata, replace(answer, text=shape(answer.text) or answer.text), engine, seed, isolation)


def engine_digest() -> str:
    """Of what judges all katas, torch with it, be that for a GPU or not."""
    rooms = (ROOT / "graders" / room for room in ROOMS)
    files = [*sorted(file for room in rooms for file in room.rglob("*.py")), ROOT / "graders" / "faults.py"]
    return digest(files) + metadata.version("torch").partition("+")[0]


def version(root: Path) -> str:
    """Of all that should be the same on every machine."""
    made = hashlib.sha256(engine_digest().encode())
    for kata in all_katas(root):
        made.update(grader_digest(kata).encode())
    return made.hexdigest()


def short_version(root: Path) -> str:
    """The version of the graders for people: the commit, where there is one, and the beginning of a digest."""
    asked = ["git", "-C", str(root), "rev-parse", "--short=10", "HEAD"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False) if (root / ".git").exists() else None
    commit = f"{done.stdout.strip()}-" if done and not done.returncode else ""
    return commit + version(root)[:8]


def grader_digest(kata: Kata) -> str:
    return digest([kata.grader_file, *sorted(kata.solutions.glob("*.py"))])


def digest(files: list[Path]) -> str:
    made = hashlib.sha256()
    for file in files:
        made.update(file.name.encode() + b"\0" + file.read_bytes())
    return made.hexdigest()
