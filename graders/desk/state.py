"""What a learner did in this clone: one SQLite file, .kata/state.db, to which events are only ever added.

All else (scores, hints taken, what is due) is worked out from the events, so two machines' histories merge by union.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from graders.faults import UsageError

# Each takes the file from one version to the next; never edit one that was published.
MIGRATIONS = (
    """CREATE TABLE events (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        kata TEXT NOT NULL,
        body TEXT NOT NULL
    )""",
    "CREATE INDEX events_by_time ON events (at, number)",
)
KINDS = ("attempt", "start", "open", "hint", "interview", "debug", "goal")
NOTEBOOK = "notebook"  # attempts in one leave the file as it is: a stub there does not begin them anew
PATIENCE_SECONDS = 10.0  # for another process that writes
SLACK = timedelta(minutes=1)  # clocks are set back by seconds all the time


def now() -> datetime:
    """The clock; tests put another in its place."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Args:
        kind: one of KINDS.
        kata: a kata's id; "" where it is about several, and of interviews and debug rounds, which are no attempts.
        body: plain data.
            attempt: state, core, score, max_score, failed (names of checks, first the one that the card shows), repeats
                (those of them that fail by another's failure), skipped, mistake, costs, seed, source, via (what
                graded). Older ones lack `core`, `repeats` and `skipped`.
            start: clean (a stub, else an attempt that was brought back), via (what did it), moved (nothing else).
            both: aside (it lies under .kata, not in the learner's file).
            open: via (what did it): somebody began to work at a kata, or went on after a pause.
            hint: level, from 1.
            interview: see interview/record.py.
            debug: see debugged.py.
            goal: until (a day, as 2026-12-15; None for no goal any more), and in some a_day (how many reviews a day may
                have; None for no limit).
        at: in UTC.
        id: the same on every machine.
    """

    kind: str
    kata: str
    body: dict[str, Any]
    at: datetime = field(default_factory=now)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def place(self) -> str:
        """Of an attempt or a start: the notebook, a review or an interview; "" for the learner's own file.

        Older versions put the stub of a review or an interview into that, so theirs say nothing of being aside.
        """
        via = str(self.body.get("via", ""))
        return via if self.body.get("aside") or via == NOTEBOOK else ""

    @property
    def is_judged(self) -> bool:
        """Whether it is an attempt, and not only kept."""
        return self.kind == "attempt" and self.body["state"] != "unjudged"

    def document(self) -> dict[str, Any]:
        return {"id": self.id, "at": stamp(self.at), "kind": self.kind, "kata": self.kata, "body": self.body}


def stamp(at: datetime) -> str:
    """Sorts as text in the order of time."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def event_in(row: tuple[str, str, str, str, str]) -> Event:
    """Of the database: kind, kata, body, at, id."""
    return Event(row[0], row[1], json.loads(row[2]), datetime.fromisoformat(row[3]), row[4])


def event_of(document: Any) -> Event:
    """Raises: ValueError where that is no event."""
    try:
        at = datetime.fromisoformat(document["at"])
        event = Event(document["kind"], document["kata"], document["body"], at, document["id"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"not an event: {error}") from None
    texts = (event.kind, event.kata, event.id)
    if event.kind not in KINDS or at.tzinfo is None or not isinstance(event.body, dict):
        raise ValueError("not an event")
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("not an event")
    return event


class State:
    """The events of one clone. Several processes may have it open; each change is one transaction."""

    def __init__(self, root: Path) -> None:
        """Raises: UsageError where it can be neither read nor made."""
        self.path = root / ".kata" / "state.db"
        self.notes: list[str] = []  # what the user should be told, a sentence each
        with self.explained():
            self.path.parent.mkdir(exist_ok=True)
            found = self.path.stat().st_ino if self.path.exists() else None
            try:
                self.database = self.opened()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):  # busy, full, forbidden: the file is well
                    raise
                self.put_aside(found)
                self.database = self.opened()

    def opened(self) -> sqlite3.Connection:
        """Brought to our version. Raises: DatabaseError where it is damaged, UsageError where it is newer than this."""
        database = sqlite3.connect(self.path, timeout=PATIENCE_SECONDS, isolation_level=None)
        try:
            (verdict,) = database.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise sqlite3.DatabaseError(verdict)
            if version_of(database) < len(MIGRATIONS):
                with transaction(database):
                    for step in MIGRATIONS[version_of(database) :]:  # read again, now that nobody else writes
                        database.execute(step)
                    database.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
            if version_of(database) > len(MIGRATIONS):
                raise UsageError(
                    f"{self.path} was written by a newer version of this project: update your clone to use it"
                )
        except BaseException:
            database.close()
            raise
        return database

    def put_aside(self, found: int | None) -> None:
        """Keeps a damaged file under another name, unless another process has done so."""
        if self.path.exists() and self.path.stat().st_ino == found:
            aside = self.path.with_name(f"state-damaged-{now():%Y%m%d-%H%M%S}.db")
            self.path.rename(aside)
            self.notes.append(
                f"the history in {self.path} was damaged; it is kept as {aside.name}, and a new one begins"
            )

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Turns what the system says into a sentence. Raises: UsageError."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            why = str(error)
            damaged = f"it is damaged ({why}): run this again, which puts it aside and begins a new one"
            todo = {
                "file is not a database": damaged,
                "database disk image is malformed": damaged,
                "database or disk is full": "the disk is full: make room, then try again",
                "database is locked": "another process has locked it for long: end that process, then try again",
                "attempt to write a readonly database": "it may not be written: change its permissions"
                if self.path.exists()
                else "it was removed: run this again, which begins a new one",
                "unable to open database file": "it cannot be opened: change the permissions of its folder",
            }.get(why, f"{why}: mend that, then try again")
            raise UsageError(f"the history in {self.path} cannot be used: {todo}") from None
        except OSError as error:
            raise UsageError(
                f"the history in {self.path} cannot be used: {error.strerror}; mend that, then try again"
            ) from None

    def close(self) -> None:
        self.database.close()

    def now(self) -> datetime:
        """The clock, or the time of the last event where the clock is behind it: time never runs backwards here."""
        clock = now()
        with self.explained():
            (last,) = self.database.execute("SELECT max(at) FROM events").fetchone()
        latest = datetime.fromisoformat(last) if last else clock
        if latest - clock > SLACK:
            note = f"the clock is behind the last thing you did ({latest:%Y-%m-%d %H:%M} UTC); time goes on from there"
            self.notes += [note] if note not in self.notes else []
        return max(clock, latest)

    def add(self, kind: str, kata: str, body: dict[str, Any]) -> Event:
        """Raises: UsageError where it cannot be written; then nothing is."""
        with self.explained(), transaction(self.database):
            event = Event(kind, kata, body, self.now())
            self.insert(event)
        return event

    def insert(self, event: Event) -> bool:
        """Whether it was not there yet."""
        done = self.database.execute(
            "INSERT OR IGNORE INTO events (id, at, kind, kata, body) VALUES (?, ?, ?, ?, ?)",
            (event.id, stamp(event.at), event.kind, event.kata, json.dumps(event.body)),
        )
        return done.rowcount > 0

    def events(self, kata: str | None = None) -> list[Event]:
        """In the order of time; all of them, or those of one kata."""
        with self.explained():
            rows = self.database.execute(
                "SELECT kind, kata, body, at, id FROM events WHERE ?1 IS NULL OR kata = ?1 ORDER BY at, number", (kata,)
            ).fetchall()
        return [event_in(row) for row in rows]

    def export(self) -> str:
        """All events, a JSON document in each line."""
        return "".join(json.dumps(event.document()) + "\n" for event in self.events())

    def merge(self, text: str) -> int:
        """Adds the events of an export that are not here yet, all or none; how many. Raises: UsageError."""
        events = []
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                events.append(event_of(json.loads(line)))
            except ValueError:
                raise UsageError(
                    f"line {number} of the import is no event: nothing was imported; export it again"
                ) from None
        with self.explained(), transaction(self.database):
            return sum(self.insert(event) for event in events)


def version_of(database: sqlite3.Connection) -> int:
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    return version


@contextlib.contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; others wait."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")
