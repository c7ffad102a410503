"""A mock interview as a candidate sits it: in a real terminal, cut off and gone on with, piped, over time."""

from __future__ import annotations

import argparse
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from markdown_it import MarkdownIt

from graders import __main__ as cli
from graders.arguments import command_line
from graders.author.prove import isolation
from graders.catalogue import katas, texts
from graders.catalogue.katas import Kata
from graders.catalogue.stub import AT_HAND, bare, is_untouched, stub_of
from graders.desk import own_tests
from graders.desk import state as states
from graders.desk.progress import Progress
from graders.desk.state import Event, State
from graders.faults import ROOT, UsageError
from graders.interview import card, commands, debrief, draw
from graders.interview import session as interviews
from graders.interview.interview import pace_of
from graders.interview.marks import marks, overall
from graders.interview.prepared import Prepared
from graders.interview.record import InterviewReport, begun, reports
from graders.interview.round import PHASES, Answered, Round, Submit
from graders.sandbox.launcher import new_launcher
from graders.sitting import clock as clocks
from graders.sitting import matching
from graders.sitting.clock import Reading, in_words
from graders.sitting.pace import UP
from graders.sitting.session import still_open
from graders.sitting.terminal import Streams
from graders.worker.visible import visible
from tests.sittings import NOON, FakeClock, Scripted, Tty, flat
from tests.toys import MODULE_REFERENCE, REFERENCE, end, run

WRONG = REFERENCE.replace("x / (1 / factor)", "x / factor")
SLOW = REFERENCE.replace("return", "import time; time.sleep(0.5)\n    return")
RESUME = "suspended: nothing is lost, and the clock runs on. Go on with nox -s interview -- --resume"
ABOUT = ("zero", "shapes", "dtypes", "cost")
PROMPT = "# Interview: scale\n\n## Prompt\n\nWrite `scale(x, factor=2.0)`.\n\n## Clarifying questions\n" + "".join(
    f"\n### What about {topic}?\n\nAs for {topic}, x₁².\n" for topic in ABOUT
)
FOLLOW_UP = "# Follow-up questions: scale\n" + "".join(
    f"\n<details><summary>Why <code>{word}</code> &lt; x₁?</summary>\n\nBecause of {word}.\n\n</details>\n"
    for word in ("one", "two", "three", "four", "five")
)
HINTS = "# Hints\n\n## A nudge\n\nLook there.\n\n## The idea\n\nMultiply.\n\n## Nearly the code\n\n```python\nx\n```\n"
OWN_TESTS = """
import socket
from pathlib import Path

import torch

from scale import scale


def test_values():
    assert scale(torch.ones(3)).tolist() == [2, 2, 2]


def test_is_shut_in():
    for folder in (FOLDER, "/tmp", "/etc", "/usr", "/"):
        try:
            Path(folder, "interview_was_here").write_text("x")
        except OSError:
            continue
        raise AssertionError(f"wrote into {folder}")
    try:
        socket.create_connection(("1.1.1.1", 53), timeout=2)
    except OSError:
        return
    raise AssertionError("there is a network")
"""


@pytest.fixture
def desk(toys: Path) -> Path:
    """Two toy katas, of which one can be asked about."""
    (toys / "katas/toys/scale/interview.md").write_text(PROMPT)
    (toys / "katas/toys/scale/follow_up.md").write_text(FOLLOW_UP)
    (toys / "solutions/toys/scale/hints.md").write_text(HINTS)
    return toys


def scale(root: Path) -> Kata:
    return Kata(root, "toys", "scale")


def written(root: Path) -> Path:
    """Where the candidate writes."""
    return root / ".kata/interview/scale.py"


def events(root: Path) -> list[Event]:
    state = State(root)
    found = state.events()
    state.close()
    return found


def the_report(root: Path) -> InterviewReport:
    return reports(events(root))[-1]


@pytest.fixture
def terminal(desk: Path) -> Iterator[Callable[..., Tty]]:
    made: list[Tty] = []

    def make(*arguments: str, **more: str) -> Tty:
        made.append(Tty(desk, "interview", *arguments, **more))
        return made[-1]

    yield make
    for one in made:
        end(one.child)


def test_candidate_goes_from_the_prompt_to_the_report(desk: Path, terminal: Callable[..., Tty]) -> None:
    answered = "# what I wrote before\n" + REFERENCE
    scale(desk).answer_file.write_text(answered)
    one = terminal("--minutes", "20", "--seed", "7")
    shown = one.shows("[clarify  ", " left] > ")
    assert "scale (toys, level 1, about 15 minutes)" in shown
    assert "Write scale(x, factor=2.0)." in shown
    assert "What about" not in shown
    one.says("Does it rain?", "I did not understand: put it another way.")
    one.says("what about dtypes", "What about dtypes?", "As for dtypes, x₁².")
    one.says("ask 2", "you need the list: `questions` shows it (-10")
    one.says("questions", "the list costs 10 points; show it?", "yes/no > ")
    one.says("yes", "1  What about zero?", "3  What about dtypes? (asked)", "4  What about cost?")
    one.says("ask 2", "What about shapes?", "As for shapes, x₁².")
    one.says("next", "[plan  ")
    one.says("plan multiply, and refuse 0", "noted")
    assert "Write it into .kata/interview/scale.py" in flat(one.says("next", "[code  "))
    assert written(desk).read_text() == bare(stub_of(REFERENCE))
    one.says("submit", "nothing is written yet: write your answer into .kata/interview/scale.py first", "[code  ")
    written(desk).write_text(WRONG)
    shown = one.says("submit", "this counts ", "[test  ")
    assert re.search(r"FAIL  scale +\d+/100   first failure: three_by_five", shown)
    assert re.search(r"checks +three_by_five, factors", shown)
    assert "looks like" not in shown
    assert "nox -s" not in shown
    one.says("diagnose", "looks like the factor divides; multiply by it  (-10 points)")
    one.says("hint", "Hint 1 of 3 (-5 points)", "Look there.")
    written(desk).write_text(REFERENCE)
    one.says("submit", "PASS", "this counts 100, less 25 for help, plus 2 for questions: 77; `next` goes on")
    one.says("next", "Question 1 of ")
    answer_all(one, desk)
    check_the_report(desk, *one.ends())
    assert scale(desk).answer_file.read_text() == answered


def answer_all(one: Tty, root: Path) -> None:
    count = len(draw.follow_ups(texts.follow_ups(scale(root)), 7, "scale"))
    assert 3 <= count <= 5
    for number in range(1, count + 1):
        if number > 1:
            one.shows(f"Question {number} of {count}: Why `")
        one.shows("[follow-up  ")
        one.says("So that", "] > ")
        one.says("it is quick.", "] > ")
        one.says("", "My answer, point by point", "Because of ", "which points > ")
        one.says("7", "Which of these did you say?", "which points > ")
        one.says("1" if number > 1 else "none")
    one.shows("Your plan, and below it the idea", "you said: multiply, and refuse 0", "Multiply.", "your score > ")
    one.says("2")


