"""Debug rounds as a learner plays them: in a real terminal, piped, cut off and gone on with, with bad input."""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from datetime import datetime, time, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from graders import __main__ as cli
from graders.catalogue import katas
from graders.catalogue.bugs import Bug, Change, changes, planted, right_file, size, stood_for
from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.debugging.card import rows_of
from graders.debugging.commands import show_hint
from graders.debugging.debugging import Debugging, lines_before
from graders.debugging.draw import around, described, draw, suiting
from graders.debugging.session import DebugSession, eligible
from graders.debugging.words import matcher_of
from graders.desk import state as states
from graders.desk.debugged import DebugRound, PlantedBug, debug_rounds, practices
from graders.desk.progress import Progress
from graders.desk.state import Event, State, stamp
from graders.faults import ROOT, UsageError
from graders.judge.planting import Planting
from graders.judge.screen import two_columns
from graders.judge.warm import WarmJudge
from graders.sandbox.launcher import new_launcher
from tests.sittings import Tty, flat
from tests.test_report import solved
from tests.toys import REFERENCE, end, run

RIGHT = '''"""Scale."""


def scale(x, factor=2.0):
    """x times factor."""
    if factor == 0:
        raise ValueError(f"factor should not be 0, got {factor}")
    return x / (1 / factor)
'''
FEWER = "ask for fewer: --bugs"
BOTH = RIGHT.replace(RIGHT[RIGHT.index("    if") : RIGHT.index("    return")], "").replace("(1 / factor)", "factor")
INVERSE = RIGHT.replace("(1 / factor)", "factor")


def scale(root: Path) -> Kata:
    return Kata(root, "toys", "scale")


def file_of(root: Path) -> Path:
    return root / ".kata/debug/scale.py"


def events(root: Path) -> list[Event]:
    state = State(root)
    found = state.events()
    state.close()
    return found


def the_round(root: Path) -> DebugRound:
    return debug_rounds(events(root))[-1]


@pytest.fixture
def terminal(toys: Path) -> Iterator[Callable[..., Tty]]:
    made: list[Tty] = []

    def make(*arguments: str, **more: str) -> Tty:
        made.append(Tty(toys, "debug", *arguments, **more))
        return made[-1]

    yield make
    for one in made:
        end(one.child)


def test_learner_finds_explains_and_mends_two_bugs(toys: Path, terminal: Callable[..., Tty]) -> None:
    scale(toys).answer_file.write_text("# mine\n" + REFERENCE)
    one = terminal("scale", "--bugs", "2", "--minutes", "15")
    shown = one.shows("[debug  ", " left] > ")
    assert "scale (toys, level 1)" in shown
    assert ".kata/debug/scale.py is a right answer with 2 bugs planted in it." in flat(shown)
    assert file_of(toys).read_text() == BOTH
    one.says("bug", "say where and why: `bug LINE WHY`")
    one.says("bug 99 it is wrong", ".kata/debug/scale.py has 6 lines")
    one.says("bug 0", ".kata/debug/scale.py has 6 lines")
    one.says("bug line 1: the docstring is wrong", "noted: line 1")
    one.says("bug 6 the factor divides", "noted: line 6")
    shown = one.says("submit", "0 of 2 planted bugs are gone", "[debug  ")
    assert re.search(r"FAIL  scale +\d+/100\n", shown)
    assert "first failure" not in shown
    assert "factors" not in shown
    file_of(toys).write_text(BOTH.replace("x / factor", "x.div(1 / factor)"))  # another right repair
    one.says("hint", "has changed since it was judged", "show the hint?")
    assert "Hint 1" not in one.says("no", "[debug  ")
    one.says("submit", "1 of 2 planted bugs is gone", "[debug  ")
    one.says(
        "hint", "Hint 1 of 3 at bug 1 (-3 points)", "the bug makes this check fail: contract/no_factor:", "factor=0.0)"
    )
    one.says("hint", "Hint 2 of 3 at bug 1 (-5 points)", '5      """x times factor."""')
    one.says("diff", "-    return x / factor", "+    return x.div(1 / factor)")
    file_of(toys).write_text(RIGHT)
    one.says("submit", "PASS", "all planted bugs are gone")
    shown, status = one.ends()
    assert status == 0
    check_the_end(toys, shown)


