"""What is remembered survives two processes at once, a kill, a full disk, damage, newer versions and other clocks."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graders.desk import state as states
from graders.desk.progress import due, progress_of
from graders.desk.state import MIGRATIONS, Event, State
from graders.faults import ROOT, UsageError

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """The time in it is the time it is."""
    times = [NOON]
    monkeypatch.setattr(states, "now", lambda: times[-1])
    return times


def attempt(verdict: str, score: int = 0, source: str = "", costs: object = None) -> dict[str, object]:
    body = {"state": verdict, "score": score, "max_score": 100, "failed": [], "message": None, "source": source}
    return body | {"costs": costs or {}}


def in_process(root: Path, code: str) -> subprocess.Popen[str]:
    start = f"import pathlib\nfrom graders.desk.state import *\nstate = State(pathlib.Path({str(root)!r}))\n"
    return subprocess.Popen([sys.executable, "-c", start + code], cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_events_come_back_as_they_were(tmp_path: Path) -> None:
    state = State(tmp_path)
    made = state.add("hint", "scale", {"level": 1, "words": "√ü"})
    state.close()
    assert State(tmp_path).events() == [made]
    assert State(tmp_path).events("other") == []


def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    code = "for number in range(100): state.add('hint', 'scale', {'level': number})"
    with in_process(tmp_path, code) as one, in_process(tmp_path, code) as other:
        assert (one.wait(), other.wait()) == (0, 0)
    assert len(State(tmp_path).events()) == 200


def test_kill_in_the_middle_of_a_write_loses_that_write_alone(tmp_path: Path) -> None:
    code = """