def check_the_report(root: Path, shown: str, status: int) -> None:
    made = the_report(root)
    assert status == 0
    assert "Measured: 77 of 100" in shown
    assert re.search(r"scale +100/100 +-25 +[+]2 +77 +2 +-? *0", shown)
    assert f"Your own scores: {sum(made.self_scores)} of {3 * len(made.self_scores)}" in shown
    assert (
        "1 question in your own words, 1 by number, 1 that I did not understand; you saw the list; a plan of 1 line"
        in flat(shown)
    )
    assert f"read again: {made.round.answers[0].question}" in flat(shown)
    assert "submitted: solved, 100/100" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert re.search(r"scale +1 +2 +3 +0 +[12]", shown)  # the marks
    kept = (root / ".kata/interview/report-1.md").read_text()
    assert "- You asked, and I did not understand: Does it rain?" in kept
    assert "- asked: **What about dtypes?** As for dtypes, x₁²." in kept
    assert "- asked by number: **What about shapes?**" in kept
    assert "- not asked: **What about zero?**" in kept
    assert "- You: multiply, and refuse 0" in kept
    assert (made.ended, made.round.measured, made.overtime) == ("finished", 77, 0)
    assert made.round.words == ["Does it rain?"]
    assert made.round.plan == ["multiply, and refuse 0"]
    assert made.round.answers[0].lines == ["So that", "it is quick."]
    assert made.review["scale"] is not None
    others = [(one.kind, one.body.get("via"), one.body.get("state")) for one in events(root) if one.kata == "scale"]
    assert others == [
        ("start", "interview", None),
        ("attempt", "interview", "failing"),
        ("hint", None, None),
        ("attempt", "interview", "solved"),
    ]


def test_kill_loses_only_the_line_being_typed(desk: Path, terminal: Callable[..., Tty]) -> None:
    one = terminal("--minutes", "15", "--seed", "1")
    one.shows("[clarify  ")
    one.says("next", "[plan  ", " > ")
    one.says("a first line", "noted")
    begun = time.monotonic()
    before = the_report(desk).elapsed
    one.child.send("half a li")
    one.child.kill(signal.SIGKILL)
    one.child.wait()
    again = terminal("--resume")
    shown = again.shows("goes on: ", "[plan  ", " left] > ")
    minutes, seconds = map(int, re.findall(r"\[plan  (\d+):(\d\d) left", shown)[-1])
    gone = 900 - 60 * minutes - seconds - before
    assert -1 <= gone - (time.monotonic() - begun) <= 2
    again.says("plan", "a first line")
    assert the_report(desk).round.plan == ["a first line"]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_and_end_of_input_suspend(desk: Path, terminal: Callable[..., Tty], sent: signal.Signals) -> None:
    one = terminal("--seed", "1")
    one.shows("[clarify  ", " > ")
    one.says("next", "[plan  ", " > ")
    shown, status = one.ends(sent)
    assert status == 130
    assert one.child.getecho()
    assert flat(shown).endswith(RESUME)
    assert "Traceback" not in shown
    again = terminal("--resume", NO_COLOR="1")
    again.shows("[plan  ", " > ")
    again.child.sendeof()
    shown, status = again.ends()
    assert status == 0
    assert flat(shown).endswith(RESUME)
    assert not re.search(r"\x1b\[[\d;]*[349]\dm", again.raw), "a colour in spite of NO_COLOR"


def test_file_that_is_gone_or_empty_or_unreadable_takes_no_points_away(
    desk: Path, terminal: Callable[..., Tty]
) -> None:
    one = terminal("--seed", "1")
    one.shows("[clarify  ", " > ")
    one.says("next", "[plan  ")
    one.says("next", "[code  ")
    written(desk).write_text(REFERENCE)
    one.says("submit", "this counts 100", "[test  ")
    written(desk).unlink()
    one.says("submit", "does not exist", "this does not count: there is nothing to judge in .kata/", "[test  ")
    for content in (b"", b"\xff"):
        written(desk).write_bytes(content)
        one.says("submit", "this does not count", "[test  ")
    one.says("end", "yes/no > ")
    one.says("yes", "Measured: 100 of 100")
    one.ends()


def test_interrupt_ends_a_submission_or_own_tests_and_not_the_interview(
    desk: Path, terminal: Callable[..., Tty]
) -> None:
    one = terminal("--seed", "1")
    one.shows("[clarify  ", " > ")
    one.says("next", "[plan  ")
    one.says("next", "[code  ")
    written(desk).write_text(SLOW)
    one.says("submit", "/19")  # a check was asked
    one.child.sendintr()
    one.shows("stopped: nothing of it counts, and the clock runs on", "[code  ", " > ")
    assert one.raw.rindex("\x1b[?25h") > one.raw.rindex("\x1b[?25l"), "the cursor is still hidden"
    assert not the_report(desk).round.submits
    written(desk).with_name("own.py").write_text("import time\nfrom scale import scale\ntime.sleep(20)\n")
    one.says("run own.py", "running own.py")
    one.child.sendintr()
    one.shows("stopped: nothing of it counts", "[code  ", " > ")
    assert not the_report(desk).round.runs
    written(desk).write_text(REFERENCE)  # and what was ended is as good as new
    written(desk).with_name("own.py").write_text("from scale import scale\nassert scale(2) == 4\n")
    one.says("run own.py", "own.py: passed", "[code  ", " > ")
    one.says("submit", "PASS", "this counts 100", "[test  ", " > ")
    one.says("next", "your tests meet known mistakes")
    one.child.sendintr()
    one.shows("your tests are not measured: stopped", "[follow-up  ", " > ")
    assert marks(the_report(desk).round)[3][1:] == (None, "not measured")