def check_the_end(root: Path, shown: str) -> None:
    said = flat(shown)
    made = the_round(root)
    assert "Report of debug round 1: scale" in said
    assert "was nothing right if factor == 0: raise ValueError" in said
    assert "it is a factor of 0 is accepted; refuse it not found, not explained, mended after " in said
    assert "was return x / factor right return x / (1 / factor) it is the factor divides; multiply by it you" in said
    assert "found 1, explained 1, mended 2 of 2" in said
    assert "1 claimed line has no bug: -2" in said
    assert "3 lines changed, 3 needed" in said
    assert "nox -s debug -- scale --bugs 2 --seed" in said
    assert max(map(len, shown.splitlines())) <= 80
    assert (made.measured, made.max_score) == (2 + 30 - 2, 60)
    assert (made.ended, made.rating) == ("finished", 2)
    assert {event.kind for event in events(root)} == {"debug"}  # no attempt of the kata
    assert scale(root).answer_file.read_text() == "# mine\n" + REFERENCE


def test_kill_loses_nothing_and_the_clock_runs_on(toys: Path, terminal: Callable[..., Tty]) -> None:
    one = terminal("scale", "--bugs", "1", "--seed", "1")
    one.shows("[debug  10:00 left] > ")
    one.says("bug 1 something", "noted: line 1")
    file_of(toys).write_text("# begun\n" + file_of(toys).read_text())
    one.child.send("half a li")
    one.child.kill(signal.SIGKILL)
    one.child.wait()
    again = terminal("--resume")
    again.shows("goes on: ", "[debug  ", " left] > ")
    assert file_of(toys).read_text().startswith("# begun\n")
    again.says("diff", "+# begun", "[debug  ", " left] > ")
    shown, status = again.ends(signal.SIGINT)
    assert status == 130
    assert flat(shown).endswith("Go on with nox -s debug -- --resume")
    assert the_round(toys).wrong == [1]


def test_interrupt_ends_a_submission_and_not_the_round(toys: Path, terminal: Callable[..., Tty]) -> None:
    one = terminal("scale", "--bugs", "2")
    one.shows("[debug  ")
    file_of(toys).write_text(BOTH.replace("return", "import time; time.sleep(0.5)\n    return"))
    one.says("submit", "/19")  # a check was asked
    one.child.sendintr()
    one.shows("stopped: nothing of it counts", "[debug  ", " > ")
    assert not the_round(toys).verdict
    file_of(toys).write_text(INVERSE)
    one.says("submit", "1 of 2 planted bugs is gone", "[debug  ")
    assert one.ends(signal.SIGINT)[1] == 130


def test_bad_input_gets_sentences(toys: Path, terminal: Callable[..., Tty]) -> None:
    one = terminal("scale", "--bugs", "2")
    one.shows("[debug  ")
    file_of(toys).write_text("  \n")
    one.says("submit", "is empty; `restore` brings the", "[debug  ")
    one.says("bug 3 x", "is empty; `restore`", "[debug  ")
    file_of(toys).unlink()
    one.says("submit", "does not exist;", "`restore`", "[debug  ")
    one.says("restore", "yes/no > ")
    one.says("yes", "is as it was written", "[debug  ")
    assert file_of(toys).read_text() == BOTH
    file_of(toys).write_text(BOTH.replace("return", "return ("))
    one.says("submit", "ERROR", "'(' was", "this does not count", "[debug  ")
    file_of(toys).write_bytes(b"\xff\xfe\x00")
    one.says("submit", "is not UTF-8 text", "[debug  ")
    file_of(toys).write_text(REFERENCE)
    one.says("submit", "scale.py is the reference from solutions/: pasting it finds no bug", "[debug  ")
    assert the_round(toys).mended == 0
    file_of(toys).write_text(RIGHT.replace("return", "if x.element_size() == 4:\n        x = x + 1\n    return"))
    one.says("submit", "The planted bugs are gone, but something else fails", "call", "scale(x[", "[debug  ")
    file_of(toys).write_text(INVERSE.replace("x / factor", "x / factor + 0.25"))
    one.says("submit", "1 of 2 planted bugs is gone", "Something else fails, which no planted bug breaks", "[debug  ")
    one.says("5", "there is no question open", "[debug  ")
    one.says("sumbit", "did you mean submit?", "[debug  ")
    one.says("end", "yes/no > ")
    one.says("yes", "the right file was pasted over the file", "this report again:")
    one.ends()
    assert not [path for path in toys.rglob("*.py") if path.parent.name == "toys"]


