"""The learner's desk, as one sits at it: hints, the map, starting anew, attempts brought back, reviews a week later."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest

from graders import __main__ as cli
from graders.catalogue import katas
from graders.catalogue.stub import bare, stub_of
from graders.desk import state as states
from graders.desk.attempts import begin, file_for, go_on, opened, record
from graders.desk.goal import Goal, plan, recall, set_last_looks, without_last_look
from graders.desk.progress import Progress, progress_of
from graders.desk.state import Event, State
from graders.desk.status import overview
from graders.judge.results import Outcome, Result
from graders.report.habits import firsts
from tests.toys import MODULE_REFERENCE, REFERENCE, make_repository, run, run_within

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
WRONG = REFERENCE.replace("x / (1 / factor)", "x / factor")
HINTS = "# Hints\n\n## A nudge\n\nLook **there**.\n\n## The idea\n\nDivide.\n\n## Nearly the code\n\n    x / ...\n"


@pytest.fixture
def desk(toys: Path) -> Path:
    """Two toy katas, of which one has hints."""
    (toys / "solutions/toys/scale/hints.md").write_text(HINTS)
    return toys


def answer(root: Path, text: str, kata: str = "scale") -> None:
    (root / f"katas/toys/{kata}/{kata}.py").write_text(text)


def grade(root: Path, text: str, kata: str = "scale") -> str:
    """Saves and judges it, as a learner does."""
    answer(root, text, kata)
    ran = run(root, "grade", kata)
    assert ran.err == ""
    return ran.out


def say(root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints; it should end with 0."""
    assert cli.main(list(arguments), root) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def refusal(root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(list(arguments), root) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def attempts(root: Path) -> list[tuple[str, int]]:
    state = State(root)
    found = [(event.body["state"], event.body["score"]) for event in state.events() if event.kind == "attempt"]
    state.close()
    return found


def test_nothing_is_written_before_something_is_done(desk: Path) -> None:
    run(desk, "grade")
    assert not (desk / ".kata").exists()


def test_every_new_file_that_is_judged_is_an_attempt(desk: Path) -> None:
    assert "since the last run" not in grade(desk, WRONG) + grade(desk, WRONG)
    assert "since the last run: numerics, gradients, robustness now pass\n" in grade(desk, REFERENCE)
    assert [state for state, _ in attempts(desk)] == ["failing", "solved"]


@pytest.mark.parametrize(
    "options", [["--reference"], ["-k", "three"], ["-x"], ["--ci"], ["--submission", "{wrong}"]], ids=str
)
def test_what_is_no_attempt_is_not_recorded(desk: Path, options: list[str]) -> None:
    answer(desk, WRONG)
    (desk / "other.py").write_text(WRONG)
    run(desk, "grade", "scale", *(option.format(wrong=desk / "other.py") for option in options))
    assert not (desk / ".kata").exists()


def test_an_empty_file_is_no_attempt(desk: Path) -> None:
    assert "FAIL" in grade(desk, "\n")
    assert not (desk / ".kata").exists()


def test_full_disk_spoils_no_verdict(desk: Path) -> None:
    answer(desk, REFERENCE)
    full = "from graders.desk.state import State; import sqlite3\n"
    full += "def fail(*_): raise sqlite3.OperationalError('database or disk is full')\nState.insert = fail\n"
    ran = run_within((), full, desk, "grade", "scale")
    assert (ran.status, "PASS  scale" in ran.out) == (0, True)
    assert ran.err.startswith("note: this attempt is not remembered: ")
    assert ran.err.endswith("the disk is full: make room, then try again\n")


def test_hints_come_one_by_one_and_stay(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no hint was shown yet" in say(desk, capsys, "hint", "scale", "--again")
    said = [say(desk, capsys, "hint", "scale") for _ in range(3)]
    assert ["Look there." in text for text in said] == [True] * 3
    assert ["Divide." in text for text in said] == [False, True, True]
    assert ["x / ..." in text for text in said] == [False, False, True]
    assert "that was the last hint" in said[2]
    assert say(desk, capsys, "hint", "scale", "--again") == said[2]
    state = State(desk)
    assert [event.body for event in state.events()] == [{"level": 1}, {"level": 2}, {"level": 3}]
    state.close()


def test_commands_to_copy_stand_on_lines_of_their_own(
    desk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert "\n  nox -s hint -- scale\n" in say(desk, capsys, "hint", "scale")
    assert "\n  nox -s read -- scale --all\n" in say(desk, capsys, "read", "scale")
    planned = say(desk, capsys, "review", "--until", f"{datetime.now().astimezone() + timedelta(days=9):%Y-%m-%d}")
    assert "\n  nox -s review -- --a-day N\n" in planned


def test_hints_of_before_are_free_the_next_time(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    say(desk, capsys, "hint", "scale")
    grade(desk, REFERENCE)
    say(desk, capsys, "reset", "scale")
    say(desk, capsys, "hint", "scale", "--again")
    grade(desk, REFERENCE)
    state = State(desk)
    found = scale_of(state)
    assert found.ratings[-1][1] == 4
    state.close()


def scale_of(state: State) -> Progress:
    return progress_of(state.events(), ["scale"])["scale"]


def test_time_counts_from_opening(
    desk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kata = katas.find_one("scale", desk)
    state = State(desk)

    def at(minutes: int) -> None:
        later = NOON + timedelta(minutes=minutes)
        monkeypatch.setattr(states, "now", lambda: later)

    def solve() -> None:
        judged = Result("scale", "toys", "x", planned=1, source_text="x")
        judged.outcomes.append(Outcome("numerics/a", "numerics", "pass", 100, core=True))
        record(state, judged, 1, "grade")

    at(0)
    say(desk, capsys, "read", "scale")
    at(200)
    say(desk, capsys, "read", "scale")  # after a pause
    at(212)
    say(desk, capsys, "read", "scale", "--all")
    at(225)
    solve()
    say(desk, capsys, "read", "affine")
    at(300)
    opened(state, kata, "watch")  # it is known by now
    events = state.events()
    assert [event.kind for event in events if event.kata == "scale"] == ["open", "open", "attempt"]
    (first,) = firsts(events, {"scale": kata}, progress_of(events, ["scale"]))
    assert first.minutes == 25
    state.close()


def test_missing_hints_are_told(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(desk, capsys, "hint", "affine").startswith("error: solutions/toys/affine/hints.md is missing")
    assert "did you mean scale?" in refusal(desk, capsys, "hint", "scal")


def test_status_says_what_is_next_and_what_it_unlocks(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = say(desk, capsys, "status")
    assert "next: scale, which unlocks affine" in said
    assert "0 core, 0 solved of 2; best scores 0/200" in said
    grade(desk, WRONG)
    grade(desk, REFERENCE)
    shown = say(desk, capsys, "status").splitlines()
    assert next(line.split() for line in shown if "scale" in line)[:4] == ["scale", "solved", "100", "2"]
    assert "1 core, 1 solved of 2; best scores 100/200" in "\n".join(shown)
    assert max(map(len, shown)) <= 80


def test_status_of_a_path(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (desk / "katas/paths.yaml").write_text("maps:\n  title: All about maps\n  katas: [affine]\nall:\n  title: All\n")
    said = say(desk, capsys, "status", "--path", "maps")
    assert said.startswith("All about maps\n")
    assert "0 core, 0 solved of 1; best scores 0/100\nnext: affine\n  nox -s watch -- --path maps" in said
    assert "0 solved of 2" in say(desk, capsys, "status", "--path", "all")
    for command in ("status", "watch"):
        said = refusal(desk, capsys, command, "--path", "map")
        assert said == "error: there is no path 'map'; there are maps: All about maps; all: All\n"


def test_status_of_some_katas_and_those_first_that_are_asked_often(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    statement = desk / "katas/toys/affine/README.md"
    statement.write_text(statement.read_text().replace("topic:", "asked: often\naliases: [affinity]\ntopic:", 1))

    def rows(*arguments: str) -> list[str]:
        said = say(desk, capsys, "status", *arguments)
        assert "0 solved of 2" in said
        return [line.split("  todo")[0].split("  later")[0].rstrip() for line in said.split("\n\n")[0].splitlines()[1:]]

    assert rows() == ["toys", "  scale", "  affine"]
    assert rows("--asked") == ["often", "  affine", "no report known", "  scale"]
    assert cli.main(["status", "affinity"], desk) == 0
    assert capsys.readouterr().err == "affinity is affine\n"  # said once
    assert rows("affinity") == ["toys", "  affine"]
    (affine,) = json.loads(say(desk, capsys, "status", "affinity", "--json"))["katas"]
    assert (affine["kata"], affine["asked"], affine["unlocked"]) == ("affine", "often", False)
    assert "there is no kata called 'affin'" in refusal(desk, capsys, "status", "affin")


def test_status_as_json(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grade(desk, REFERENCE)
    found = json.loads(say(desk, capsys, "status", "--json"))
    assert (found["solved"], found["next"], found["due"]) == (1, "affine", [])
    scale = next(one for one in found["katas"] if one["kata"] == "scale")
    assert (scale["state"], scale["best_score"], scale["attempts"], scale["hints"]) == ("solved", 100, 1, 0)
    assert scale["due"] > states.stamp(datetime.now(UTC))
    affine = next(one for one in found["katas"] if one["kata"] == "affine")
    assert (affine["state"], affine["unlocked"], affine["due"]) == ("todo", True, None)


def test_reset_keeps_what_stood_there_and_says_where(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = desk / "katas/toys/scale/scale.py"
    stub = file.read_text()
    assert "it was untouched" in say(desk, capsys, "reset", "scale")
    answer(desk, WRONG)
    said = say(desk, capsys, "reset", "scale")
    assert "what stood there is kept:\n  nox -s history -- scale 1 --restore" in said
    assert file.read_text() == stub
    assert say(desk, capsys, "history", "scale", "1") == WRONG
    assert "attempt 1 again" in say(desk, capsys, "history", "scale", "1", "--restore")
    assert file.read_text() == WRONG


@pytest.fixture
def going_on(desk: Path) -> Path:
    """Where affine goes on from scale."""
    statement = desk / "katas/toys/affine/README.md"
    statement.write_text(statement.read_text().replace("after:", "continues: scale\nafter:"))
    return desk


def test_a_kata_that_goes_on_begins_with_the_answer_to_the_one_before(
    going_on: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = going_on / "katas/toys/affine/affine.py"
    assert "affine.py is the stub again; it was untouched" in say(going_on, capsys, "reset", "affine")
    grade(going_on, WRONG)
    assert "affine.py is the stub again" in say(going_on, capsys, "reset", "affine")
    grade(going_on, REFERENCE)
    assert "affine.py is your answer to scale again; it was untouched" in say(going_on, capsys, "reset", "affine")
    begun = file.read_text()
    assert re.fullmatch(
        r"# --- your scale \(\w{8}\): change it as the statement says\n"
        r"# TODO: the affine map, and the sum of x\.\n\n" + re.escape(REFERENCE),
        begun,
    )
    assert run(going_on, "grade", "affine").out.startswith("TODO")
    grade(going_on, WRONG)  # of no matter to what was begun
    assert run(going_on, "grade", "affine").out.startswith("TODO")
    assert "it was untouched" in say(going_on, capsys, "reset", "affine")
    answer(going_on, begun.replace("x / (1 / factor)", "x * factor"), "affine")
    assert run(going_on, "grade", "affine").out.startswith("FAIL")
    assert "is your answer to scale again; what stood there is kept:" in say(going_on, capsys, "reset", "affine")


def test_an_untouched_stub_is_filled_where_a_kata_goes_on(going_on: Path) -> None:
    kata, state = katas.find_one("affine", going_on), State(going_on)
    stub = kata.answer_file.read_text()
    assert go_on(state, kata, "watch") == "affine goes on from scale: solve that first, to begin with your own answer"
    assert go_on(state, katas.find_one("scale", going_on), "watch") == ""
    grade(going_on, REFERENCE)
    for written in (MODULE_REFERENCE, stub + "x = 1\n", "x = (\n", ""):
        kata.answer_file.write_text(written)
        assert go_on(state, kata, "watch") == ""
        assert kata.answer_file.read_text() == written
    kata.answer_file.write_text(stub)
    for _ in range(2):
        assert go_on(state, kata, "watch") == "affine.py begins with your answer to scale: change it"
        assert REFERENCE in kata.answer_file.read_text()
    begin(state, kata, "review", todo=False)
    assert file_for(kata, "review").read_text() == bare(stub)
    state.close()


def test_stub_that_was_saved_with_a_byte_order_mark_is_untouched(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = desk / "katas/toys/scale/scale.py"
    stub = file.read_text()
    file.write_text(stub, encoding="utf-8-sig")
    assert run(desk, "grade", "scale").out.startswith("TODO")
    assert "it was untouched" in say(desk, capsys, "reset", "scale")
    assert file.read_text() == stub


def test_fork_without_solutions_keeps_its_stubs(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["stub", "scale", "affine"], desk) == 0
    capsys.readouterr()
    shutil.rmtree(desk / "solutions")
    file = desk / "katas/toys/scale/scale.py"
    stub = file.read_text()
    assert run(desk, "grade").out.count("TODO ") == 2
    grade(desk, WRONG)
    assert "what stood there is kept" in say(desk, capsys, "reset", "scale")
    assert file.read_text() == stub
    answer(desk, REFERENCE)
    said = " ".join(run(desk, "grade", "scale").out.split())
    assert "PASS scale 100/100" in said
    assert "cost not measured; budgets are multiples of the reference's cost, and solutions/ is not here" in said
    said = " ".join(run(desk, "grade").out.split())
    assert "1 solved, 1 todo; score 100/200 cost: not measured; budgets" in said


def test_bringing_one_back_keeps_the_other(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grade(desk, WRONG)
    answer(desk, REFERENCE)  # never judged
    say(desk, capsys, "history", "scale", "1", "--restore")
    assert say(desk, capsys, "history", "scale", "2") == REFERENCE
    shown = say(desk, capsys, "history", "scale").splitlines()
    assert [line.split()[3] for line in shown[1:3]] == ["failing", "unjudged"]
    assert max(map(len, shown)) <= 80


def test_reset_of_a_file_that_cannot_be_read_changes_nothing(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = desk / "katas/toys/scale/scale.py"
    file.write_bytes(b"\xff\xfe")
    assert "cannot be read" in refusal(desk, capsys, "reset", "scale")
    assert file.read_bytes() == b"\xff\xfe"


@pytest.mark.parametrize("there", [True, False])
def test_reset_writes_through_no_link(desk: Path, capsys: pytest.CaptureFixture[str], there: bool) -> None:
    file, elsewhere = desk / "katas/toys/scale/scale.py", desk / "elsewhere.py"
    if there:
        elsewhere.write_text("mine = 1\n")
    file.unlink()
    file.symlink_to(elsewhere)
    assert "is a link that leads out of its folder" in refusal(desk, capsys, "reset", "scale")
    assert elsewhere.exists() == there
    assert not there or elsewhere.read_text() == "mine = 1\n"
    state = State(desk)
    assert state.events("scale") == []
    state.close()


def test_history_has_the_first_failure_of_each_card(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draft, banned = REFERENCE.replace("if factor", "return 1\n    if factor"), "return x.mul(factor)\n    return x /"
    cards = [grade(desk, text) for text in (draft, REFERENCE.replace("return x /", banned), "def scale(:\n")]
    assert [" ".join(card.splitlines()[0].split()[3:]) for card in cards] == [
        "first failure: three_by_five",
        "the rules are broken",
        "",
    ]
    shown = [" ".join(line.split()[5:]) for line in say(desk, capsys, "history", "scale").splitlines()[1:4]]
    assert shown == ["three_by_five", "the rules are broken", "could not be imported"]


def test_bad_numbers_are_told(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there are none yet" in refusal(desk, capsys, "history", "scale", "1")
    grade(desk, WRONG)
    assert "there is no attempt 2 at scale; there are 1 to 1" in refusal(desk, capsys, "history", "scale", "2")
    assert "--restore needs the attempt's number" in refusal(desk, capsys, "history", "scale", "--restore")


def test_review_after_a_week(desk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "nothing is due: solve a kata first" in say(desk, capsys, "review")
    grade(desk, WRONG)
    grade(desk, REFERENCE)
    grade(desk, MODULE_REFERENCE, "affine")
    assert "nothing is due today; next is scale, in 2 days" in say(desk, capsys, "review")
    later = datetime.now(UTC) + timedelta(days=7)
    monkeypatch.setattr(states, "now", lambda: later)
    said = say(desk, capsys, "review")
    first = "scale first: .kata/review/scale.py has the bare signatures, and your answer stays as it is"
    assert first in " ".join(said.split())
    assert "5 days late" in said
    again = desk / ".kata/review/scale.py"
    assert again.read_text() == bare(stub_of(REFERENCE))
    assert (desk / "katas/toys/scale/scale.py").read_text() == REFERENCE
    again.write_text(WRONG)
    assert "you are at scale: .kata/review/scale.py is as you left it" in say(desk, capsys, "review")
    assert again.read_text() == WRONG
    assert "due today: scale\n  nox -s review" in say(desk, capsys, "status")


def test_review_counts_what_is_written_for_it(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grade(desk, REFERENCE)
    state = State(desk)
    kata = katas.find_one("scale", desk)
    begin(state, kata, "review", todo=True)
    assert "TODO" in file_for(kata, "review").read_text()
    grade(desk, REFERENCE + "# again\n")  # the answer that was there
    assert len(progress_of(state.events(), ["scale"])["scale"].ratings) == 1
    for source in (WRONG, REFERENCE):
        judged = Result("scale", "toys", "x", planned=1, source_text=source)
        judged.outcomes.append(Outcome("contract/signature", "contract", "fail" if source == WRONG else "pass", 100))
        record(state, judged, 1, "review")
    found = progress_of(state.events(), ["scale"])["scale"]
    assert [rating for _, rating in found.ratings] == [4, 3]
    assert (found.state, found.open) == ("solved", False)
    say(desk, capsys, "history", "scale", "4", "--restore")
    assert kata.answer_file.read_text() == REFERENCE
    state.close()


@pytest.mark.parametrize("begun", [stub_of(REFERENCE), WRONG])
def test_answer_that_an_older_version_replaced_is_brought_home(
    desk: Path, capsys: pytest.CaptureFixture[str], begun: str
) -> None:
    grade(desk, REFERENCE)
    state = State(desk)
    state.add("start", "scale", {"clean": True, "via": "review"})
    (desk / "katas/toys/scale/scale.py").unlink()
    assert "note" not in say(desk, capsys, "review", "--list")  # nothing to bring home, and no traceback
    answer(desk, begun)
    said = say(desk, capsys, "review", "--list")
    assert "note: katas/toys/scale/scale.py is your answer again" in said
    assert "what you began in the review is now in .kata/review/scale.py" in " ".join(said.split())
    assert (desk / "katas/toys/scale/scale.py").read_text() == REFERENCE
    assert (desk / ".kata/review/scale.py").read_text() == begun
    assert "note" not in say(desk, capsys, "review", "--list")
    assert progress_of(state.events(), ["scale"])["scale"].place == "review"
    state.close()


def test_everything_is_seen_again_before_the_day(
    desk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    known = {name: Progress(name) for name in ("a", "b", "c")}
    for one in known.values():
        one.rate(now, 4)
    goal = Goal(now.astimezone().date(), now.astimezone().date() + timedelta(days=6))
    assert all(one.due > now + timedelta(days=7) for one in known.values() if one.due)
    for place, one in enumerate(known.values()):
        one.last_look = goal.last_look(place)
    planned = plan(goal, known, now)
    assert sorted(name for names in planned.values() for name in names) == ["a", "b", "c"]
    assert len(planned) == 3  # a part of it on each day
    assert set(planned) <= {goal.until - timedelta(days=back) for back in (1, 2, 3)}
    one = known["a"]
    assert one.last_look
    seen = datetime.combine(one.last_look, time(9)).astimezone()
    one.rate(seen, 4)
    assert one.due
    assert one.due > seen + timedelta(days=7)
    assert recall(goal, one) > recall(goal, known["b"]) > 0.5
    assert recall(goal, Progress("d")) == 0


def test_last_looks_are_spread_evenly_however_the_katas_lie_on_the_path() -> None:
    known = {name: Progress(name) for name in "abcdefghij"}
    for place, one in enumerate(known.values()):
        one.rate(NOON + timedelta(minutes=place), 4)
    goal = Goal(NOON.date(), NOON.date() + timedelta(days=10))
    set_last_looks(goal, known)
    before = {name: one.last_look for name, one in known.items()}
    assert sorted(Counter(before.values()).values()) == [2] * 5
    known["new"] = Progress("new")
    known["new"].rate(NOON + timedelta(days=1), 4)
    set_last_looks(goal, known)
    assert {name: known[name].last_look for name in before} == before


def test_plan_keeps_to_a_number_of_reviews_a_day() -> None:
    known = {name: Progress(name) for name in "abcdefg"}
    for one in known.values():
        one.rate(NOON - timedelta(days=9), 3)
    goal = Goal(NOON.date(), NOON.date() + timedelta(days=8))
    set_last_looks(goal, known)
    crowded = plan(goal, known, NOON)
    assert len(crowded[NOON.date()]) == 7
    assert without_last_look(known, crowded) == []
    even = plan(goal, known, NOON, a_day=3)
    assert max(map(len, even.values())) == 3
    assert {name for names in even.values() for name in names} == set(known)
    assert without_last_look(known, even) == []
    assert without_last_look(known, plan(goal, known, NOON, a_day=1)) != []
    known["a"].rate(NOON, 3)
    assert len(plan(goal, known, NOON, a_day=3)[NOON.date()]) == 2  # one was seen today


def test_reviews_a_day_can_be_limited(
    desk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for bad in ("0", "some", "-1"):
        assert "--a-day should be a number from 1, or none" in refusal(desk, capsys, "review", f"--a-day={bad}")
    state = State(desk)
    for name in ("scale", "affine"):
        solved = {"state": "solved", "score": 100, "failed": [], "message": None, "source": "", "costs": {}}
        state.insert(Event("attempt", name, solved, NOON))
    monkeypatch.setattr(states, "now", lambda: NOON + timedelta(days=60))
    assert "at most 1 a day" in say(desk, capsys, "review", "--a-day", "1")
    assert say(desk, capsys, "review", "--list").count("days late") == 1
    judged = Result("affine", "toys", "x", planned=1, source_text="x")
    judged.outcomes.append(Outcome("numerics/a", "numerics", "pass", 100, core=True))
    begin(state, katas.find_one("affine", desk), "review")
    record(state, judged, 1, "review")
    assert "1 reviewed today, as many as you set; 1 more is due" in say(desk, capsys, "review", "--list")
    assert "due today" not in say(desk, capsys, "status")
    ahead = f"{NOON + timedelta(days=70):%Y-%m-%d}"
    assert "at most 1 a day (in this plan at most 1);" in say(desk, capsys, "review", "--until", ahead)
    assert "as many a day as are due" in say(desk, capsys, "review", "--a-day", "none")
    assert overview(state, katas.all_katas(desk)).goal  # it stays
    state.close()


def test_plan_for_a_day(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grade(desk, REFERENCE)
    for day in ("", "tomorrow", "2020-01-01", f"{datetime.now().astimezone():%Y-%m-%d}", "9999-12-31"):
        said = refusal(desk, capsys, "review", "--until", day)
        assert "--until should be a day after today, in less than ten years, such as 2" in said
    ahead = datetime.now().astimezone() + timedelta(days=6)
    said = say(desk, capsys, "review", "--until", f"{ahead:%Y-%m-%d}")
    assert "scale" in said
    assert "days with reviews, if each goes well: 1;" in said
    assert "katas that you have not solved: 1, so 0.2 a day; next is affine" in said
    assert re.search(r"scale +solved +100 +1 +- +\S+ +in [345] days", say(desk, capsys, "status"))
    say(desk, capsys, "report")
    assert "Ready on" in (desk / ".kata/report.html").read_text()
    assert "there is no day to practise for" in say(desk, capsys, "review", "--until", "none")
    assert re.search(r"scale +solved +100 +1 +- +\S+ +in 8 days", say(desk, capsys, "status"))


def test_clock_that_is_behind_explains_a_day_that_is_refused(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    now = datetime.now(UTC)
    state = State(desk)
    state.insert(Event("goal", "", {"until": None}, now + timedelta(days=700)))
    state.close()
    assert cli.main(["review", "--until", f"{now + timedelta(days=20):%Y-%m-%d}"], desk) == 2
    said = capsys.readouterr()
    assert "note: the clock is behind the last thing you did" in said.out
    assert "--until should be a day after today" in said.err


def test_kata_that_fails_now_is_not_due_some_day(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grade(desk, REFERENCE)
    assert "in 8 days" in say(desk, capsys, "status")
    grade(desk, WRONG)
    shown = say(desk, capsys, "status")
    assert next(line for line in shown.splitlines() if "scale" in line).split()[-2:] == ["fails", "now"]
    assert (
        say(desk, capsys, "review")
        == "nothing is due today; scale was right before, and fails now\n  nox -s watch -- scale\n"
    )
    say(desk, capsys, "report")
    page = (desk / ".kata/report.html").read_text()
    assert "<span>fails now</span>" in page
    assert "After today" not in page


def test_narrow_terminals_cut_off_nothing(
    desk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    grade(desk, WRONG)
    grade(desk, REFERENCE)
    monkeypatch.setenv("COLUMNS", "40")
    history = say(desk, capsys, "history", "scale")
    assert "first failure three_by_five/float64" in " ".join(history.split())
    later = datetime.now(UTC) + timedelta(days=700)
    monkeypatch.setattr(states, "now", lambda: later)
    monkeypatch.setenv("COLUMNS", "30")
    review = say(desk, capsys, "review", "--list")
    assert "scale due 698 days late, last time after failures" in " ".join(review.split())
    status = say(desk, capsys, "status")
    assert "scale state solved, score 100, due 698 days late" in " ".join(status.split())
    assert "…" not in history + review + status
    assert max(map(len, history.splitlines())) <= 40
    assert max(map(len, (review + status).splitlines())) <= 30


def test_history_moves_to_another_computer(
    desk: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    grade(desk, REFERENCE)
    exported = tmp_path_factory.mktemp("stick") / "history.jsonl"
    assert "wrote 1 events" in say(desk, capsys, "review", "--export", str(exported))
    other = make_repository(tmp_path_factory.mktemp("other"))
    assert "1 of 1 events" in say(other, capsys, "review", "--import", str(exported))
    assert "0 of 1 events" in say(other, capsys, "review", "--import", str(exported))
    assert json.loads(say(other, capsys, "status", "--json"))["solved"] == 1
    assert "cannot be read" in refusal(other, capsys, "review", "--import", str(desk / "no.jsonl"))


def test_stub_that_git_brought_back_starts_anew(desk: Path) -> None:
    stub = (desk / "katas/toys/scale/scale.py").read_text()
    grade(desk, REFERENCE)
    grade(desk, stub)
    grade(desk, REFERENCE)
    state = State(desk)
    assert [event.kind for event in state.events()] == ["attempt", "start", "attempt"]
    assert scale_of(state).solved == 2
    state.close()
