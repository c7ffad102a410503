"""What was judged: an SQLite file takes each verdict as it comes, so that nothing is lost and nothing done twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from graders.catalogue.katas import Kata, all_katas
from graders.catalogue.source import Source
from graders.faults import ROOT, UsageError

ROOMS = ("worker", "sandbox", "kata", "catalogue", "judge")  # that a verdict comes out of
TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, kata TEXT NOT NULL, seconds REAL, document TEXT NOT NULL);
"""


class Ledger:
    """The verdicts of a folder of results. Raises, wherever it writes: UsageError."""

    def __init__(self, file: Path) -> None:
        with explained(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            self.file = file
            self.connection = sqlite3.connect(file, isolation_level=None, timeout=60)
            self.connection.execute("PRAGMA journal_mode=WAL")
            self.connection.executescript(TABLES)

    def fact(self, name: str, otherwise: str) -> str:
        """What was written under that name first."""
        with explained(self.file):
            self.connection.execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", (name, otherwise))
            (value,) = self.connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return str(value)

    def add(self, key: str, document: dict[str, Any], seconds: float) -> None:
        row = (key, document["kata"], seconds, json.dumps(document))
        with explained(self.file):
            self.connection.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)", row)

    def find(self, key: str) -> dict[str, Any] | None:
        row = self.connection.execute("SELECT document FROM verdicts WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None

    def seconds(self) -> dict[str, float]:
        """What an answer to each kata took on average."""
        return dict(self.connection.execute("SELECT kata, AVG(seconds) FROM verdicts GROUP BY kata"))

    def close(self) -> None:
        self.connection.close()


@contextlib.contextmanager
def explained(file: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise UsageError(
            f"{file} cannot be written ({error}); what was judged so far is kept: mend that, then run the same again"
        ) from None


def key_of(kata: Kata, answer: Source, engine: str, torch: str, seed: int, isolation: str) -> str:
    """Of all that a verdict follows from."""
    made = hashlib.sha256()
    for part in (kata.id, engine, grader_digest(kata), torch, str(seed), isolation, answer.unreadable, answer.text):
        made.update(part.encode() + b"\0")
    return made.hexdigest()


def engine_digest() -> str:
    """Of what judges all katas."""
    rooms = (ROOT / "graders" / room for room in ROOMS)
    return digest([*sorted(file for room in rooms for file in room.rglob("*.py")), ROOT / "graders" / "faults.py"])


def version(root: Path) -> str:
    """Of all that should be the same on every machine."""
    made = hashlib.sha256(engine_digest().encode())
    for kata in all_katas(root):
        made.update(grader_digest(kata).encode())
    made.update(metadata.version("torch").partition("+")[0].encode())  # be it for a GPU or not
    return made.hexdigest()


def grader_digest(kata: Kata) -> str:
    return digest([kata.grader_file, *sorted(kata.solutions.glob("*.py"))])


def digest(files: list[Path]) -> str:
    made = hashlib.sha256()
    for file in files:
        made.update(file.name.encode() + b"\0" + file.read_bytes())
    return made.hexdigest()