def test_what_is_asked_back_explains_a_bug(toys: Path) -> None:
    done = run(toys, "debug", "scale", "--bugs", "2", said="bug 6 it divides by what is accepted\n7\n1\nend\nyes\n")
    assert done.status == 0, done.err
    said = flat(done.out)
    assert "I am not sure what you mean. Do you mean one of these? Type its number, or put it another way." in said
    assert "1 a factor of 0 is accepted 2 the factor divides" in said  # always several, and not what to do about it
    assert "] 1 to 2, or no > 7" in said
    assert "Which of them? Type a number from 1 to 2" in said
    made = the_round(toys)
    assert (made.found, made.explained, made.mended, made.rating, made.measured) == (1, 1, 0, 1, 20)


def a_round(*names: str) -> DebugRound:
    """With a bug of each name, all in line 6."""
    bugs = [PlantedBug(name, f"{name} is wrong", 6, [6], [], [], "", "") for name in names]
    return DebugRound("id", states.now(), 20, 1, "scale", "toys", 1, bugs, False, "", "", 1)


def say(made: DebugRound, seconds: float, what: str, **body: Any) -> None:
    made.add(Event("debug", "", {"what": what, "elapsed": seconds} | body, states.now(), "1"))


def test_of_all_that_is_said_of_a_bug_the_last_counts() -> None:
    made = a_round("inverse")
    say(made, 1, "claim", line=6, text="it divides", bug="inverse", meant="inverse")
    assert (made.found, made.explained) == (1, 1)
    say(made, 2, "claim", line=6, text="it adds", bug="inverse", meant="sum")
    assert (made.found, made.explained, made.bugs[0].words) == (1, 0, ["it divides", "it adds"])


def test_where_a_line_has_two_bugs_a_claim_counts_for_the_one_that_is_meant() -> None:
    made = a_round("inverse", "no_refusal")
    inverse, no_refusal = made.bugs
    say(made, 1, "claim", line=6, text="0 is taken", bug="inverse", meant=None)
    assert inverse.found == 1
    say(made, 2, "meant", bug="no_refusal", meant="no_refusal")
    assert (inverse.found is None, inverse.words) == (True, [])
    assert (no_refusal.found, no_refusal.explained, no_refusal.words) == (2, 2, ["0 is taken"])
    assert [(one.line, one.bug, one.meant) for one in made.claims] == [(6, "no_refusal", "no_refusal")]


def test_claim_for_what_is_left_out_elsewhere_counts_while_its_words_are_so_understood() -> None:
    made = a_round("inverse", "no_refusal")
    _, left_out = made.bugs
    say(made, 1, "claim", line=2, text="0 is taken", bug=None, meant=None)
    say(made, 2, "meant", bug="no_refusal", meant="no_refusal")
    assert (left_out.found, left_out.explained, left_out.words) == (2, 2, ["0 is taken"])
    assert [one.bug for one in made.claims] == ["no_refusal"]
    say(made, 3, "meant", bug=None, meant="")
    assert (left_out.found, left_out.explained, left_out.words, made.claims[0].bug) == (None, None, [], None)


def test_words_decide_which_bug_of_a_line_is_claimed(toys: Path) -> None:
    by_code = "the wrong factor 0"  # alone, the words are nearer to inverse; 0 is in the other's edit
    said = f"bug 6 a factor of 0 is accepted\nbug 6 the factor divides\nbug 6 {by_code}\nend\nyes\n"
    done = run(toys, "debug", "scale", "--bugs", "2", said=said)
    assert done.status == 0, done.err
    made = the_round(toys)
    assert [one.bug for one in made.claims] == ["no_refusal", "inverse", "no_refusal"]
    assert (made.found, made.explained) == (2, 2)


