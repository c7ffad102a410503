"""The learner's files and what was judged of them: recorded, made clean again, brought back."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from graders.catalogue.katas import Kata
from graders.catalogue.source import read_source
from graders.catalogue.stub import at_hand, bare, begins_with, continued, is_untouched, stub_for
from graders.desk.progress import PAUSE, progress_of
from graders.desk.since import changes
from graders.desk.state import NOTEBOOK, Event, State
from graders.faults import UsageError
from graders.files import leads_out, make_room, replace_file
from graders.judge.left import repeats
from graders.judge.results import Result

ASIDE = ("review", "interview", "debug")  # their files lie under .kata; the learner's stays as it is


def file_for(kata: Kata, via: str) -> Path:
    """Where an answer is written: the learner's file, which git tracks, or that of a sitting or a review."""
    return kata.root / ".kata" / via / kata.file_name if via in ASIDE else kata.answer_file


def record_all(root: Path, results: list[Result], seed: int, via: str) -> list[str]:
    """After a grading: what cannot be recorded is said, and spoils nothing.

    Returns what changed since the last attempt at each kata that there is a new one of, a sentence each.
    """
    if not any(is_attempt(result) for result in results) and not (root / ".kata").exists():
        return []  # nothing was begun
    changed = []
    try:
        state = State(root)
        for result in results:
            before = last_in(state, result.kata, "")
            if record(state, result, seed, via) and before and before.is_judged:
                changed.append(f"since the last run: {changes(before, result)}")
        notes = state.notes
        state.close()
    except UsageError as error:
        notes = [f"this attempt is not remembered: {error}"]
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    return changed


def record(state: State, result: Result, seed: int, via: str) -> Event | None:
    """The attempt as it is remembered; None where it is none, or for the same file again."""
    aside = {"aside": True} if via in ASIDE else {}
    last = last_in(state, result.kata, via if via in (*ASIDE, NOTEBOOK) else "")
    if result.todo and result.fully_asked:
        if last and last.kind == "attempt":
            state.add("start", result.kata, {"clean": True, "via": via} | aside)
        return None
    if not is_attempt(result):
        return None
    first = result.first_failure
    body = {
        "state": result.state,
        "core": result.core,
        "score": result.score,
        "max_score": result.max_score,
        "seconds": round(result.seconds, 3),
        "failed": [outcome.name for outcome in sorted(result.failures, key=lambda one: one is not first)],
        "repeats": [outcome.name for outcome in repeats(result)],
        "skipped": [outcome.name for outcome in result.outcomes if outcome.state == "skipped"],
        "message": result.message or (first.message if first else None),
        "mistake": result.mistake,
        "costs": result.costs,
        "seed": seed,
        "source": result.source_text,
        "via": via,
    } | aside
    if last and all(last.body.get(name) == body[name] for name in ("source", "state", "score")):
        return None
    return state.add("attempt", result.kata, body)


def is_attempt(result: Result) -> bool:
    """Whether a file that was written and is there was judged by all checks, and no grader was at fault."""
    empty = not result.source_text.strip()  # or not read, or an editor was about to write it
    faulty = any(one.graders_fault for one in result.outcomes)
    asked = result.fully_asked and result.skipped < result.planned
    return asked and not (result.todo or empty or faulty)


def last_in(state: State, kata: str, place: str) -> Event | None:
    """The last attempt in a place, or start of one."""
    events = [event for event in state.events(kata) if event.kind in ("attempt", "start")]
    return next((event for event in reversed(events) if event.place == place), None)


def opened(state: State, kata: Kata, via: str) -> None:
    """Remembers when somebody began to work at a kata, or went on after a pause, until its core is right."""
    events = state.events(kata.id)
    pause = not events or state.now() - events[-1].at > PAUSE
    if pause and not progress_of(events, [kata.id])[kata.id].core:
        state.add("open", kata.id, {"via": via})


def begin(state: State, kata: Kata, via: str, todo: bool = True, code: str = "", answers: str = "") -> Event | None:
    """Puts the stub, or without its TODOs the bare signatures, where an answer is written.

    Above it the code, if any, which answers another kata. If this one goes on from that, the code takes its place; so
    does the learner's last right answer to that, but in a review.

    Returns the attempt that keeps what stood there, if anything did. Raises: UsageError.
    """
    file = file_for(kata, via)
    kept = save(state, kata, file)
    stub = stub_for(kata) if todo else bare(stub_for(kata))
    origin = kata.about.continues
    if origin and not code and via != "review":
        code, answers = right_answer(state, origin), origin
    if origin and code and answers == origin:
        write(file, continued(origin, code, stub))
    else:
        write(file, at_hand(code, stub) if code else stub)
    state.add("start", kata.id, {"clean": True, "via": via} | ({"aside": True} if via in ASIDE else {}))
    return kept


