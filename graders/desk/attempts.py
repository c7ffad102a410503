"""The learner's files and what was judged of them: recorded, made clean again, brought back."""

from __future__ import annotations

import sys
from pathlib import Path

from graders.catalogue.katas import Kata
from graders.catalogue.source import same_program
from graders.catalogue.stub import stub_for
from graders.desk.state import Event, State
from graders.faults import UsageError
from graders.files import replace_file
from graders.judge.results import Result

NOTEBOOK = "notebook"  # attempts in one leave the file as it is: a stub there does not begin them anew


def record_all(root: Path, results: list[Result], seed: int, via: str) -> None:
    """After a grading: what cannot be recorded is said, and spoils nothing."""
    if all(result.todo or not result.complete for result in results) and not (root / ".kata").exists():
        return  # nothing was begun
    try:
        state = State(root)
        for result in results:
            record(state, result, seed, via)
        notes = state.notes
        state.close()
    except UsageError as error:
        notes = [f"this attempt is not remembered: {error}"]
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def record(state: State, result: Result, seed: int, via: str) -> Event | None:
    """The attempt as it is remembered; None for the same file again, an untouched stub, or only some of the checks."""
    if not result.fully_asked:
        return None
    last = state.last(result.kata, "attempt", "start")
    if result.todo:
        if last and last.kind == "attempt" and (last.body["via"] == NOTEBOOK) == (via == NOTEBOOK):
            state.add("start", result.kata, {"clean": True, "via": via})
        return None
    if result.skipped == result.planned or any(one.graders_fault for one in result.outcomes):
        return None
    body = {
        "state": result.state,
        "score": result.score,
        "max_score": result.max_score,
        "seconds": round(result.seconds, 3),
        "failed": [outcome.name for outcome in result.failures],
        "skipped": [outcome.name for outcome in result.outcomes if outcome.state == "skipped"],
        "message": result.message or (result.first_failure.message if result.first_failure else None),
        "mistake": result.mistake,
        "costs": result.costs,
        "seed": seed,
        "source": result.source_text,
        "via": via,
    }
    if last and all(last.body.get(name) == body[name] for name in ("source", "state", "score")):
        return None
    return state.add("attempt", result.kata, body)


def restore_stub(state: State, kata: Kata, via: str) -> Event | None:
    """Puts the stub in the place of the learner's file; the attempt that keeps what stood there, if anything did.

    Raises: UsageError.
    """
    kept = save(state, kata)
    replace_file(kata.answer_file, stub_for(kata))
    state.add("start", kata.id, {"clean": True, "via": via})
    return kept


def restore(state: State, kata: Kata, attempt: Event) -> Event | None:
    """Puts an attempt in the place of the learner's file, which is kept like above. Raises: UsageError."""
    kept = save(state, kata)
    replace_file(kata.answer_file, attempt.body["source"])
    state.add("start", kata.id, {"clean": False, "via": "history"})
    return kept


def save(state: State, kata: Kata) -> Event | None:
    """Remembers the learner's file as it is; None for an untouched stub. Raises: UsageError."""
    try:
        source = kata.answer_file.read_text(encoding="utf-8-sig") if kata.answer_file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{shown(kata)} cannot be read ({error}): move it elsewhere, then try again") from None
    if not source or same_program(source, stub_for(kata)):
        return None
    last = state.last(kata.id, "attempt")
    if last and last.body["source"] == source:
        return last
    body = {"state": "unjudged", "score": 0, "max_score": 0, "seconds": 0.0, "failed": [], "message": None}
    return state.add(
        "attempt", kata.id, body | {"mistake": None, "costs": {}, "seed": 0, "source": source, "via": "kept"}
    )


def attempts_of(state: State, kata: Kata) -> list[Event]:
    """The oldest first; people know them by their place in this list, from 1."""
    return [event for event in state.events(kata.id) if event.kind == "attempt"]


def shown(kata: Kata) -> str:
    return str(kata.answer_file.relative_to(kata.root))