def test_what_is_left_out_may_be_missed_at_any_line_of_its_function() -> None:
    planted = "def f():\n    a()\n    b()\n    c()\n    d()\n\n\ndef g():\n    e()\n"
    bugs = [
        PlantedBug("left out", "", 2, [1, 2, 3], [], ["    x()"], "", ""),
        PlantedBug("written", "", 4, [4], ["    c()"], ["    y()"], "", ""),
    ]
    stub: Any = SimpleNamespace(report=SimpleNamespace(planted=planted, bugs=bugs), source=lambda: planted)
    found = {line: [bug.name for bug in Debugging.left_out_of(stub, line)] for line in (1, 5, 9)}
    assert found == {1: ["left out"], 5: ["left out"], 9: []}


def test_question_stays_open_until_it_is_answered_and_claims_are_listed_after_a_resume(toys: Path) -> None:
    words = "it divides by what is accepted"
    said = f"bug 6 {words}\ntime\nnonsense\n1\nbug 1\nbug 6 {words}\nno\nclaims\nquit\n"
    done = run(toys, "debug", "scale", "--bugs", "2", said=said)
    assert done.status == 0, done.err
    shown = flat(done.out)
    assert shown.count("1 to 2, or no >") == 4
    assert "there is no command 'nonsense' here" in shown
    assert "noted; your last claim about a bug counts" in shown
    assert "Then put it another way, or go on." in shown
    listed = f"line 6 {words} taken as: a factor of 0 is accepted line 1 no reason line 6"
    assert listed in shown
    again = flat(run(toys, "debug", "--resume", said="quit\n").out)
    assert f"Claimed so far: {listed}" in again


def test_what_words_are_taken_for_counts_until_somebody_says_no(toys: Path) -> None:
    said = "bug 6 x is multiplied\nbug 6 x is multiplied\nno\nclaims\nquit\n"
    shown = flat(run(toys, "debug", "scale", "--bugs", "2", said=said).out)
    assert "I take that as: the factor divides `no` takes that back, and so does the number of what you meant:" in shown
    assert "line 6 x is multiplied taken as: the factor divides line 6 x is multiplied why is not understood" in shown
    assert the_round(toys).explained == 0


def test_report_says_what_words_were_taken_for_that_do_not_explain_a_bug(toys: Path) -> None:
    said = "task\nbug 6 x is multiplied\nend\nhint\nyes\n"
    shown = flat(run(toys, "debug", "scale", "--bugs", "1", "--seed", "2", said=said).out)
    assert shown.count("is a right answer with 1 bug") == 2
    assert "type yes or no; all else comes after that" in shown
    assert "you x is multiplied taken as the factor divides found" in shown
    assert the_round(toys).hints == 0


def test_words_that_say_nothing_are_asked_back(toys: Path) -> None:
    said = "bug 6 the factor is wrong\nclaims\nquit\n"
    shown = flat(run(toys, "debug", "scale", "--bugs", "2", said=said).out)
    assert "I am not sure what you mean. Do you mean one of these?" in shown
    assert "the factor is wrong why is not understood" in shown


def test_second_terminal_cannot_drive_an_open_round(toys: Path, terminal: Callable[..., Tty]) -> None:
    one = terminal("scale", "--bugs", "2")
    one.shows("[debug  ")
    refused = run(toys, "debug", "--resume")
    sentence = "a debug round is open in another terminal or page: go on there, or type `quit` there first"
    assert (refused.status, refused.err) == (2, f"error: {sentence}\n")
    one.says("quit", "Go on with")
    assert one.ends()[1] == 0
    assert run(toys, "debug", "--resume", said="quit\n").status == 0


def test_right_text_is_not_kept_in_plain_and_who_mends_without_a_claim_has_mended(toys: Path) -> None:
    assert run(toys, "debug", "scale", "--bugs", "2", said="quit\n").status == 0
    kept = b"".join(file.read_bytes() for file in (toys / ".kata").rglob("*") if file.is_file())
    assert b"(1 / factor)" not in kept
    assert b"multiply by it" not in kept
    file_of(toys).write_text(RIGHT)
    run(toys, "debug", "--resume", said="submit\nend\nyes\n")
    assert the_round(toys).mended == 2