state.add("hint", "scale", {"level": 1})
state.database.execute("PRAGMA cache_size = 1")  # so that it writes to the file before the end
state.database.execute("BEGIN IMMEDIATE")
for _ in range(500): state.insert(Event("hint", "scale", {"filler": "x" * 4000}))
print(flush=True)
import time; time.sleep(60)
"""
    with in_process(tmp_path, code) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert (tmp_path / ".kata/state.db").stat().st_size > 1_000_000
        os.kill(process.pid, signal.SIGKILL)
    state = State(tmp_path)
    assert [event.body for event in state.events()] == [{"level": 1}]
    assert state.notes == []


def test_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    state = State(tmp_path)
    kept = state.add("hint", "scale", {"level": 1})
    state.database.execute("PRAGMA max_page_count = 8")  # what SQLite does on a disk that is full, without one
    with pytest.raises(UsageError, match="the disk is full: make room"):
        state.add("attempt", "scale", {"source": "x" * 100_000})
    assert state.events() == [kept]
    state.add("hint", "scale", {"level": 2})


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000], ids=str)
def test_damaged_file_is_kept_aside_and_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".kata").mkdir()
    (tmp_path / ".kata/state.db").write_bytes(content)
    state = State(tmp_path)
    assert "was damaged; it is kept as state-damaged-" in state.notes[0]
    (aside,) = (tmp_path / ".kata").glob("state-damaged-*")
    assert aside.read_bytes() == content
    state.add("hint", "scale", {"level": 1})
    assert State(tmp_path).notes == []


def test_file_that_is_damaged_or_removed_while_it_is_open_is_told_in_a_sentence(tmp_path: Path) -> None:
    state = State(tmp_path)
    state.add("hint", "scale", {"level": 1})
    state.path.write_bytes(b"no database at all" * 100)
    with pytest.raises(UsageError, match=r"it is damaged \(file is not a database\): run this again"):
        state.add("hint", "scale", {"level": 2})
    state = State(tmp_path)
    state.path.unlink()
    with pytest.raises(UsageError, match="it was removed: run this again"):
        state.add("hint", "scale", {"level": 1})


def test_damage_in_the_middle_is_noticed(tmp_path: Path) -> None:
    state = State(tmp_path)
    for _ in range(200):
        state.add("hint", "scale", {"filler": "x" * 400})
    state.close()
    with (tmp_path / ".kata/state.db").open("r+b") as stream:
        stream.seek(8192)
        stream.write(b"\xaa" * 20_000)
    assert "was damaged" in State(tmp_path).notes[0]


def test_file_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    State(tmp_path).close()
    path = tmp_path / ".kata/state.db"
    with sqlite3.connect(path) as database:
        database.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="newer version of this project: update your clone"):
        State(tmp_path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
def test_older_file_is_brought_up_to_date(tmp_path: Path, version: int) -> None:
    (tmp_path / ".kata").mkdir()
    with sqlite3.connect(tmp_path / ".kata/state.db") as database:
        for step in MIGRATIONS[:version]:
            database.execute(step)
        database.execute(f"PRAGMA user_version = {version}")
        row = ("some-id", states.stamp(NOON), "hint", "scale", '{"level": 3}')
        database.execute("INSERT INTO events (id, at, kind, kata, body) VALUES (?, ?, ?, ?, ?)", row)
    state = State(tmp_path)
    assert [event.body for event in state.events()] == [{"level": 3}]
    assert states.version_of(state.database) == len(MIGRATIONS)


def test_clock_set_back_keeps_the_order_and_is_told(tmp_path: Path, clock: list[datetime]) -> None:
    state = State(tmp_path)
    state.add("hint", "scale", {"level": 1})
    clock.append(NOON - timedelta(days=3))
    state.add("hint", "scale", {"level": 2})
    state.add("hint", "scale", {"level": 3})
    assert [event.body["level"] for event in state.events()] == [1, 2, 3]
    assert {event.at for event in state.events()} == {NOON}
    assert len(state.notes) == 1
    assert "the clock is behind the last thing you did (2026-11-21 12:00 UTC)" in state.notes[0]


def test_unwritable_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / ".kata").write_text("a file is in the way")
    with pytest.raises(UsageError, match="cannot be used: File exists; mend that, then try again"):
        State(tmp_path)


def test_histories_of_two_machines_merge_without_loss(tmp_path: Path, clock: list[datetime]) -> None:
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    one, other = (State(folder) for folder in folders)
    one.add("attempt", "scale", attempt("failing"))
    clock.append(NOON + timedelta(hours=1))
    other.add("attempt", "scale", attempt("solved", 100))
    clock.append(NOON + timedelta(hours=2))
    one.add("hint", "affine", {"level": 1})
    assert other.merge(one.export()) == 2
    assert one.merge(other.export()) == 1
    assert one.merge(other.export()) == 0
    assert one.events() == other.events()
    assert [event.kind for event in one.events()] == ["attempt", "attempt", "hint"]


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"kind": "hint"}', '{"kind": "theft", "kata": "", "body": {}, "at": "2026-01-01", "id": "1"}']
)
def test_bad_import_adds_nothing(tmp_path: Path, line: str) -> None:
    state = State(tmp_path)
    good = json.dumps(Event("hint", "scale", {"level": 1}).document())
    with pytest.raises(UsageError, match="line 2 of the import is no event: nothing was imported"):
        state.merge(f"{good}\n{line}\n")
    assert state.events() == []


def history(*happened: tuple[str, dict[str, object]]) -> list[Event]:
    return [
        Event(kind, "scale", body, NOON + timedelta(minutes=number)) for number, (kind, body) in enumerate(happened)
    ]


RIGHT, WRONG = attempt("solved", 100), attempt("failing", 40)
BEGUN = attempt("failing") | {"message": "the call: should return, got NotImplementedError (line 9: `raise …`)"}
ANEW = {"clean": True, "via": "reset"}


@pytest.mark.parametrize(
    ("happened", "rating"),
    [
        ([("attempt", RIGHT)], 4),
        ([("attempt", WRONG), ("attempt", RIGHT)], 3),
        ([("hint", {"level": 1}), ("attempt", RIGHT)], 2),
        ([("hint", {"level": 3}), ("attempt", RIGHT)], 1),
        ([("attempt", attempt("error")), ("attempt", RIGHT)], 4),
        ([("attempt", BEGUN), ("attempt", RIGHT)], 4),
    ],
    ids=["at once", "after failures", "with a hint", "with all hints", "after a slip of the pen", "in two steps"],
)
def test_how_it_went_decides_when_it_is_due(happened: list[tuple[str, dict[str, object]]], rating: int) -> None:
    found = progress_of(history(*happened), ["scale"])["scale"]
    assert [one for _, one in found.ratings] == [rating]


def test_better_goes_are_due_later() -> None:
    ways: list[list[tuple[str, dict[str, object]]]] = [
        [("hint", {"level": 3})],
        [("hint", {"level": 1})],
        [("attempt", WRONG)],
        [],
    ]
    dates = [progress_of(history(*way, ("attempt", RIGHT)), ["scale"])["scale"].due for way in ways]
    days = [round((date - NOON).total_seconds() / 86400) for date in dates if date]
    assert days == sorted(days), days
    assert days[0] >= 1
    assert len(set(days)) >= 3


def test_solving_the_same_file_again_is_no_review() -> None:
    once = progress_of(history(("attempt", RIGHT)), ["scale"])["scale"]
    again = progress_of(history(("attempt", RIGHT), ("attempt", WRONG), ("attempt", RIGHT)), ["scale"])["scale"]
    assert once.ratings == again.ratings
    assert (again.solved, again.attempts, again.best) == (1, 3, 100)


def test_solving_it_from_a_clean_stub_is_a_review() -> None:
    found = progress_of(history(("attempt", RIGHT), ("start", ANEW), ("attempt", RIGHT)), ["scale"])["scale"]
    assert (len(found.ratings), found.solved) == (2, 2)


def test_solving_what_was_brought_back_is_no_review() -> None:
    back = {"clean": False, "via": "history"}
    found = progress_of(history(("attempt", RIGHT), ("start", back), ("attempt", RIGHT)), ["scale"])["scale"]
    assert (len(found.ratings), found.solved) == (1, 1)


def test_giving_up_what_was_known_counts_as_forgotten() -> None:
    events = history(("attempt", RIGHT), ("start", ANEW), ("attempt", WRONG), ("start", ANEW))
    assert [rating for _, rating in progress_of(events, ["scale"])["scale"].ratings] == [4, 1]


def test_due_comes_and_goes() -> None:
    found = progress_of(history(("attempt", RIGHT)), ["scale", "affine"])
    when = found["scale"].due
    assert when is not None
    assert due(found, when - timedelta(minutes=1)) == []
    assert due(found, when) == [found["scale"]]


def test_cost_is_the_worst_figure_of_the_cheapest_solution() -> None:
    dear = attempt("solved", 100, costs={"big": {"operators": (40, 10), "time": (2.0, 1.0)}})
    cheap = attempt("solved", 100, costs={"big": {"operators": (10, 10), "time": (1.5, 1.0)}})  # noise
    wrong = attempt("failing", 90, costs={"big": {"operators": (1, 10)}})
    found = progress_of(history(("attempt", wrong), ("attempt", dear), ("attempt", cheap)), ["scale"])["scale"]
    assert found.cost == 1.0
