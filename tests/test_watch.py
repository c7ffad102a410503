"""Watching a kata in a real terminal: saves of every kind, keys, what changed, and a terminal left as it was found."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pexpect
import pytest

from graders.arguments import command_line
from graders.author.bench import judge
from graders.catalogue import katas
from graders.desk.attempts import begin
from graders.desk.saves import SaveWatcher
from graders.desk.state import Event, State
from graders.faults import ROOT
from tests.toys import MODULE_REFERENCE, REFERENCE, add_other, end, run

pytest.importorskip("termios", reason="there are no such terminals on Windows")

WRONG = REFERENCE.replace("x / (1 / factor)", "x / factor")
SLOW = WRONG.replace('"""Scale."""', "import time").replace("return", "time.sleep(1)\n    return")
HANGS = WRONG.replace("return", "while True:\n        pass\n    return")
HANGS_ON_IMPORT = WRONG + "while True:\n    pass\n"
# Ends a verdict after every so many checks, and what is left of it must spoil none of those that come after.
INTERRUPTS = """
import pathlib
from graders.catalogue import katas
from graders.judge import warm as desk
from graders.judge.run import source_of
from graders.sandbox.launcher import new_launcher
judge = desk.WarmJudge(new_launcher())
root = pathlib.Path({root!r})
(kata,) = katas.find(["scale"], root)
wrong = source_of(kata, root / "wrong.py")
for count in (1, 4, 8, 12, 19):
    try:
        judge.grade(kata, wrong, lambda result: len(result.outcomes) == count and judge.interrupt())
    except desk.Interrupted:
        print("interrupted")
    judge.go_on()