def another(root: Path, name: str = "twin") -> None:
    """A second kata with bugs, called `name`, which is scale under another name."""
    for folder in ("katas", "solutions"):
        for file in [*(root / folder / "toys/scale").rglob("*.*")]:
            copy = root / folder / "toys" / name / file.relative_to(root / folder / "toys/scale")
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text().replace("scale(", f"{name}(").replace('"scale"', f'"{name}"')
            copy.with_name(copy.name.replace("scale", name)).write_text(text)


def test_round_of_two_files_has_one_clock_and_one_end(toys: Path, terminal: Callable[..., Tty]) -> None:
    another(toys)
    one = terminal("scale", "twin", "--bugs", "4", "--minutes", "45", "--seed", "3")
    shown = flat(one.shows("[debug  45:00 left] > "))
    assert ".kata/debug/scale.py and .kata/debug/twin.py are right answers with 4 bugs planted in them" in shown
    assert "2 in scale and 2 in twin" in shown
    one.says("help", "bug FILE LINE WHY", "hint, hints, diff, restore and run also take a")
    one.says("bug 6 the factor divides", "say in which file: `bug scale LINE WHY` or `bug twin LINE WHY`")
    one.says("bug twin 6 the factor divides", "noted: line 6")
    one.says("bug twin.py:5 a factor of 0 is accepted", "noted: line 5")
    one.says("bug scale 6 the factor divides", "noted: line 6")
    file_of(toys).write_text(RIGHT)
    one.says("submit", "PASS", "all planted bugs are gone", "FAIL", "0 of 2 planted bugs are gone", "[debug  ")
    one.says("hint", ".kata/debug/twin.py", "Hint 1 of 3 at bug 1", "[debug  ")
    one.says("diff other", "there is no file 'other' in this round; name scale or twin")
    one.child.kill(signal.SIGKILL)
    one.child.wait()
    again = terminal("--resume")
    again.shows("goes on: ", "[debug  ", " left] > ")
    (toys / ".kata/debug/twin.py").write_text(RIGHT.replace("scale(", "twin("))
    again.says("submit", "scale: all of its planted bugs are gone", "PASS", "all planted bugs are gone")
    shown, status = again.ends()
    assert status == 0
    said = flat(shown)
    assert "Report of debug round 1: scale" in said
    assert "Report of debug round 2: twin" in said
    assert "All 2 files: scale and twin" in said
    assert "found 3, explained 3, mended 4 of 4" in said
    assert "nox -s debug -- scale twin --bugs 4 --seed 3" in said
    first, second = debug_rounds(events(toys))
    assert first.joint == second.joint != ""
    assert (first.found, second.found, first.ended, second.ended) == (1, 2, "finished", "finished")
    assert run(toys, "debug", "--report", "1").out.count("Report of debug round") == 2


def test_more_katas_than_bugs_are_refused(toys: Path) -> None:
    names = ("twin", "triplet", "quadruplet", "quintuplet")
    for name in names:
        another(toys, name)
    refused = run(toys, "debug", "scale", *names)
    assert (refused.status, refused.err.count("a round has at most 4 bugs: name at most as many katas")) == (2, 1)


def test_known_round_plants_in_two_files_and_a_name_in_one(toys: Path) -> None:
    another(toys)
    (toys / "katas/sets.yaml").write_text("both:\n  - scale\n  - twin\n")
    assert run(toys, "debug", "--set", "both", said="quit\n").status == 0
    assert run(toys, "debug", "twin", "--new", said="quit\n").status == 0
    assert run(toys, "debug", "scale", "twin", "--bugs", "1", "--new", said="quit\n").status == 0
    made = debug_rounds(events(toys))
    assert [(one.kata, len(one.bugs), one.ended) for one in made[:3]] == [
        ("scale", 1, "abandoned"),
        ("twin", 1, "abandoned"),
        ("twin", 2, "abandoned"),
    ]
    assert len(made) == 4