def right_answer(state: State, kata: str) -> str:
    """The learner's last one, or ""."""
    solved = [event for event in state.events(kata) if event.kind == "attempt" and event.body["state"] == "solved"]
    return str(solved[-1].body["source"]) if solved else ""


def go_on(state: State, kata: Kata, via: str) -> str:
    """Begins a kata that goes on from another with the learner's own answer to that, if nothing was written yet.

    Returns what its file begins with, in words; "" if something was written, and for other katas. Raises: UsageError.
    """
    origin = kata.about.continues
    if not origin or via in ASIDE:
        return ""
    text = read_source(kata.answer_file, "").text
    if not is_untouched(kata, text):
        return ""
    if not begins_with(text) and right_answer(state, origin):
        begin(state, kata, via)
        text = read_source(kata.answer_file, "").text
    return begun_with(kata, text) or f"{kata.id} goes on from {origin}: solve that first, to begin with your own answer"


def begun_with(kata: Kata, text: str) -> str:
    """In words; "" if it is the stub."""
    origin = begins_with(text)
    return f"{kata.answer_file.name} begins with your answer to {origin}: change it" if origin else ""


def restore(state: State, kata: Kata, attempt: Event) -> Event | None:
    """Puts an attempt in the place of the learner's file, which is kept like above. Raises: UsageError."""
    kept = save(state, kata, kata.answer_file)
    write(kata.answer_file, attempt.body["source"])
    state.add("start", kata.id, {"clean": False, "via": "history"})
    return kept


def bring_home(state: State, kata: Kata) -> str:
    """Puts right what an older version left: the stub of a review or an interview in the learner's file.

    What was begun there goes where such things are written now. Returns what was done, in words; "" for nothing.

    Raises: UsageError.
    """
    events = [event for event in state.events(kata.id) if event.kind in ("attempt", "start")]
    starts = [number for number, event in enumerate(events) if event.kind == "start"]
    if not starts or events[starts[-1]].body["via"] not in ASIDE or events[starts[-1]].place:
        return ""
    before = [event for event in events[: starts[-1]] if event.kind == "attempt" and not event.place]
    since = [event for event in events[starts[-1] :] if event.kind == "attempt" and not event.place]
    if not before or any(event.body["state"] == "solved" for event in since):
        return ""  # it is the learner's answer by now
    try:
        begun = kata.answer_file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):  # whatever it is, it is left alone
        return ""
    via = events[starts[-1]].body["via"]
    file = file_for(kata, via)
    save(state, kata, file)
    write(file, begun)
    write(kata.answer_file, before[-1].body["source"])
    state.add("start", kata.id, {"clean": True, "via": via, "aside": True, "moved": True})
    return f"{shown(kata)} is your answer again; what you began in the {via} is now in {shown(kata, via)}"


def bring_all_home(state: State, katas: Iterable[Kata]) -> None:
    """And notes what was done. Raises: UsageError."""
    state.notes += filter(None, (bring_home(state, kata) for kata in katas))


def write(file: Path, text: str, advice: str = "mend that, then try again") -> None:
    """Raises: UsageError, with the advice."""
    refuse_link(file, advice)
    make_room(file, advice)
    replace_file(file, text, advice)


def refuse_link(file: Path, advice: str) -> None:
    """Raises: UsageError where it leads out of its folder: nothing there is kept or written over."""
    if leads_out(file):
        raise UsageError(f"{file} is a link that leads out of its folder; {advice}")


def save(state: State, kata: Kata, file: Path) -> Event | None:
    """Remembers a file as it is; None for an untouched one. Raises: UsageError."""
    refuse_link(file, "move it elsewhere, then try again")
    try:
        source = file.read_text(encoding="utf-8-sig") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        name = file.relative_to(kata.root)
        raise UsageError(f"{name} cannot be read ({error}): move it elsewhere, then try again") from None
    return keep(state, kata, source)


def keep(state: State, kata: Kata, source: str) -> Event | None:
    """Remembers a text that is judged by nobody; None for the stub. Raises: UsageError."""
    if not source or is_untouched(kata, source):
        return None
    same = [event for event in attempts_of(state, kata) if event.body["source"] == source]
    if same:
        return same[-1]
    body = {"state": "unjudged", "score": 0, "max_score": 0, "seconds": 0.0, "failed": [], "message": None}
    return state.add(
        "attempt", kata.id, body | {"mistake": None, "costs": {}, "seed": 0, "source": source, "via": "kept"}
    )


def attempts_of(state: State, kata: Kata) -> list[Event]:
    """The oldest first; people know them by their place in this list, from 1."""
    return [event for event in state.events(kata.id) if event.kind == "attempt"]


def shown(kata: Kata, via: str = "") -> str:
    return str(file_for(kata, via).relative_to(kata.root))