result = judge.grade(kata, wrong)
print(result.state, result.mistake, [outcome.name for outcome in result.outcomes if outcome.graders_fault])
judge.close()
judge.launcher.close()
"""
KEYS = "h hint  n next  r run  t try  g grade  l list  d diff  q quit"
HINTS = "# Hints\n\n## A nudge\n\nLook there.\n\n## The idea\n\nDivide.\n\n## Nearly the code\n\n    x / ...\n"


class Terminal:
    """80 columns, in which a kata is watched."""

    def __init__(self, root: Path, *arguments: str) -> None:
        environment = {name: value for name, value in os.environ.items() if name not in ("CI", "COLUMNS", "NO_COLOR")}
        environment |= {"TERM": "xterm", "PYTHONIOENCODING": "utf-8"}
        self.file = root / "katas/toys/scale/scale.py"
        self.child = pexpect.spawn(
            sys.executable,
            [*command_line(root)[1:], "watch", *arguments],
            cwd=str(ROOT),
            env=environment,
            encoding="utf-8",
            dimensions=(40, 80),
            timeout=60,
        )

    def save(self, text: str) -> None:
        self.file.write_text(text)

    def press(self, key: str) -> None:
        self.child.send(key)

    def shows(self, *texts: str) -> str:
        """What was shown until all of these were, one after the other, and then the keys."""
        shown = ""
        for text in (*texts, KEYS):
            self.child.expect_exact(text)
            shown += (self.child.before or "") + text
        return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown).replace("\r\n", "\n")


@pytest.fixture
def desk(toys: Path) -> Path:
    (toys / "solutions/toys/scale/hints.md").write_text(HINTS)
    return toys


@pytest.fixture
def terminal(desk: Path) -> Iterator[Terminal]:
    """The first kata to do is watched, and the first card was shown."""
    made = Terminal(desk)
    made.shows("TODO", "every save is judged:", "katas/toys/scale/scale.py")
    yield made
    end(made.child)


def test_a_kata_that_goes_on_is_begun_with_the_answer_to_the_one_before(desk: Path) -> None:
    statement = desk / "katas/toys/affine/README.md"
    statement.write_text(statement.read_text().replace("after:", "continues: scale\nafter:"))
    terminal = Terminal(desk, "affine")
    terminal.shows("TODO", "affine goes on from scale: solve that first")
    terminal.save(REFERENCE)
    terminal.shows("solved")
    terminal.press("n")
    terminal.shows("TODO", "affine.py begins with your answer to scale: change it")
    assert REFERENCE in (desk / "katas/toys/affine/affine.py").read_text()
    end(terminal.child)


def test_a_path_is_followed(desk: Path) -> None:
    (desk / "katas/paths.yaml").write_text("maps:\n  title: All about maps\n  katas: [affine]\n")
    terminal = Terminal(desk, "--path", "maps")
    terminal.shows("TODO", "katas/toys/affine/affine.py", "0 core, 0 solved of 1")
    terminal.press("n")
    terminal.shows("every other kata on your path is solved")
    end(terminal.child)


def test_learner_goes_from_stub_to_solved(terminal: Terminal) -> None:
    terminal.save(WRONG)
    shown = terminal.shows("judging scale", "FAIL", "the factor divides", "0 core, 0 solved of 2")
    assert "since the last run" not in shown
    terminal.press("d")
    terminal.shows("the reference is shown once you have solved the kata")
    swallowed = "    try:\n        x * factor\n    except RuntimeError:\n        pass\n    return x / (1 / factor)"
    terminal.save(WRONG.replace("    return x / factor", swallowed))
    terminal.shows("FAIL", "the rules", "since the last run: numerics", "now pass; rules fail now")
    terminal.save(REFERENCE)
    terminal.shows(
        "PASS", "since the last run: rules now pass", "solved; it comes back for review in", "1 core, 1 solved of 2"
    )
    terminal.press("d")
    terminal.shows("no difference")
    terminal.press("q")
    terminal.child.expect(pexpect.EOF)
    assert terminal.child.wait() == 0


def test_keys_show_hints_and_the_list_and_go_on(terminal: Terminal) -> None:
    terminal.press("h")
    assert "Look there." not in terminal.shows("press h again for hint 1 of 3; with hints, a kata comes back")
    terminal.press("h")
    terminal.shows("hint 1 of 3", "Look there.")
    terminal.press("l")
    terminal.shows("next: scale, which unlocks affine")
    terminal.press("n")
    terminal.shows("TODO", "katas/toys/affine/affine.py")
    terminal.press("?")
    terminal.press("g")
    terminal.shows("affine  ")
    terminal.save(WRONG)
    terminal.shows("FAIL", "scale  ")


def test_a_call_is_tried_typed_mended_and_tried_again(terminal: Terminal) -> None:
    terminal.press("t")
    terminal.child.expect_exact("Enter tries this, or type a call: ")
    terminal.press('scale("abq\x7f" * 2, 3)\n')
    shown = terminal.shows("yours", "NotImplementedError", "expected", "not as expected: should be TypeError, got")
    assert "scale.py" not in shown
    terminal.save(WRONG)
    terminal.shows("FAIL")
    terminal.press("t")
    terminal.child.expect_exact("Enter tries this, or type a call: ")
    assert 'scale("ab" * 2, 3)' in str(terminal.child.before)
    terminal.save(REFERENCE)
    terminal.press('print("here")\x17\x17scale(6.0, 3)\n')
    terminal.shows("yours     18.0", "as expected", "PASS")  # what was saved meanwhile is judged


def test_the_smallest_failing_call_is_shown_and_offered(terminal: Terminal) -> None:
    terminal.save(WRONG)
    terminal.shows("FAIL", "looks like  ", "smallest  scale(x=[", " gives ", "should be")
    terminal.press("t")
    terminal.child.expect_exact("x = torch.tensor([")
    terminal.child.expect_exact("Enter tries this, or type a call: ")
    terminal.press("\n")
    terminal.shows("yours", "expected", "not as expected: ")


def test_other_right_answers_and_their_costs_are_shown_next_to_one_that_passes(desk: Path) -> None:
    add_other(desk)
    terminal = Terminal(desk)
    terminal.shows("TODO")
    terminal.save(WRONG)
    terminal.shows("FAIL")
    terminal.press("o")
    terminal.press("l")
    assert "two_halves" not in terminal.shows("next: scale")
    terminal.save(REFERENCE)
    terminal.shows("PASS", "many: ", "o other right answers and their costs")
    terminal.press("o")
    shown = terminal.shows("yours", "two_halves", "scale: Scale.", "solutions/toys/scale/scale.py", "two_halves: Twice")
    costs = re.findall(r"(\w+) +many: (\d+) operators \(reference (\d+)\), .* in use", shown)
    assert [name for name, *_ in costs] == ["yours", "two_halves"]
    assert costs[0][1] == costs[0][2] == costs[1][2] < costs[1][1]
    assert "solutions/toys/scale/alternatives/two_halves.py" in shown
    (desk / "solutions/toys/scale/alternatives/zeno.py").write_text(HANGS)
    terminal.press("o")
    terminal.child.expect_exact("counting what each costs")
    time.sleep(1)  # it is called
    began = time.monotonic()
    terminal.press("l")
    terminal.shows("zeno: Scale.", "next: affine")
    assert time.monotonic() - began < 8  # a call alone takes ten
    end(terminal.child)


def test_a_fork_without_solutions_offers_no_other_answers(desk: Path) -> None:
    shutil.rmtree(desk / "solutions")
    (desk / "katas/toys/scale/scale.py").write_text(REFERENCE)
    terminal = Terminal(desk, "scale")
    assert "other right answers" not in terminal.shows("PASS", "n goes to the next kata")
    terminal.press("o")
    terminal.press("l")
    assert "counting" not in terminal.shows("next: affine")
    end(terminal.child)


def test_a_pipe_types_no_call(desk: Path) -> None:
    told = subprocess.run(
        [*command_line(desk), "watch"], input="t\nq\n", capture_output=True, text=True, timeout=60, check=True, cwd=ROOT
    )
    assert "error: there is nothing to try; write a call" in told.stdout  # a toy's statement has no example


def test_review_is_judged_where_it_is_written(desk: Path) -> None:
    answer = desk / "katas/toys/scale/scale.py"
    answer.write_text(REFERENCE)
    assert "no review has begun" in run(desk, "watch", "--review").err
    state = State(desk)
    begin(state, katas.find_one("scale", desk), "review")
    state.close()
    made = Terminal(desk, "--review")
    try:
        made.shows("TODO", "write it from memory; every save is judged:", ".kata/review/scale.py")
        (desk / ".kata/review/scale.py").write_text(REFERENCE)
        made.shows("PASS", "katas/toys/scale/scale.py stays as it was", "nox -s history -- scale 1 --restore")
    finally:
        end(made.child)
    assert answer.read_text() == REFERENCE


def test_reviews_follow_one_another(desk: Path) -> None:
    state = State(desk)
    long_ago = datetime.now(UTC) - timedelta(days=60)
    for name in ("affine", "scale"):
        solved = {"state": "solved", "score": 100, "failed": [], "message": None, "source": "", "costs": {}}
        state.insert(Event("attempt", name, solved, long_ago))
    begin(state, katas.find_one("scale", desk), "review")
    made = Terminal(desk, "--review")
    try:
        made.shows("TODO", ".kata/review/scale.py")
        made.press("n")
        made.shows("TODO", ".kata/review/affine.py")
        (desk / ".kata/review/affine.py").write_text(MODULE_REFERENCE)
        made.shows("PASS", "n goes to the next of 1 that are due")
        made.press("n")
        made.shows("TODO", ".kata/review/scale.py")
        made.press("n")
        made.shows("nothing else is due today")
    finally:
        end(made.child)
        state.close()


def test_file_that_takes_the_place_of_another_is_a_save(terminal: Terminal) -> None:
    for text, verdict in ((WRONG, "FAIL"), (REFERENCE, "PASS")):
        other = terminal.file.with_name(".scale.py.swp")
        other.write_text(text)
        terminal.file.rename(terminal.file.with_name("scale.py~"))
        other.rename(terminal.file)
        terminal.shows(verdict)


def test_file_that_comes_back_as_it_was_is_a_save(tmp_path: Path) -> None:
    file, told = tmp_path / "scale.py", list[Path]()
    file.write_text(WRONG)
    watcher = SaveWatcher([file], told.append)
    away = file.rename(tmp_path / "away.py")
    watcher.look()
    assert told == []
    away.rename(file)
    watcher.look()
    assert told == [file]


def test_save_without_a_change_is_judged_again(terminal: Terminal) -> None:
    terminal.save(WRONG)
    terminal.shows("FAIL")
    time.sleep(0.1)
    terminal.save(WRONG)
    terminal.shows("since the last run: no check changed")


def test_save_while_another_is_judged_ends_that(terminal: Terminal) -> None:
    terminal.save(SLOW)
    terminal.child.expect(r" [1-9]/19")
    began = time.monotonic()
    terminal.save(REFERENCE)
    assert "FAIL" not in terminal.shows("PASS")
    assert time.monotonic() - began < 15  # all of its calls would take longer


@pytest.mark.parametrize("source", [HANGS, HANGS_ON_IMPORT], ids=["call", "import"])
def test_call_that_never_ends_is_named_and_a_save_ends_it(terminal: Terminal, source: str) -> None:
    terminal.save(source)
    terminal.child.expect(r"judging scale( \d+/19)?, [2-4] s in (scale\(x\[3, 5\] float|importing katas/toys/scale/)")
    began = time.monotonic()
    terminal.save(REFERENCE)
    assert "FAIL" not in terminal.shows("PASS", "1 core, 1 solved of 2")
    assert time.monotonic() - began < 5  # the call alone would go on for longer
    assert [event.body["state"] for event in events(terminal)] == ["solved"]


def test_quitting_waits_for_no_call(terminal: Terminal) -> None:
    terminal.save(HANGS)
    terminal.child.expect_exact("2 s in scale(")
    began = time.monotonic()
    terminal.press("q")
    terminal.child.expect(pexpect.EOF)
    assert time.monotonic() - began < 2  # 0.3 on an idle machine
    assert terminal.child.wait() == 0
    assert events(terminal) == []


def test_quitting_waits_for_no_file_that_runs(terminal: Terminal) -> None:
    terminal.save(
        WRONG
        + 'if __name__ == "__main__":\n    import time\n    print("be" + "gun", flush=True)\n    time.sleep(900)\n'
    )
    terminal.shows("scale")
    terminal.press("r")
    terminal.child.expect_exact("begun")
    terminal.press("q")
    terminal.child.expect(pexpect.EOF, timeout=30)
    assert terminal.child.wait() == 0


def events(terminal: Terminal) -> list[Event]:
    state = State(terminal.file.parents[3])
    found = state.events()
    state.close()
    assert found[0].kind == "open"  # from here on the time is counted
    return [event for event in found if event.kind == "attempt"]


def test_interrupted_verdict_leaves_the_next_one_right(toys: Path) -> None:
    (toys / "wrong.py").write_text(WRONG)
    code = INTERRUPTS.format(root=str(toys))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout.split() == ["interrupted"] * 5 + ["failing", "inverse", "[]"], done.stderr


def test_broken_file_is_told_and_watched_on(terminal: Terminal) -> None:
    terminal.save("def scale(:\n")
    terminal.shows("ERROR", "cannot be imported: SyntaxError")
    terminal.file.unlink()
    terminal.save(REFERENCE)
    terminal.shows("PASS", "it can be imported now")


def test_a_fault_that_the_search_for_the_mistake_meets_is_told(desk: Path, terminal: Terminal) -> None:
    """After the card, which was shown at the last check."""
    mistakes = desk / "solutions/toys/scale/mistakes.py"
    mistakes.write_text(mistakes.read_text().replace('"x / (1 / factor)"', '"x * factor"'))
    terminal.save(WRONG)
    terminal.shows("FAIL", "ERROR", "mistake inverse", "should occur once in the reference, got 0")


def test_broken_grader_is_told_and_the_other_katas_go_on(desk: Path) -> None:
    grader = desk / "katas/toys/affine/grader.py"
    grader.write_text(grader.read_text().replace("x: (x", "x: (1 / 0, x"))
    (desk / "katas/toys/affine/affine.py").write_text(MODULE_REFERENCE)
    terminal = Terminal(desk, "affine")
    terminal.shows("ERROR", "the grader's case")
    terminal.save(REFERENCE)
    terminal.shows("PASS")
    end(terminal.child)


def test_polling_sees_saves(desk: Path) -> None:
    terminal = Terminal(desk, "katas/toys", "--poll")  # of which the first to do is watched
    terminal.shows("TODO", "katas/toys/scale/scale.py")
    terminal.save(REFERENCE)
    terminal.shows("PASS")
    end(terminal.child)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_leaves_terminal_and_machine_as_they_were(terminal: Terminal, sent: signal.Signals) -> None:
    before = {int(one) for one in subprocess.check_output(["ps", "-eo", "pid="], text=True).split()}
    terminal.child.sendintr() if sent == signal.SIGINT else terminal.child.kill(sent)
    terminal.child.expect(pexpect.EOF)
    assert terminal.child.wait() == 130
    assert "Traceback" not in (terminal.child.before or "")
    assert terminal.child.getecho()
    deadline = time.monotonic() + 10
    while family := [pid for pid in before if is_watching(pid, terminal.file.parents[3])]:
        assert time.monotonic() < deadline, family


def test_keys_are_heard_after_ctrl_z_and_fg(terminal: Terminal) -> None:
    import termios

    of_a_shell = termios.tcgetattr(terminal.child.child_fd)
    of_a_shell[3] |= termios.ICANON | termios.ECHO
    termios.tcsetattr(terminal.child.child_fd, termios.TCSANOW, of_a_shell)
    terminal.child.kill(signal.SIGCONT)
    deadline = time.monotonic() + 10
    while termios.tcgetattr(terminal.child.child_fd)[3] & termios.ICANON:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    terminal.press("l")
    terminal.shows("next: scale")


def is_watching(pid: int, root: Path) -> bool:
    try:
        return str(root).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_piped_it_is_plain_text_and_follows_lines(desk: Path) -> None:
    done = subprocess.run(
        [*command_line(desk), "watch"],
        input="l\nq\n",
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "next: scale, which unlocks affine" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_bench_says_what_it_measures_and_holds_it_against_its_goals(
    toys: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(judge, "COMMANDS", {name: [sys.executable, "-c", ""] for name in judge.COMMANDS})
    figures = {what: (got, goal) for what, got, _, goal in judge.figures(toys, argparse.Namespace(runs=3), 1.0)}
    assert figures["the first kata again, inside watch"][0] > 0
    assert figures["one kata, cold"][1] == 1.25
    said = capfd.readouterr().err.splitlines()
    assert [line.partition(":")[0].rstrip() for line in said] == [
        *[f"round {number} of 3" for number in (1, 1, 1, 1, 2, 2, 2, 2, 3, 3)],
        *["watch"] * len(katas.all_katas(toys)),
        "memory",
    ]


def test_unknown_kata_is_told(desk: Path) -> None:
    ran = run(desk, "watch", "scal")
    assert (ran.status, ran.out) == (2, "")
    assert "did you mean scale?" in ran.err