def test_report_and_history_and_status_know_rounds_of_their_own(toys: Path) -> None:
    done = run(toys, "debug", "scale", "--bugs", "2", "--seed", "2", said="end\nyes\n")
    assert done.status == 0, done.err
    again = run(toys, "debug", "--report")
    assert again.out in done.out
    known = practices(debug_rounds(events(toys)))["scale"]
    assert known.due is not None
    listed = flat(run(toys, "history", "scale").out)
    assert re.search(r"# debug round bugs found explained mended points 1 [-\d]+ [:\d]+ 2 0 0 0 0/60 look at", listed)
    status = flat(run(toys, "status").out)
    assert "debug rounds: 1; of 2 bugs 0 found, 0 explained, 0 mended" in status
    assert "scale todo - - -" in status  # it is no attempt
    told = json.loads(run(toys, "status", "--json").out)
    counts = {"rounds": 1, "bugs": 2, "found": 0, "explained": 0, "mended": 0}
    assert told["katas"][0]["debug"] == counts | {"due": stamp(known.due)}
    assert (told["katas"][1]["debug"], told["due_to_debug"]) == (None, [])
    assert run(toys, "report").status == 0
    page = (toys / ".kata/report.html").read_text()
    assert "Debug round 1: <code>scale</code>" in page
    assert "a factor of 0 is accepted; refuse it" in page


def test_due_round_is_told_by_review_and_drawn_first(
    toys: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(toys, "debug", "scale", "--bugs", "1", said="end\nyes\n").status == 0
    later = states.now() + timedelta(days=9)
    monkeypatch.setattr(states, "now", lambda: later)
    assert cli.main(["review"], toys) == 0
    assert "due for a debug round: scale\n  nox -s debug -- scale" in capsys.readouterr().out
    found = practices(debug_rounds(events(toys)))
    chosen = katas.all_katas(toys)
    fresh = {kata.id: Progress(kata.id) for kata in chosen}
    assert [kata.id for kata in suiting(chosen, fresh, found, later)] == ["scale"]
    assert [kata.id for kata in suiting(chosen, fresh | {"affine": Progress("affine", attempts=1)}, {}, later)] == [
        "affine"
    ]
    assert [kata.id for kata in suiting(chosen, fresh, {}, later)] == ["scale"]  # of level 1
    due = found["scale"].due
    assert due
    monkeypatch.setattr(states, "now", lambda: datetime.combine(due.astimezone(), time()).astimezone())
    state = State(toys)
    state.insert(solved(state.now() - timedelta(hours=1), "affine", 1.0))
    anything = argparse.Namespace(katas=[], topic=None, level=None, set=None)
    assert [kata.id for kata in eligible(anything, toys, state)] == ["scale"]  # due later that day, as review says
    state.close()


def test_older_database_takes_debug_rounds_and_an_export_brings_them(toys: Path, tmp_path: Path) -> None:
    assert run(toys, "debug", "scale", "--bugs", "1", said="bug 1 x\nend\nyes\n").status == 0
    state = State(toys)
    (tmp_path / "other").mkdir()
    other = State(tmp_path / "other")
    assert other.merge(state.export()) == len(state.events())
    assert debug_rounds(other.events()) == debug_rounds(state.events())
    state.close()
    other.close()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["affine"], "affine has no mistakes that can be planted, and 2 are needed; name another kata"),
        (
            ["scale", "--bugs", "3"],
            "scale has 2 mistakes that can be planted, and 3 are needed; ask for fewer: --bugs 2",
        ),
        (["scale", "--slow"], "scale has no mistakes of cost that can be planted, and 1 is needed; name another kata"),
        (["scale", "--level", "2"], "no kata fits scale and --level 2: leave one of them out"),
        (["--minutes", "0"], "--minutes should be from 1 to 1440, got 0"),
        (["--resume"], "there is no debug round to resume; begin one: nox -s debug"),
        (["--report"], "there was no debug round yet; begin one: nox -s debug"),
        (["sale"], "there is no kata called 'sale'; did you mean scale?"),
    ],
)
def test_bad_usage_gets_one_sentence(
    toys: Path, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["debug", *arguments], toys) == 2
    assert capsys.readouterr().err == f"error: {sentence}\n"
    assert not events(toys)