def test_interrupt_in_the_middle_of_a_write_loses_nothing(
    desk: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = State.add

    def interrupted(state: State, kind: str, kata: str, body: dict[str, Any]) -> Event:
        if body.get("phase") == "code" or body.get("via") == "interview" or body.get("text") == "a plan":
            signal.raise_signal(signal.SIGINT)
        return add(state, kind, kata, body)

    monkeypatch.setattr(State, "add", interrupted)
    assert hold(desk, clock, "next", "a plan") == 130
    assert the_report(desk).round.plan == ["a plan"]
    assert hold(desk, clock, "next", resume=True) == 130
    assert the_report(desk).phase == "code"
    assert [event.kind for event in events(desk) if event.kata] == ["start"]
    assert written(desk).read_text() == bare(stub_of(REFERENCE))


def test_learners_file_survives_a_kill_in_every_phase(desk: Path, terminal: Callable[..., Tty]) -> None:
    scale(desk).answer_file.write_text(REFERENCE)
    for number, phase in enumerate(PHASES):
        one = terminal(*(["--resume"] if number else ["--seed", "1"]))
        one.shows(f"[{PHASES[number - 1] if number else phase}  ", " > ")
        if number:
            if phase == "follow-up":
                one.says("next", "nothing was submitted", "yes/no > ")
            one.says("yes" if phase == "follow-up" else "next", f"[{phase}  ")
        one.child.kill(signal.SIGKILL)
        one.ends()
        assert scale(desk).answer_file.read_text() == REFERENCE
    assert {file.name for file in scale(desk).folder.glob("*.py")} == {"grader.py", "scale.py"}


def test_own_tests_run_in_the_cage(desk: Path, terminal: Callable[..., Tty]) -> None:
    one = terminal("--seed", "1")
    one.shows("[clarify  ")
    one.says("next", "[plan  ")
    one.says("next", "[code  ", " > ")
    script = desk / ".kata/interview/scale_test.py"
    script.symlink_to(desk / "elsewhere.py")
    one.says("run", "scale_test.py is not there yet", "yes/no > ")
    one.says("yes", "is a link that leads out of its folder")
    assert not (desk / "elsewhere.py").exists()
    script.unlink()
    one.says("run", "scale_test.py is not there yet", "yes/no > ")
    one.says("yes", "wrote .kata/interview/scale_test.py")
    written(desk).write_text(REFERENCE)
    (desk / ".kata/interview/plain.py").write_text("from scale import scale\nprint('\\033[31mtwice 3 is', scale(3))\n")
    shown = one.says("run plain.py", "plain.py: passed")
    assert "[31mtwice 3 is 6.0" in shown  # without what would have coloured it
    script.write_text(OWN_TESTS.replace("FOLDER", repr(str(desk))))
    shown = one.says("run scale_test.py", "scale_test.py: ", "[code  ")
    assert [passed for _, passed in the_report(desk).round.runs] == [True, "2 passed" in shown]
    one.says("end", "yes/no > ")
    one.says("yes", "your tests ", "Report of interview 1")
    one.ends()
    assert the_report(desk).round.tests is not None
    assert run(desk, "grade", "scale").status == 0  # which has nothing to do with tests beside the answer
    if isolation() != "full":
        pytest.skip("this system cannot isolate submissions fully")
    assert "2 passed" in shown, shown
    assert not list(desk.rglob("interview_was_here"))


def test_mark_of_own_tests_is_the_share_of_known_mistakes_that_they_catch() -> None:
    one = Round("scale", "toys", 1, 15, runs=[("own.py", True)], tested_first=1)
    assert marks(one)[3][1] == 3  # by an older version's measure: of a file that only says `pass`
    for caught, mark in ((0, 0), (1, 1), (4, 2), (8, 3), (12, 3)):
        one.tests = True, caught, 12
        assert marks(one)[3][1] == mark
    assert marks(one)[3][2] == "measured: your tests pass on a right answer, and catch 12 of 12 known mistakes"
    one.tests = False, 0, 12
    assert marks(one)[3][1:] == (0, "measured: your tests fail on a right answer")


@pytest.mark.parametrize("how", [{}, {"GRADERS_ISOLATION": "limits"}, {"GRADERS_START_METHOD": "spawn"}], ids=str)
def test_own_tests_end_however_they_go(desk: Path, how: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in how.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(own_tests, "LIMIT_SECONDS", 2.0)
    scale(desk).answer_file.write_text("def scale(x):\n    return 2 * x\n")
    launcher = new_launcher()
    script = desk / "own_test.py"

    def ran(source: str) -> own_tests.Ran:
        script.write_text(source)
        return own_tests.run(launcher, scale(desk).answer_file, script, 80)

    try:
        fine = ran("from scale import scale\ndef test_it():\n    print('so', scale(4))\n    assert scale(4) == 8\n")
        assert (fine.passed, fine.ending) == (True, "passed")
        assert "so 8\n." in fine.text
        broken = ran("from scale import scale\n\ndef test_it()\n    pass\n")
        assert broken.text.splitlines()[:2] == ['  File "own_test.py", line 3', "    def test_it()"]
        assert broken.ending == "was not run, since own_test.py cannot be read"
        late = ran("print('so far')\nwhile True:\n    pass\n")
        assert late.ending == "did not end within 2 s, and was stopped"
        assert "so far" in late.text
        assert re.search(r"own_test\.py., line [23]", late.text)
        if how:
            return  # each of these starts takes a second there
        wrong = ran("from scale import scale\nassert scale(4) == 9, 'not nine'\n")
        assert (wrong.passed, wrong.ending) == (False, "failed (exit status 1)")
        assert wrong.text.endswith("AssertionError: not nine")
        flood = ran("for number in range(100_000):\n    print(number)\n")
        assert flood.text.startswith("0\n1\n")
        assert flood.text.endswith("\n99999")
        assert len(flood.text.splitlines()) <= own_tests.MOST_LINES + 1
        assert ran("import os\nos.kill(os.getppid(), 9)\nassert False\n").ending.startswith(
            ("failed", "was ended by SIGK")
        )
        assert ran("import os\nos.abort()\n").ending.startswith("was ended by SIG")
    finally:
        launcher.close()


def test_piped_it_is_a_transcript(desk: Path) -> None:
    lines = ["what is x?", "help", "ask 9", "nxt", "next", "a plan", "next", "help", "next", "next", "yes"]
    done = run(desk, "interview", "--seed", "1", said="\n".join(lines), PYTHONIOENCODING="ascii:replace")
    assert (done.status, done.err) == (0, "")
    assert "\x1b" not in done.out
    assert done.out.isascii()
    assert max(map(len, done.out.splitlines())) <= 80
    for line in lines[:-1]:
        assert re.search(rf"^\[[a-z]+  \d+:\d\d left\] > {re.escape(line)}$", done.out, re.MULTILINE)
    assert "ask by number, from 1 to 4" in done.out
    assert "there is no command 'nxt' here; did you mean next?" in done.out
    assert "-5, -10, -20 points" in done.out
    assert "nothing was submitted, which counts 0; go on?" in flat(done.out)
    assert flat(done.out).endswith(RESUME)


def test_closed_pipe_suspends(desk: Path) -> None:
    command = [*command_line(desk), "interview", "--seed", "1"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write("help\nhelp\n")
        process.stdin.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (0, "")
    assert the_report(desk).ended == ""


@pytest.mark.skipif(sys.platform == "win32", reason="no shell there closes them")
@pytest.mark.parametrize("closed", ["<&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_input_and_output_suspend(desk: Path, closed: str) -> None:
    command = [*command_line(desk), "interview", "--seed", "1"]
    done = subprocess.run(["sh", "-c", f'"$0" "$@" {closed}', *command], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert flat(done.stdout).endswith(RESUME) == (closed == "<&-")
    assert the_report(desk).ended == ""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    made = FakeClock()
    monkeypatch.setattr(clocks, "read", made.read)
    monkeypatch.setattr(states, "now", lambda: made.reading.wall)
    return made


def hold(root: Path, clock: FakeClock, *lines: str | float, **options: Any) -> int:
    """An interview in this process, in which nothing is graded."""
    chosen = {
        "minutes": 20,
        "seed": 1,
        "topic": None,
        "level": None,
        "set": None,
        "katas": None,
        "resume": False,
        "partner": None,
        "new": False,
    } | options
    state = State(root)
    past = reports(state.events())
    going_on = still_open(past)
    judge: Any = SimpleNamespace(launcher=None)
    try:
        session = interviews.InterviewSession(argparse.Namespace(**chosen), root, state, Scripted(clock, *lines), judge)
        return session.run(going_on)
    finally:
        state.close()


def test_overtime_is_told_and_reported(desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]) -> None:
    assert hold(desk, clock, 1195, "time", 6, "", "time", 60, "next", "time", 240, "end", "yes") == 0
    said = capsys.readouterr().out
    assert "19:55 of 20:00 have passed: 0:05 left" in said
    assert flat(said).count("Time is up. Go on if you like") == 1
    assert "[clarify  0:01 over] > time" in said
    assert "[plan  1:01 over] > time" in said
    assert "took 25:01, 5:01 over" in said
    assert re.search(r"20:00  time was up\n +21:01  scale: plan", said)
    assert the_report(desk).overtime == 301


def test_no_clock_that_people_set_matters(desk: Path, clock: FakeClock) -> None:
    hold(desk, clock, 100, "a word")
    clock.reading = Reading(clock.reading.seconds + 60, "this start", NOON - timedelta(days=9))
    hold(desk, clock, "another", resume=True)
    assert the_report(desk).elapsed == 160


def test_after_a_restart_of_the_computer_the_date_counts(desk: Path, clock: FakeClock) -> None:
    hold(desk, clock, 100, "a word")
    clock.reading = Reading(5.0, "another start", clock.reading.wall + timedelta(seconds=200))
    hold(desk, clock, 10, "another", resume=True)
    assert the_report(desk).elapsed == 310
    clock.reading = Reading(1.0, "a third", NOON - timedelta(days=9))
    hold(desk, clock, 10, "a third word", resume=True)
    assert the_report(desk).elapsed == 320  # not below what was known


UNSURE = "is it costly or about dtype"


def test_what_is_asked_back_is_taken_by_yes_and_by_nothing_else(
    desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "OFFERED", 1)
    hold(desk, clock, UNSURE, "no", "yes", UNSURE, "time", "yes", UNSURE, "yes")
    said = flat(capsys.readouterr().out)
    assert said.count("Do you mean this? Type `yes`, or put it another way. 1 What about dtypes?") == 3
    assert said.count("Then put it another way, or go on.") == 1
    assert said.count("there is no question open") == 2
    assert said.count("As for dtypes, x₁².") == 1
    one = the_report(desk).round
    assert (one.asked, one.typed, one.words) == ([3], [3], [])  # it was understood in the end


def test_what_can_be_asked_of_any_kata_earns_nothing(desk: Path, clock: FakeClock) -> None:
    page = scale(desk).folder / "interview.md"
    usual = PROMPT.replace("?\n\nAs for dtypes", "?\n<!-- kind: dtypes -->\n\nAs for dtypes")
    page.write_text(usual.replace("?\n\nAs for cost", "?\n<!-- kind: cost | range -->\n\nAs for cost"))
    (desk / "katas/interview.md").write_text(
        "".join(
            f"## {kind}\n\n{mark}<!-- also: {words} -->\n\n"
            for kind, mark, words in (
                ("dtypes", "<!-- usual -->\n", "which dtypes"),
                ("cost", "<!-- usual -->\n", "how long may it take"),
                ("range", "", "how large can the values be"),
            )
        )
    )
    hold(desk, clock, "what about dtypes", "what about cost", "what about zero")
    one = the_report(desk).round
    assert (one.typed, one.traps, one.earned) == ([3, 4, 1], [4, 1], 4)


def test_a_line_of_words_is_no_misspelled_command(desk: Path, clock: FakeClock) -> None:
    hold(desk, clock, "next", "a plan")
    assert the_report(desk).round.plan == ["a plan"]


def test_a_question_in_follow_up_is_answered_and_is_no_answer(
    desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = [*["next"] * 4, "yes"]
    hold(desk, clock, *begun, "what is asked?", "what about dtypes?", "yes", "Because.", "", "yes", seed=2)
    said = flat(capsys.readouterr().out)
    first = the_report(desk).round.answers[0]
    assert first.question == "Why `one` < x₁?"
    assert first.lines == ["Because."]
    assert said.count("My question is: Why `one` < x₁?") == 3
    assert said.count("As for dtypes, x₁².") == 1
    assert said.count("Which of these did you say?") == 2  # yes is no number
    assert the_report(desk).round.earned == 0


def test_points_of_the_model_answer_are_ticked_one_by_one(
    desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    page = scale(desk).folder / "follow_up.md"
    page.write_text(
        re.sub(
            "Because of .*",
            "The product is linear in x. There is no bias in it. So one product is quick. Nothing else is needed.",
            FOLLOW_UP,
        )
    )
    begun = [*["next"] * 4, "yes"]
    hold(desk, clock, *begun, "vague", "", "5", "all of it", "1, 3", "vague", "", "all", "vague", "", "none", seed=2)
    said = flat(capsys.readouterr().out)
    assert (
        "1 The product is linear in x. 2 There is no bias in it. 3 So one product is quick. 4 Nothing else is needed."
        in said
    )
    assert [one.score for one in the_report(desk).round.answers] == [2, 3, 0]


def test_yes_and_no_answer_a_question_of_yes_or_no(desk: Path, clock: FakeClock) -> None:
    page = scale(desk).folder / "follow_up.md"
    page.write_text(FOLLOW_UP.replace("Why <code>", "With x, is it <code>"))
    hold(desk, clock, *["next"] * 4, "yes", "No", "", "1")
    assert the_report(desk).round.answers[0].lines == ["No"]


def test_no_mark_is_0_for_what_was_not_reached(desk: Path, clock: FakeClock) -> None:
    for lines, expected in (
        (["end", "yes"], [0, None, None, None, None]),
        (["next", "end", "yes"], [0, None, None, None, None]),
        (["next", "next", "end", "yes"], [0, 0, 0, None, None]),
        (["next", "multiply it", "next", "next", "end", "yes"], [0, None, 0, 0, None]),
        (["next", "next", "next", "next", "yes", "skip", "end", "yes"], [0, 0, 0, 0, 0]),
    ):
        hold(desk, clock, *lines)
        assert [mark for _, mark, _ in marks(the_report(desk).round)] == expected
    assert [mark for _, mark, _ in marks(Round("scale", "toys", 1, 15))] == [None] * 5


def test_debrief_has_the_model_answers_and_own_words_as_they_stand(desk: Path, clock: FakeClock) -> None:
    hold(desk, clock, "next", "a*b*c, __len__ & <i>", "next", "next", "next", "yes", "1. `x_i_j`", "", "1", seed=2)
    hold(desk, clock, "end", "yes", resume=True)
    kept = (desk / ".kata/interview/report-1.md").read_text()
    shown = re.sub(r"<[^>]+>", "", MarkdownIt().render(kept))
    assert "You: a*b*c, __len__ &amp; &lt;i&gt;" in shown
    assert "You: 1. `x_i_j`" in shown
    assert "**Why `one` < x₁?** Your score: 3 of 3.\n\n- You: " in kept
    assert "My answer:\n\n> Because of one.\n" in kept
    assert "- plan: not reached, or without a score\n" in kept


def submitted(minutes: int, score: int, tests: tuple[bool, int, int] | None, elapsed: float = 0) -> InterviewReport:
    """An interview of one kata that ended."""
    one = Round("scale", "toys", 1, 15, tests=tests, reached=["clarify"], traps=[1, 2], plan_score=3)
    one.submits.append(Submit("failing", score, 100, [], None, None))
    return InterviewReport("x", NOON, minutes, 1, [one], elapsed=elapsed, ended="finished")


def test_overall_line_says_what_it_rests_on_and_own_scores_stand_apart() -> None:
    explained = submitted(20, 96, (True, 12, 12))
    explained.rounds[0].answers.append(Answered("Why?", ["So."], True, 2))
    assert list(overall(explained)) == [
        "Overall: strong hire, by what was measured: 100 of 100 points, own tests 3.0 of 3, questions 2.0 of 3, "
        "in time.",
        "By your own scores, plans included, the verdict would be hire: 5 of 6.",
    ]
    assert next(overall(submitted(20, 96, (True, 12, 12)))) == (
        "Overall: hire, by what was measured: 100 of 100 points, own tests 3.0 of 3, questions 2.0 of 3, in time; "
        "a strong hire has 2 of 3 or more in explanations also."
    )
    (late, _) = overall(submitted(20, 96, (True, 12, 12), elapsed=1400))
    assert late.startswith("Overall: hire, by what was measured: ")
    assert ", 3:20 over time, which lowers the verdict by a step; a strong hire has" in late
    assert ", 1:00 over time; a strong hire has" in next(overall(submitted(20, 96, None, elapsed=1260)))
    said = [next(overall(submitted(20, score, (True, 0, 12)))) for score in (90, 75, 50, 10)]
    assert [one.partition(", by")[0].removeprefix("Overall: ") for one in said] == [
        "lean hire", "lean hire", "lean no hire", "no hire",
    ]  # fmt: skip
    unmeasured = next(overall(submitted(20, 90, None)))
    assert "own tests" not in unmeasured
    nothing = submitted(20, 0, None)
    nothing.rounds[0].submits.clear()
    assert list(overall(nothing)) == ["Overall: no verdict, since nothing was submitted."]
    nothing.ended = "abandoned"
    assert not list(overall(nothing))


def test_marks_over_interviews_and_earlier_points_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    past = [submitted(20, score, (True, caught, 12)) for score, caught in ((40, 0), (60, 4), (90, 12))]
    for one in past:
        one.review["scale"] = None
    card.show(Streams(), past, 3, NOON)
    said = capsys.readouterr().out
    assert re.search(r"Marks over interviews\n +measured +clarify +plan +code +test +explain\n", said)
    assert re.search(r"1: 2026-11-21 +44 % +2.0 +3.0 +0.0 +0.0 +-\n +2: ", said)
    assert re.search(r"3: 2026-11-21 +94 % +2.0 +3.0 +2.0 +3.0 +-\n", said)
    assert re.search(r"The same katas before\n +scale +44, 64, now 94\n", said)
    card.show(Streams(), past, 1, NOON)
    said = capsys.readouterr().out
    assert "Marks over" not in said
    assert "before" not in said
    card.show(Streams(), past * 3, 9, NOON)
    assert "(3 earlier ones), 44, 64, 94, 44, 64, now 94" in flat(capsys.readouterr().out)


TWIST = "\n## Twist\n{0}\nNow add a `bias`.\n\n### Model answer\n\nA matrix and a vector.\n"


def test_twist_without_a_kata_is_the_last_question(desk: Path, clock: FakeClock) -> None:
    (scale(desk).folder / "interview.md").write_text(PROMPT + TWIST.format(""))
    hold(desk, clock, *["next"] * 4, "yes", *["skip"] * 4, seed=2)
    hold(desk, clock, "A vector more.", "", "1", resume=True)
    made = the_report(desk)
    assert made.ended == "finished"
    assert made.round.answers[-1].question == "Now add a `bias`."
    assert made.round.answers[-1].lines == ["A vector more."]
    kept = (desk / ".kata/interview/report-1.md").read_text()
    assert "**Now add a `bias`.** Your score: 3 of 3.\n\n- You: A vector more.\n\nMy answer:\n\n> A matrix" in kept


@pytest.fixture
def chained(desk: Path) -> Path:
    """Where scale turns into affine."""
    (scale(desk).folder / "interview.md").write_text(PROMPT + TWIST.format("<!-- kata: affine -->\n"))
    (desk / "katas/toys/affine/interview.md").write_text(PROMPT.replace("scale(x, factor=2.0)", "Affine(width)"))
    (desk / "katas/toys/affine/follow_up.md").write_text(FOLLOW_UP)
    (desk / "solutions/toys/affine/hints.md").write_text(HINTS)
    return desk


CHAIN = {"minutes": 30, "seed": 3}


def test_what_gives_the_next_part_away_is_not_asked_before_it(chained: Path, clock: FakeClock) -> None:
    marked = FOLLOW_UP.replace(
        "</summary>\n\nBecause of one", "</summary>\n\n<!-- gives away: affine -->\n\nBecause of one"
    )
    (scale(chained).folder / "follow_up.md").write_text(
        marked.replace("Because of two", "<!-- gives away: it -->\n\nTwo")
    )
    asked = [one.question for one in texts.follow_ups(scale(chained))]
    assert len(asked) == 5
    for seed in range(3, 40):
        begin = interviews.begin_body(
            [draw.Part(scale(chained), 15), draw.Part(Kata(chained, "toys", "affine"), 10, "scale")], 30, seed
        )
        report = begun(Event("interview", "", begin, NOON))
        prepared = Prepared(scale(chained), seed, report.coming("scale"))
        found = [one.question for one in prepared.asked]
        assert asked[0] not in found
        if asked[1] in found:
            break
    assert asked[1] in found


def test_chain_goes_on_with_ones_own_code_above_the_other_signature(
    chained: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hold(chained, clock, "next", "next", "next", **CHAIN) == 0
    written(chained).write_text(REFERENCE)
    hold(chained, clock, "next", "yes", *["skip"] * 5, resume=True)
    said = flat(capsys.readouterr().out)
    assert "2 katas, one of which goes on from another, each with questions at its end" in said
    assert "Now add a bias. This is what to write now" in said
    assert "class Affine __init__(self, width) forward(self, x)" in said
    assert "2 of 2: scale turns into affine (toys, level 2, about 10 minutes)" in said
    assert "Question 5" not in said  # the twist is written, and not talked about
    hold(chained, clock, "what about cost?", "next", resume=True)
    file = chained / ".kata/interview/affine.py"
    text = file.read_text()
    assert text.startswith(REFERENCE.rstrip())
    assert text.index("return x / (1 / factor)") < text.index(AT_HAND) < text.index("class Affine")
    assert is_untouched(Kata(chained, "toys", "affine"), text)
    assert not is_untouched(Kata(chained, "toys", "affine"), text.replace("raise NotImplementedError", "return 1"))
    assert "Your code for scale stands above the new signature" in flat(capsys.readouterr().out)
    hold(chained, clock, "end", "yes", resume=True)
    said = capsys.readouterr().out
    assert re.search(r"→ affine +- +- +[+]2 ", said)
    assert re.search(r"→ affine +1 +0 +0 +- +-\n", said)
    kept = (chained / ".kata/interview/report-1.md").read_text()
    assert "## affine\n\nscale turned into this: Now add a `bias`.\n\nWhat changes, in words:\n\n> A matrix and" in kept
    assert "- clarify: 0:00 of" not in kept.partition("## affine")[2]


def test_kata_that_goes_on_takes_the_place_of_what_was_written_before(
    chained: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    statement = chained / "katas/toys/affine/README.md"
    statement.write_text(statement.read_text().replace("after:", "continues: scale\nafter:"))
    hold(chained, clock, "next", "next", "next", **CHAIN)
    written(chained).write_text(REFERENCE)
    hold(chained, clock, "next", "yes", *["skip"] * 5, resume=True)
    hold(chained, clock, "next", resume=True)
    text = (chained / ".kata/interview/affine.py").read_text()
    assert re.fullmatch(r"# --- your scale \(\w+\): .*\n\n" + re.escape(REFERENCE), text)
    assert is_untouched(Kata(chained, "toys", "affine"), text)
    said = flat(capsys.readouterr().out)
    assert "affine.py begins with your answer to scale: change it." in said
    assert "stands above the new signature" not in said


@pytest.mark.parametrize("code", ["", "x = (\n"], ids=["nothing", "no Python"])
def test_chain_goes_on_whatever_was_written_before(
    chained: Path, clock: FakeClock, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hold(chained, clock, "next", "next", "next", **CHAIN)
    if code:
        written(chained).write_text(code)
    hold(chained, clock, "next", "yes", *["skip"] * 5, resume=True)
    hold(chained, clock, "next", resume=True)
    text = (chained / ".kata/interview/affine.py").read_text()
    stub = bare(stub_of(MODULE_REFERENCE))
    assert text == (f"# x = (\n\n\n{AT_HAND}\n\n{stub}" if code else stub)
    assert ("Your code for scale stands above" in flat(capsys.readouterr().out)) == bool(code)


def test_chain_is_judged_by_the_other_grader(chained: Path, terminal: Callable[..., Tty]) -> None:
    one = terminal("--minutes", "30", "--seed", "3")
    one.shows("[clarify  ", " > ")
    one.says("next", "[plan  ", " > ")
    one.says("next", "[code  ", " > ")
    written(chained).write_text(REFERENCE)
    one.says("submit", "PASS", "[test  ", " > ")
    one.says("next", "Question 1 of ")
    count = len(draw.follow_ups(texts.follow_ups(scale(chained)), 3, "scale"))
    for _ in range(count):
        one.says("skip")
    one.shows("scale turns into affine", "[plan  ", " > ")
    one.says("next", "[code  ", " > ")
    file = chained / ".kata/interview/affine.py"
    one.says("submit", "nothing is written yet", "[code  ", " > ")
    file.write_text(file.read_text().replace("raise NotImplementedError", "return self.linear(x), x.sum(-1)"))
    one.says("submit", "PASS", "affine", "this counts 100", "[test  ", " > ")
    one.says("end", "yes/no > ")
    one.says("yes", "Overall: lean hire", "Measured: 200 of 200")
    one.ends()


def test_of_several_that_may_be_meant_a_number_picks_one(
    desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    hold(desk, clock, UNSURE, "yes", "9", "2", "another thing about it", "no")
    said = flat(capsys.readouterr().out)
    assert "Type its number, or put it another way. 1 What about dtypes? 2 What about cost? 3 What about zero?" in said
    assert said.count("Which of them? Type a number from 1 to 3, or put it another way.") == 2
    assert "As for cost, x₁²." in said
    assert "As for dtypes" not in said
    one = the_report(desk).round
    assert (one.asked, one.typed, one.words, one.earned) == ([4], [], ["another thing about it"], 2)


def test_a_pick_from_what_vague_words_bring_up_earns_nothing(desk: Path, clock: FakeClock) -> None:
    hold(desk, clock, "which", "1", "about it all", "2")
    one = the_report(desk).round
    assert one.asked
    assert (one.traps, one.earned) == ([], 0)


LIKELY = "and what about zero, really"


@pytest.fixture
def clear(monkeypatch: pytest.MonkeyPatch) -> None:
    """The likeliest always has a clear lead, and is never sure."""
    monkeypatch.setattr(matching, "SURE", 2.0)
    monkeypatch.setattr(matching, "CLEAR", 0.0)
    monkeypatch.setattr(matching.Matcher.match, "__defaults__", (2.0,))


def test_what_is_likely_is_answered_until_somebody_says_no(
    desk: Path, clock: FakeClock, clear: None, capsys: pytest.CaptureFixture[str]
) -> None:
    hold(desk, clock, LIKELY)
    said = flat(capsys.readouterr().out)
    assert "I take that as: What about zero? As for zero, x₁²." in said
    assert "`no` takes that back, and so does the number of what you meant: 1 What about" in said
    assert (the_report(desk).round.typed, the_report(desk).round.earned) == ([1], 2)
    hold(desk, clock, LIKELY, "no", "next", new=True)
    assert "Then put it another way, or go on." in capsys.readouterr().out
    one = the_report(desk).round
    assert (one.asked, one.typed, one.traps, one.earned, one.words) == ([], [], [], 0, [LIKELY])


def test_the_number_of_what_was_meant_takes_back_what_was_not(
    desk: Path, clock: FakeClock, clear: None, capsys: pytest.CaptureFixture[str]
) -> None:
    hold(desk, clock, LIKELY, "1", "what about zero then", "no")
    said = flat(capsys.readouterr().out)
    other = the_report(desk).round.asked[0]
    assert said.count("I take that as: What about zero?") == 2
    assert other != 1
    assert (the_report(desk).round.asked, the_report(desk).round.typed) == ([other], [])


def test_yes_to_what_was_taken_settles_it(
    desk: Path, clock: FakeClock, clear: None, capsys: pytest.CaptureFixture[str]
) -> None:
    hold(desk, clock, LIKELY, "yes", "no")
    said = capsys.readouterr().out
    assert "Good." in said
    assert "there is no question open" in said
    assert the_report(desk).round.typed == [1]


def test_who_has_no_more_questions_is_told_how_to_go_on(
    desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    ready = ("I'm ready", "no more questions, thanks", "ok, let's go", "Can we start coding now?", "done!")
    hold(desk, clock, *ready, "Is no more than one axis ok?")
    assert capsys.readouterr().out.count("then type `next`") == len(ready)
    assert len(the_report(desk).round.words) == 1


def test_what_the_signature_says_is_told_and_earns_nothing(
    desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    statement = scale(desk).statement
    block = (
        "```python\ndef scale(\n    x: Tensor,  # any shape\n    factor: float = 2.0,  # not 0\n) -> Tensor: ...\n```\n"
    )
    statement.write_text(statement.read_text() + block)
    hold(desk, clock, "what is the default of factor?", "what is the shape of x?")
    said = flat(capsys.readouterr().out)
    assert "factor: float: not 0; it is 2.0 if you leave it out." in said
    assert "x: Tensor: any shape." in said
    one = the_report(desk).round
    assert (one.asked, one.earned, one.words) == ([], 0, [])


def test_what_is_asked_of_every_kata_is_answered_and_earns_nothing(
    desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    (desk / "katas/interview.md").write_text(
        "# Shared\n\n## device\n\n<!-- also: is it on CUDA |\nseveral cards -->\n\n### Will it run on a GPU?\n\nNo.\n"
    )
    hold(desk, clock, "will it run on a gpu", "questions", "yes")
    said = flat(capsys.readouterr().out)
    assert "Will it run on a GPU? No." in said
    assert "5 " not in said.partition("1 What about zero?")[2]
    one = the_report(desk).round
    assert (one.asked, one.earned, one.words) == ([], 0, [])


def test_a_kind_that_no_page_has_is_named(desk: Path) -> None:
    page = scale(desk).folder / "interview.md"
    page.write_text(PROMPT.replace("As for cost", "<!-- kind: cost | charm -->\n\nAs for cost"))
    (desk / "katas/interview.md").write_text("## cost\n\n<!-- also: how long may it take -->\n")
    with pytest.raises(UsageError, match=r"interview\.md names kinds that katas/interview\.md lacks: charm"):
        texts.clarifying(scale(desk))


def test_answer_survives_each_cut(desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]) -> None:
    hold(desk, clock, *["next"] * 4, "yes", "my first line", "next")
    hold(desk, clock, "    my second line", "", resume=True)
    capsys.readouterr()
    hold(desk, clock, "1", resume=True)
    said = capsys.readouterr().out
    assert "you said: my first line\nyou said:     my second line" in said
    assert "My answer" in said
    (answer,) = the_report(desk).round.answers
    assert (answer.lines, answer.score) == (["my first line", "    my second line"], 3)


def test_skipped_questions_count_0(desk: Path, clock: FakeClock) -> None:
    hold(desk, clock, *["next"] * 4, "yes", *["skip"] * 5)
    made = the_report(desk)
    assert made.ended == "finished"
    assert set(made.self_scores) == {0}


def test_hints_come_in_order_and_are_paid_once(
    desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    hold(desk, clock, "next", "next", "hint 2", "hint", "hint 1", "hint", "hint", "hint", "diagnose", "end", "yes")
    said = capsys.readouterr().out
    assert "hints come one by one, up to 3; 0 were shown so far" in said
    assert (the_report(desk).round.hints, the_report(desk).round.penalties) == (3, 35)
    assert "there is no failure to find a mistake for" in said
    assert [one.body["level"] for one in events(desk) if one.kind == "hint"] == [1, 2, 3]


def test_another_terminal_is_noticed(desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]) -> None:
    hold(desk, clock, "one")
    here, there = State(desk), State(desk)
    (made,) = reports(here.events())
    terminal = Scripted(clock, "hello", "time")
    options = argparse.Namespace(resume=True, partner=None)
    session = interviews.InterviewSession(options, desk, here, terminal, SimpleNamespace(launcher=None))  # type: ignore[arg-type]
    interview = session.resume(made)
    body = {"interview": made.id, "what": "words", "elapsed": 1.0, "kata": "scale", "text": "from there"}
    there.add("interview", "", body)
    with pytest.raises(EOFError):
        commands.run(interview)
    assert "this interview went on in another terminal" in flat(capsys.readouterr().out)
    assert the_report(desk).round.words == ["one", "from there"]
    here.close()
    there.close()


def test_file_that_is_written_in_another_terminal_stays(
    desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    hold(desk, clock, "next")
    here = State(desk)
    (made,) = reports(here.events())
    options = argparse.Namespace(resume=True, partner=None)
    session = interviews.InterviewSession(options, desk, here, Scripted(clock, "next"), SimpleNamespace(launcher=None))  # type: ignore[arg-type]
    interview = session.resume(made)
    hold(desk, clock, "next", resume=True)
    written(desk).write_text(REFERENCE)
    with pytest.raises(EOFError):
        commands.run(interview)
    assert "this interview went on in another terminal" in flat(capsys.readouterr().out)
    assert written(desk).read_text() == REFERENCE
    here.close()


def test_lost_points_lead_to_the_statement_and_to_the_question_that_was_not_asked() -> None:
    (kata,) = katas.find(["triplet_loss"])
    one = Round(kata.id, kata.topic, 2, 20)
    failed = ["contract/negative_margin", "contract/other_shapes"]
    one.submits.append(Submit("failing", 85, 100, failed, None, None))
    said = "\n".join(debrief.lost(one, kata))
    assert re.search(
        r"1 point depends on this, katas/similarity/triplet_loss/README.md:\d+: `ValueError` for a neg", said
    )
    assert "You did not ask: *Which arguments are errors?*" in said
    one.asked = list(range(1, 20))
    assert "You did not ask" not in "\n".join(debrief.lost(one, kata))
    line = int(re.findall(r"README.md:(\d+): `ValueError` for a neg", said)[0])
    assert "negative `margin`" in kata.statement.read_text().splitlines()[line - 1]


def test_set_is_what_is_drawn_from(desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]) -> None:
    (desk / "katas/sets.yaml").write_text("easy: [scale, gone]\nempty: [gone]\n")
    hold(desk, clock, set="easy")
    assert [one.kata for one in the_report(desk).rounds] == ["scale"]
    with pytest.raises(UsageError, match="no kata of the set empty has an interview"):
        hold(desk, clock, set="empty", new=True)
    with pytest.raises(UsageError, match="the set easy has no kata of topic losses; drop --set or --topic"):
        hold(desk, clock, set="easy", topic="losses", new=True)
    with pytest.raises(UsageError, match="there is no kata of level 2 in the set easy; there are: 1"):
        hold(desk, clock, set="easy", level=2, new=True)
    with pytest.raises(SystemExit):
        cli.main(["interview", "--set", "hard"], desk)
    assert "there is no set 'hard'; there are: easy, empty" in capsys.readouterr().err


def test_sets_name_katas_and_each_is_long_enough_to_draw_from() -> None:
    there = {kata.id for kata in katas.all_katas()}
    for chosen in katas.sets(ROOT).values():
        assert there.issuperset(chosen)
        assert len(set(chosen)) == len(chosen) >= 4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--minutes", "4"], "--minutes should be at least 5, got 4"),
        (["--resume"], "there is no interview to resume; begin one: nox -s interview"),
        (["--report"], "there was no interview yet; begin one: nox -s interview"),
        (["--level", "3"], "there is no kata of level 3; there are: 1"),
        (["--level", "2", "--topic", "toys"], "there is no kata of level 2 in topic toys; there are: 1"),
    ],
)
def test_bad_usage_gets_one_sentence(
    desk: Path, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["interview", *arguments], desk) == 2
    assert capsys.readouterr() == ("", f"error: {sentence}\n")
    assert not events(desk)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--topic", "poetry"], "there is no topic 'poetry'; there are: toys"),
        (["--level", "hard"], "there is no level 'hard'; there are: 1, 2, 3"),
    ],
)
def test_topics_and_levels_are_listed(
    desk: Path, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main(["interview", *arguments], desk)
    assert capsys.readouterr().err.endswith(f"error: argument {arguments[0]}: {sentence}\n")
    with pytest.raises(SystemExit):
        cli.main(["interview", "--help"], desk)
    shown = flat(capsys.readouterr().out)
    assert "only katas of this topic: toys" in shown
    assert "only katas of this level: 1, 2, 3" in shown


def test_a_kata_in_the_place_of_a_topic_means_the_kata_s_topic(capsys: pytest.CaptureFixture[str]) -> None:
    options = cli.parser().parse_args(["interview", "--topic", "rope"])
    assert options.topic == "attention"
    assert capsys.readouterr().err.endswith("rope is of the topic attention\n")


def test_resumed_interview_keeps_its_katas(desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]) -> None:
    hold(desk, clock, "a word")
    capsys.readouterr()
    assert cli.main(["interview", "--resume", "--level", "2"], desk) == 2
    assert capsys.readouterr().err == "error: --resume goes on with what was drawn; drop --level\n"


def test_open_interview_is_not_given_up_unasked(
    desk: Path, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    hold(desk, clock, "a word")
    capsys.readouterr()
    assert cli.main(["interview"], desk) == 2
    said = capsys.readouterr().err
    assert "is still open: go on with nox -s interview -- --resume, or add --new to give it up" in said
    hold(desk, clock, "another word", new=True)
    first, second = reports(events(desk))
    assert (first.ended, second.ended) == ("abandoned", "")
    capsys.readouterr()
    assert cli.main(["interview", "--report", "1"], desk) == 0
    assert "Report of interview 1" in capsys.readouterr().out
    assert cli.main(["interview", "--report", "3"], desk) == 2
    assert capsys.readouterr().err == "error: there is no interview 3; give N from 1 to 2, or no N for the last\n"


def test_missing_and_malformed_questions_are_named(desk: Path) -> None:
    kata = scale(desk)
    (kata.solutions / "hints.md").write_text("## A nudge\n\nx\n")
    with pytest.raises(UsageError, match=r"hints\.md should say something under 'The idea': restore it with git"):
        texts.hints(kata)
    (kata.solutions / "hints.md").unlink()
    with pytest.raises(UsageError, match=r"hints\.md is missing: restore it with git"):
        texts.check(kata)
    (kata.folder / "interview.md").write_text("## Prompt\n\nx\n\n## Clarifying questions\n\n### What?\n")
    with pytest.raises(UsageError, match=r"interview\.md should have questions, each with its answer"):
        texts.clarifying(kata)


def made_kata(name: str, level: int) -> Kata:
    kata = Kata(Path(), "topic", name)
    kata.__dict__["about"] = katas.About(name, "topic", level, minutes=(15, 25, 40)[level - 1])
    return kata


MANY = [made_kata(f"{letter}{level}", level) for letter in "abc" for level in (1, 2, 3)]


@pytest.mark.parametrize("minutes", [15, 20, 30, 45, 60, 120])
def test_what_is_drawn_suits_the_time_and_the_seed_decides(minutes: int) -> None:
    for seed in range(200):
        drawn = draw.draw(MANY, minutes, seed)
        assert drawn == draw.draw(list(MANY), minutes, seed)
        assert 1 <= len(drawn) <= 3
        sums = sum(part.minutes for part in drawn)
        assert sums <= minutes
        assert not any(part.after for part in drawn)
        assert sums + 15 > minutes or len(drawn) == 3
        assert minutes < 60 or any(part.kata.about.level == 3 for part in drawn)
    assert len({tuple(part.kata.id for part in draw.draw(MANY, minutes, seed)) for seed in range(50)}) > 2


TWISTS = {"a1": "b2", "b2": "c3", "b1": "gone"}


@pytest.mark.parametrize("minutes", [15, 30, 45, 60, 90])
def test_kata_and_what_it_turns_into_are_drawn_together_where_there_is_time(minutes: int) -> None:
    chained = 0
    for seed in range(200):
        drawn = draw.draw(MANY, minutes, seed, TWISTS)
        names = [part.kata.id for part in drawn]
        assert len(set(names)) == len(names)
        assert sum(part.minutes for part in drawn) <= minutes
        for before, part in zip([None, *drawn], drawn, strict=False):
            if part.after:
                assert before is not None
                assert (before.kata.id, TWISTS[before.kata.id]) == (part.after, part.kata.id)
                assert part.minutes == {"b2": 15, "c3": 25}[part.kata.id]
        chained += any(part.after for part in drawn)
    assert (chained > 0) == (minutes >= 30)
    assert minutes < 45 or chained > 130  # of 200


def test_as_many_katas_as_were_asked_for_are_drawn() -> None:
    for seed in range(100):
        for minutes, count in ((45, 1), (30, 2), (45, 3), (60, 3)):
            drawn = draw.draw(MANY, minutes, seed, TWISTS, count)
            assert len({part.kata.id for part in drawn}) == len(drawn) == count
            assert sum(part.minutes for part in drawn) <= minutes
    with pytest.raises(UsageError, match="3 katas do not fit into 40 minutes; the shortest take 45: --minutes 45"):
        draw.draw(MANY, 40, 1, TWISTS, 3)
    with pytest.raises(UsageError, match="there is 1 kata to draw 2 from; ask for fewer with --katas"):
        draw.draw(MANY[:1], 45, 1, {}, 2)


def test_three_katas_in_45_minutes_and_the_shortest_interview() -> None:
    every = katas.all_katas()
    for seed in range(100):
        assert len(draw.draw(every, 45, seed, interviews.twists_of(every), 3)) == 3
        (only,) = draw.draw(every, interviews.LEAST_MINUTES, seed)
        assert only.minutes == interviews.LEAST_MINUTES


def test_what_takes_longer_than_there_is_time_is_not_drawn() -> None:
    with pytest.raises(UsageError, match="no kata fits into 5 minutes; the shortest takes 15: --minutes 15"):
        draw.draw(MANY, 5, 1)


def test_the_time_is_told_without_being_asked(desk: Path, clock: FakeClock) -> None:
    event = Event(
        "interview", "", interviews.begin_body([draw.Part(kata, kata.about.minutes) for kata in MANY[:2]], 40, 1), NOON
    )
    report, passed = begun(event), [0.0]
    pace = pace_of(report, lambda: passed[0])
    told = []
    while (seconds := pace.seconds()) is not None:
        passed[0] += seconds
        told.append((passed[0] / 60, *pace.due()))
    assert told == [
        (15, "a1 has had its share of the time, and one more kata waits; `next` goes on."),
        (20, "Half of the time has passed."),
        (35, "Five minutes are left."),
        (40, UP),
    ]
    passed[0] = 41 * 60
    assert pace_of(report, lambda: passed[0]).due() == [UP]  # it was cut off before


def share_of(name: str, progress: dict[str, Progress]) -> float:
    """How often it is drawn."""
    chance = random.Random(1)
    seeds = [draw.suiting_seed(MANY, 30, progress, NOON, chance) for _ in range(40)]
    drawn = Counter(part.kata.id for seed in seeds for part in draw.draw(MANY, 30, seed))
    return drawn[name] / len(seeds)


def test_what_is_due_weak_or_new_is_drawn_more_often() -> None:
    def known(name: str) -> Progress:
        one = Progress(name, state="solved", score=100, best=100, attempts=1, open=False)
        one.add(Event("start", name, {"clean": True}, NOON - timedelta(days=1)))
        one.add(Event("attempt", name, {"state": "solved", "score": 100, "costs": {}}, NOON - timedelta(days=1)))
        return one

    progress = {kata.id: known(kata.id) for kata in MANY}
    usual = share_of("b2", progress)
    assert share_of("b2", progress | {"b2": Progress("b2")}) > max(3 * usual, 0.6)
    due = known("b2")
    due.rate(NOON - timedelta(days=900), 1)
    assert due.due is not None
    assert due.due <= NOON
    assert share_of("b2", progress | {"b2": due}) > max(3 * usual, 0.6)
    weak = known("b2")
    weak.failures, weak.hints, weak.best = 3, 3, 20
    assert share_of("b2", progress | {"b2": weak}) > max(2 * usual, 0.4)


def test_clock_in_words() -> None:
    assert [in_words(seconds) for seconds in (0, 59.9, 61, 5999, 6000, 100_000)] == [
        "0:00", "0:59", "1:01", "99:59", "1:40:00", "27:46:40",
    ]  # fmt: skip


def test_heading_that_is_too_long_for_a_rule_is_folded_above_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    Streams().heading("2 of 2: layer_norm turns into rms_norm (about 15 minutes)")
    said = capsys.readouterr().out.splitlines()
    assert said == ["", "2 of 2: layer_norm turns into rms_norm", "(about 15 minutes)", "─" * 40]


def test_report_can_be_read_in_40_columns(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    past = [submitted(20, score, (True, 4, 12)) for score in (40, 60)]
    past[1].review["scale"] = None
    card.show(Streams(), past, 2, NOON)
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 40
    said = flat(said)
    assert "scale score 60/100, asked +4, counts 64, submits 1, runs 0" in said
    assert "scale clarify 2, plan 3, code 1, test 2" in said
    assert "1: 2026-11-21 measured 44 %, clarify 2.0, plan 3.0, code 0.0, test 2.0" in said


def test_no_page_has_a_number_that_markdown_takes_for_a_list() -> None:
    for page in (*ROOT.glob("katas/*/*/*.md"), *ROOT.glob("solutions/*/*/hints.md")):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"^(?![-*>|#<]|\d+\. | )\S.*\n1\. ", text, re.MULTILINE), page


def test_text_cannot_steer_the_terminal() -> None:
    assert visible("a\x1b[31mb\x07\u202ec\r\n\td\x9b") == "a\\x1b[31mb\\x07\\u202ec\n\td\\x9b"