def test_open_round_is_not_given_up_unasked(toys: Path) -> None:
    assert run(toys, "debug", "scale", "--bugs", "1", said="quit\n").status == 0
    refused = run(toys, "debug", "scale")
    assert refused.status == 2
    assert "is still open: go on with nox -s debug -- --resume, or add --new to give it up" in refused.err
    nothing = dict.fromkeys(("katas", "topic", "level", "set", "seed"))
    with pytest.raises(UsageError, match="--resume goes on with what was drawn; drop --symptom"):
        DebugSession.check(argparse.Namespace(resume=True, symptom="gpt", **nothing), State(toys))
    told = run(toys, "debug", "--report")
    assert "the bugs are shown once the round is over" in told.out
    assert run(toys, "debug", "scale", "--bugs", "2", "--new", said="quit\n").status == 0
    first, second = debug_rounds(events(toys))
    assert (first.ended, second.ended) == ("abandoned", "")
    reference = scale(toys).reference_file
    reference.write_text(reference.read_text().replace("should not", "may not"))
    changed = run(toys, "debug", "--resume")
    assert changed.status == 2
    assert "scale has changed since that round began: begin another, nox -s debug -- --new" in changed.err


def test_round_that_cannot_be_written_begins_in_no_file_and_ends_no_other(toys: Path) -> None:
    another(toys)
    assert run(toys, "debug", "scale", "--bugs", "1", said="quit\n").status == 0
    mine = file_of(toys).read_text() + "# my words\n"
    file_of(toys).write_text(mine)
    (toys / ".kata/debug/twin.py").mkdir()
    refused = run(toys, "debug", "scale", "twin", "--new")
    assert refused.status == 2
    assert "twin.py cannot be written: Is a directory; mend that, then try again" in refused.err
    (one,) = debug_rounds(events(toys))
    assert (one.ended, file_of(toys).read_text()) == ("", mine)


def test_lines_with_bugs_stand_for_those_of_the_right_file() -> None:
    bugs = [Bug("one", "", (Change(2, 4, ("a",)),)), Bug("other", "", (Change(5, 7, ()),))]
    assert [stood_for(line, bugs) for line in (1, 2, 3, 4, 5, 6)] == [{1}, {2}, {3, 4}, {5, 6, 7}, {6, 7, 8}, {9}]


def test_lines_of_an_edited_file_are_those_that_were_written() -> None:
    now = "# new\n" + INVERSE.replace("    return x / factor\n", "    y = x / factor\n    return y\n")
    assert lines_before(INVERSE, INVERSE, 8) == range(8, 9)
    assert lines_before(INVERSE, now, 5) == range(4, 5)
    assert lines_before(INVERSE, now, 10) == range(8, 9)
    rewritten = RIGHT[: RIGHT.index("    if")] + "    a\n    b\n    c\n    d\n"
    assert [lines_before(INVERSE, rewritten, line) for line in (6, 9)] == [range(6, 8), range(8, 9)]
    assert size(changes(INVERSE, now)) == 3
    call = "a = f(\n    1,\n    2,\n)\nif a:\n    b()\n"
    assert around(call, range(1, 2)) == {1, 2, 3, 4}
    assert around(call, range(5, 5)) == {5, 6}  # something was left out between these
    assert around(f"{call}@g\ndef f():\n    def h():\n        i()\n    x()\n    y()\n", range(11, 11)) == {8, 11, 12}


@pytest.mark.parametrize(("name", "count"), [("perplexity", 1), ("roc_auc", 2), ("moco", 3)])
def test_drawn_round_is_solved_by_the_reference_and_not_untouched(name: str, count: int) -> None:
    launcher = new_launcher()
    judge, kata = WarmJudge(launcher), katas.find_one(name)
    made: list[Planting] = []

    def plant(one: Kata) -> Planting:
        made.append(Planting(one, launcher))
        return made[-1]

    try:
        drawn = draw([kata], count, 44, slow=False, plant=plant)
        again = draw([kata], count, 44, slow=False, plant=plant)
        assert drawn.bugs == again.bugs
        untouched = Source(planted(right_file(kata), drawn.bugs), "untouched.py")
        states = [
            judge.grade(kata, one, diagnosed=False).state for one in (untouched, Source(right_file(kata), "right.py"))
        ]
        assert states == ["failing", "solved"]
        told = [one["name"] for one in described(drawn)]
        assert told == [bug.name for bug in drawn.bugs]
    finally:
        judge.close()
        for planting in made:
            planting.close()
        launcher.close()


SAID = {
    "causal_attention": {
        "top_left": "the tril needs to be offset by Sk - Sq",
        "itself_hidden": "the token cannot attend to itself",
        "key_mask_inverted": "mask polarity is flipped, True means real",
        "not_scaled": "missing the 1/sqrt(d) scale",
        "softmax_over_queries": "softmax over the wrong axis",
    },
    "layer_norm": {
        "unbiased": "uses the unbiased variance with n-1",
        "no_root": "forgot the square root",
        "last_axis_only": "only normalizes the last dimension",
        "statistics_detached": "gradients do not flow through mean and var",
    },
}


@pytest.mark.parametrize("name", SAID)
def test_plain_words_are_understood_or_asked_back(name: str) -> None:
    kata = katas.find_one(name)
    mistakes = [one for one in kata.mistakes if not one.slow]
    matcher = matcher_of(kata, mistakes)
    for meant, words in SAID[name].items():
        assert meant in [mistakes[one].name for one in matcher.match(words, 2.0).maybe], words


def test_report_says_of_a_line_that_was_moved_that_it_was() -> None:
    shown = Console(width=80, record=True, file=io.StringIO())
    line = "    optimizer.zero_grad()"
    shown.print(
        two_columns(rows_of(PlantedBug("late", "it is cleared too late", 1, [1], [line], [line], "numerics/x", "")))
    )
    assert "was    optimizer.zero_grad()" in (text := shown.export_text())
    assert "right  the same, in another place" in text


def test_report_shows_what_was_said_twice_once() -> None:
    shown = Console(width=80, record=True, file=io.StringIO())
    shown.print(
        two_columns(rows_of(PlantedBug("late", "it is late", 1, [1], [], [], "", "", words=["why", "why", "other"])))
    )
    assert [line.split() for line in shown.export_text().splitlines()][3:5] == [["you", "why"], ["you", "other"]]


def test_hint_at_a_check_that_calls_nothing_ends_with_its_name() -> None:
    bug, said = PlantedBug("default", "the default is 0", 1, [1], [], [], "contract/scale_signature", ""), list[str]()
    terminal = SimpleNamespace(say=lambda text, style: said.append(text))
    debugging: Any = SimpleNamespace(report=SimpleNamespace(bugs=[bug]), terminal=terminal, say=said.append)
    show_hint(debugging, bug, 1)
    assert said == ["Hint 1 of 3 at bug 1 (-3 points)", "the bug makes this check fail: contract/scale_signature"]


def test_symptom_round_goes_from_the_symptom_to_its_report(toys: Path, terminal: Callable[..., Tty]) -> None:
    shutil.copytree(ROOT / "solutions/programs/grpo", toys / "solutions/programs/grpo")
    one = terminal("--symptom", "grpo", "--bugs", "2", "--seed", "1")
    one.child.timeout = 300  # to draw it takes several runs of the script
    begun = flat(one.shows("[debug  ", " left] > "))
    files = debug_rounds(events(toys))
    ((name, first), _) = [(made.kata, bug) for made in files for bug in made.bugs]
    assert "2 bugs are planted over policy.py and grpo.py" in begun
    assert f"Symptom {files[0].symptom}" in begun
    shown = flat(one.says("run", "train.py ended", "[debug  "))
    assert "Symptom: The reward stays at " in shown
    one.says(f"bug {name} {first.line} {first.sentence}", f"noted: line {first.line}")
    one.says("submit", "0 of 2 planted bugs are gone; nothing changed")
    one.says("hint", "Hint 1 of 3 at bug 1", f"a run with this bug alone shows: {first.alone}")
    for made in files:
        (toys / f".kata/debug/grpo/{made.kata}.py").write_text(made.right)
    assert "No symptom is left" in flat(one.says("run", "train.py ended", "[debug  "))
    one.says("submit", "all planted bugs are gone")
    shown, status = one.ends()
    assert status == 0
    assert "found 1, explained 1, mended 2 of 2" in flat(shown)
