"""Interviews and debug rounds in the browser, from draw to debrief, and the terminal in a page that holds them."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from graders.debugging.session import DebugSession
from graders.desk import diff
from graders.desk.debugged import debug_rounds
from graders.desk.state import State
from graders.faults import UsageError
from graders.interview.record import reports
from graders.interview.session import InterviewSession
from graders.judge.warm import WarmJudge
from graders.sitting.interrupts import Stopped, stoppable
from graders.sitting.pace import Pace, Word
from graders.web import sittings
from graders.web.chat import Chat, Transcript
from graders.web.runner import Turn
from graders.web.sittings import Held, arguments, parsed
from tests.browsing import violations, wait_for
from tests.test_debugging import BOTH, RIGHT, another
from tests.test_interview import FOLLOW_UP, HINTS, PROMPT
from tests.test_web import serving
from tests.test_web_pages import MARKUP, Practised
from tests.toys import REFERENCE, make_repository

SHOUTS = REFERENCE.replace("return", f"raise TypeError({MARKUP!r})\n    return")
HANGS = REFERENCE.replace("return", "while True:\n        pass\n    return")
TESTS = f"print({MARKUP!r})\nfrom scale import scale\n\n\ndef test_it():\n    assert scale(3.0) == 6.0\n"


class FakeJudge:
    """Judges nothing."""

    interrupts = 0

    def go_on(self) -> None: ...
    def close(self) -> None: ...
    def interrupt(self) -> None:
        self.interrupts += 1


def fitted(root: Path) -> Path:
    """With one kata that can be asked about."""
    make_repository(root)
    (root / "katas/toys/scale/interview.md").write_text(PROMPT)
    (root / "katas/toys/scale/follow_up.md").write_text(FOLLOW_UP)
    (root / "solutions/toys/scale/hints.md").write_text(HINTS)
    return root


def chat() -> Chat:
    judge: Any = FakeJudge()
    return Chat(Turn(), judge, "the test")


def test_whatever_is_shown_is_text() -> None:
    one = Transcript()
    table = Table.grid()
    table.add_column()
    table.add_column(overflow="fold")
    table.add_row(MARKUP, Text(MARKUP))
    one.say(MARKUP)
    one.say(f"`{MARKUP}`", style="bold")
    one.heading(MARKUP)
    one.printed(f"{MARKUP}\x1b[31m")
    one.show(Padding(table, (0, 0, 1, 2)))
    one.show(diff.drawn([MARKUP], ["", MARKUP * 2], ("one", "other")))
    one.show(Text(MARKUP, style="bold red"))
    assert len(one.said) == 7
    for html in one.said:
        assert "<script" not in html
        assert "<img" not in html
        assert "&lt;script&gt;" in html
        assert "\x1b" not in html


def test_tables_keep_their_headings_and_columns() -> None:
    one = Transcript()
    table = Table()
    table.add_column("kata")
    table.add_column("score", justify="right")
    table.add_row(Text("scale"), "77/100")
    one.show(table)
    assert '<th scope="col" class="number">score</th>' in one.said[0]
    assert '<th scope="row">scale</th><td class="number">77/100</td>' in one.said[0]


def test_line_is_waited_for_while_others_have_their_turn() -> None:
    one = chat()
    heard: list[str] = []

    def sit() -> None:
        with one.turn.taken(one.whose):
            heard.append(one.ask(lambda: "[follow-up  1:00 left] your score > "))

    thread = threading.Thread(target=sit, daemon=True)
    thread.start()
    wait_for(lambda: one.prompt)
    assert one.idle
    assert one.asked == "your score"
    with one.turn.taken("another"):
        one.send(f"  {MARKUP}\x07 ")
    thread.join(10)
    assert heard == [f"  {MARKUP}\\x07"]
    assert one.said[0].startswith('<p class="you">')
    assert "<script" not in one.said[0]


def test_button_that_is_pressed_twice_counts_once_and_another_one_counts_also() -> None:
    one = chat()
    one.send("next")
    assert one.repeats("next")
    assert not one.repeats("help")
    with one.turn.taken(one.whose):
        assert one.ask(lambda: "> ") == "next"
    one.prompt = lambda: "> "
    assert not one.repeats("next")


def test_time_is_told_while_a_line_is_waited_for() -> None:
    one = chat()
    began = time.monotonic()
    pace = Pace([Word(0.3, "Half of the time has passed.")], lambda: time.monotonic() - began)
    threading.Timer(1.5, lambda: one.send("go on")).start()
    with one.turn.taken(one.whose):
        assert one.ask(lambda: "> ", pace) == "go on"
    assert one.said[0] == '<p class="time">Half of the time has passed.</p>'


def test_closing_is_the_end_of_the_lines_and_what_runs_is_stopped() -> None:
    one = chat()
    with one.turn.taken(one.whose):
        one.close()
        assert one.judge.interrupts == 1  # type: ignore[attr-defined]
        with pytest.raises(EOFError):
            one.ask(lambda: "> ")
    one.stop()  # whose turn it is not
    assert one.judge.interrupts == 1  # type: ignore[attr-defined]


def test_form_is_read_as_the_command_line(tmp_path: Path) -> None:
    fitted(tmp_path)
    form = {"minutes": "20", "level": "", "seed": " 7 ", "way": "new", "partner": "x.html", "report": "1"}
    options = parsed(["interview", *arguments("interview", form)], tmp_path)
    assert (options.minutes, options.level, options.seed, options.new) == (20, None, 7, True)
    assert (options.partner, options.report) == (None, None)
    form = {"named": "scale --report 2", "bugs": "1", "slow": "yes"}
    options = parsed(["debug", *arguments("debug", form)], tmp_path)
    assert (options.katas, options.bugs, options.slow) == (["scale", "--report", "2"], 1, True)
    for wrong in ({"minutes": "many"}, {"topic": "--new"}, {"level": "9"}):
        with pytest.raises(UsageError):
            parsed(["interview", *arguments("interview", wrong)], tmp_path)


def test_session_goes_on_without_a_page_and_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted(tmp_path)
    monkeypatch.setattr(sittings, "WarmJudge", lambda launcher: FakeJudge())
    launcher: Any = None
    held = Held(InterviewSession, launcher, Turn(), tmp_path)
    state = State(tmp_path)
    held.begin(["--minutes=20", "--seed=7"], state)
    held.begin(["--minutes=30"], state)  # of another tab: one is enough
    assert held.chat
    wait_for(lambda: held.chat.idle)
    assert held.files == []
    assert held.session
    assert [one.name for one in held.session.commands][:2] == ["help", "prompt"]
    for line in ("next", "multiply", "next"):
        held.chat.send(line)
    wait_for(lambda: held.files)
    assert [one.path for one in held.files] == [tmp_path / ".kata/interview/scale.py"]
    held.close()
    assert not held.goes_on
    assert "suspended: nothing is lost" in held.chat.said[-1]
    with pytest.raises(UsageError, match="is still open"):
        held.begin(["--minutes=20"], state)
    held.begin(["--resume"], state)
    wait_for(lambda: held.chat.idle)
    held.chat.send("quit")
    wait_for(lambda: not held.goes_on)
    (report,) = reports(state.events())
    assert (report.minutes, report.phase, report.round.plan) == (20, "code", ["multiply"])
    state.close()


def test_sitting_that_goes_on_elsewhere_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted(tmp_path)
    monkeypatch.setattr(sittings, "WarmJudge", lambda launcher: FakeJudge())
    launcher: Any = None
    state = State(tmp_path)
    here, there = (Held(InterviewSession, launcher, Turn(), tmp_path) for _ in range(2))
    here.begin(["--minutes=20", "--seed=7"], state)
    wait_for(lambda: here.chat and here.chat.idle)
    there.begin(["--resume"], state)
    wait_for(lambda: there.chat and there.chat.idle)
    assert here.chat
    here.chat.send("next")
    wait_for(lambda: here.chat and "this interview went on in another terminal" in here.chat.said[-1])
    for one in (here, there):
        one.close()
        assert not one.goes_on
    state.close()


def test_sitting_that_was_ended_elsewhere_is_not_told_suspended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted(tmp_path)
    monkeypatch.setattr(sittings, "WarmJudge", lambda launcher: FakeJudge())
    launcher: Any = None
    state = State(tmp_path)
    here, there = (Held(InterviewSession, launcher, Turn(), tmp_path) for _ in range(2))
    here.begin(["--minutes=20", "--seed=7"], state)
    wait_for(lambda: here.chat and here.chat.idle)
    there.begin(["--resume"], state)
    for one, lines in ((there, ("end", "yes")), (here, ("next", "quit"))):
        for line in lines:
            wait_for(lambda: one.chat and one.chat.idle)  # noqa: B023
            assert one.chat
            one.chat.send(line)
        wait_for(lambda: not one.goes_on)  # noqa: B023
    assert here.chat
    assert "this interview was ended in another terminal or page" in here.chat.said[-2]
    assert "quit" in here.chat.said[-1]
    state.close()


def test_what_cannot_be_drawn_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted(tmp_path)
    monkeypatch.setattr(sittings, "WarmJudge", lambda launcher: FakeJudge())
    launcher: Any = None
    state = State(tmp_path)
    held = Held(InterviewSession, launcher, Turn(), tmp_path)
    held.begin(["--minutes=5"], state)
    wait_for(lambda: not held.goes_on)
    assert held.chat
    assert "error: no kata fits into 5 minutes" in held.chat.said[-1]
    with pytest.raises(UsageError, match=r"did you mean scale\?"):  # told in the form, before anything is begun
        Held(DebugSession, launcher, Turn(), tmp_path).begin(["--", "skale"], state)
    state.close()


def test_whoever_stops_the_judge_stops_what_waits_for_it() -> None:
    judge = WarmJudge(SimpleNamespace())

    def wait() -> None:
        with stoppable(judge):
            judge.interrupt()

    thread_of_its_own = ThreadPoolExecutor(1).submit(wait)
    with pytest.raises(Stopped, match="nothing of it counts"):
        thread_of_its_own.result()
    assert not judge.interrupted


class Sat(Practised):
    """A page in which something is sat."""

    def begin(self, path: str, **fields: str) -> Page:
        page = self.open(path)
        for label, value in fields.items():
            page.get_by_label(label.replace("_", " ").capitalize(), exact=True).fill(value)
        page.get_by_role("button", name="Begin").click()
        expect(page.locator(".clock")).to_contain_text("left", timeout=30_000)
        return page

    def says(self, page: Page, line: str, *until: str) -> None:
        """Types it, and waits for the answers."""
        count = page.locator(".log > *").count()
        page.get_by_label("What you say").fill(line)
        page.keyboard.press("Enter")
        for text in until:
            self.heard(page, text, count)

    def does(self, page: Page, button: str, *until: str) -> None:
        count = page.locator(".log > *").count()
        self.press(page, button)
        for text in until:
            self.heard(page, text, count)

    def press(self, page: Page, name: str) -> None:
        """A button, which may be one of the menu."""
        found = page.get_by_role("button", name=name, exact=True)
        page.wait_for_selector(f"button:has-text('{name}')", state="attached")
        if not found.is_visible():
            page.get_by_role("button", name="More commands").click()
        found.click()

    def heard(self, page: Page, text: str, since: int = 0) -> None:
        """It is in what was said after so many entries."""
        said = f".log > :nth-child(n + {since + 1})"
        expect(page.locator(said).filter(has_text=text).first).to_be_attached(timeout=30_000)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fitted(tmp_path)


@pytest.fixture
def sat(root: Path, browser: Browser) -> Iterator[Sat]:
    with serving(root, "--port", "0") as served:
        context = browser.new_context()
        made = Sat(root, served, context)
        yield made
        context.close()
        assert made.asked == []


def test_candidate_goes_from_the_draw_to_the_debrief(sat: Sat) -> None:
    sat.file.write_text("# mine\n")
    page = sat.open("/")
    page.get_by_role("link", name="Interview").click()
    page.get_by_label("Minutes").fill("3")
    page.get_by_label("Topic").select_option("toys")
    page.get_by_label("Minutes").evaluate("one => (one.min = 0)")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("alert")).to_have_text("--minutes should be at least 5, got 3")
    expect(page.get_by_label("Minutes")).to_have_value("3")
    expect(page.get_by_label("Topic")).to_have_value("toys")
    page = sat.begin("/interview", minutes="20", seed="7")
    expect(page.locator(".pinned")).to_contain_text("Write scale(x, factor=2.0).")
    expect(page.locator(".pane.code")).to_contain_text("You will write here")
    sat.says(page, "Does it rain?", "I did not understand")
    sat.says(page, "what about dtypes", "What about dtypes?", "As for dtypes, x₁².")
    sat.does(page, "questions", "the list costs 10 points; show it?")
    sat.does(page, "Yes", "What about zero?", "What about dtypes? (asked)")
    sat.does(page, "next", "Say how you will do it")
    sat.says(page, "multiply, and refuse 0", "noted")
    sat.does(page, "next", "Write it into .kata/interview/scale.py, in the editor here.")
    sat.ready(page)
    sat.write(page, REFERENCE)
    sat.does(page, "run", ".kata/interview/scale_test.py is not there yet. Write a small file of tests to start from?")
    sat.does(page, "Yes", "wrote .kata/interview/scale_test.py")
    expect(page.locator(".cm-content")).to_contain_text("My own tests of scale.")
    sat.write(page, TESTS)
    page.keyboard.press("Control+Enter")
    sat.heard(page, "scale_test.py: passed")
    sat.heard(page, "<script>document.title='taken'</script>")
    page.get_by_role("button", name="scale.py", exact=True).click()
    expect(page.locator(".cm-content")).to_contain_text("x times factor")
    sat.write(page, SHOUTS)
    page.keyboard.press("Control+Enter")
    sat.heard(page, "this counts ")
    expect(page.locator("[aria-current=step]")).to_contain_text("Test")
    expect(page.locator(".log table.code").filter(has_text="<script>document.title='taken'</script>")).to_be_visible()
    assert "taken" not in page.title()
    sat.does(page, "hint", "Hint 1 of 3 (-5 points)", "Look there.")
    sat.write(page, REFERENCE)
    sat.does(page, "submit", "this counts 100, less 15 for help, plus 2 for questions: 87")
    sat.does(page, "next", "Question 1 of ", "your tests pass on a right answer")
    answer_all(sat, page)
    sat.heard(page, "Measured: 87 of 100")
    assert sat.file.read_text() == "# mine\n"
    page.get_by_role("link", name="Report and debrief").click()
    expect(page.locator("main")).to_contain_text("You asked, and I did not understand: Does it rain?")
    expect(page.locator("main")).to_contain_text("Measured: 87 of 100")
    page.get_by_role("link", name="Interview").click()
    expect(page.locator("main")).to_contain_text("87 of 100")


def begin_to_write(sat: Sat, page: Page) -> None:
    sat.does(page, "next", "Say how you will do it")
    sat.does(page, "next", "Write it into")
    sat.ready(page)


def answer_all(sat: Sat, page: Page) -> None:
    """The follow-up questions, of which it is said how many there are, and the plan."""
    question = page.locator(".log .bold").filter(has_text="Question 1 of ").inner_text()
    for _ in range(int(question.removeprefix("Question 1 of ")[0])):
        sat.says(page, f"So that {MARKUP}")
        sat.says(page, "it is quick.")
        sat.does(page, "That is my answer", "My answer, point by point", "Which of these did you say?")
        sat.does(page, "All of them")
    sat.heard(page, "Your plan, and below it the idea")
    sat.does(page, "3")


def test_both_tabs_show_what_is_said_and_a_server_that_was_killed_is_gone_on_with(sat: Sat) -> None:
    page = sat.begin("/interview", minutes="20", seed="7")
    other = sat.open("/interview")
    expect(other.locator(".pinned")).to_contain_text("Write scale(x, factor=2.0).")
    sat.says(page, "what about cost", "As for cost")
    sat.heard(other, "what about cost")
    sat.says(other, "next", "Say how you will do it")
    sat.heard(page, "Say how you will do it")
    page.reload()
    sat.heard(page, "what about cost")
    sat.says(page, "next", "Write it into")
    sat.ready(page)
    sat.ready(other)
    sat.write(page, "# before\n")
    expect(other.locator(".cm-content")).to_contain_text("# before")
    other.close()
    sat.served.process.send_signal(signal.SIGKILL)
    sat.served.process.wait()
    expect(page.get_by_text("Connection lost")).to_be_visible()
    page.click(".cm-content")
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("# while it was gone")
    page.get_by_label("What you say").fill("run")
    page.keyboard.press("Enter")
    expect(page.get_by_label("What you say")).to_have_value("run")
    page.wait_for_timeout(1500)
    with serving(sat.root) as again:
        page.get_by_role("button", name="Go on with it").click()
        sat.heard(page, "goes on: ")
        sat.ready(page)
        expect(page.locator(".cm-content")).to_contain_text("# while it was gone")
        wait_for(lambda: "# while it was gone" in (sat.root / ".kata/interview/scale.py").read_text())
        sat.does(page, "quit", "suspended: nothing is lost")
        page.get_by_role("link", name="Go on").click()
        page.get_by_role("button", name="Go on with it").click()
        sat.heard(page, "goes on: ")
        again.process.send_signal(signal.SIGINT)  # suspends it
        assert again.process.wait(timeout=30) == 0
    state = State(sat.root)
    assert [one.phase for one in reports(state.events())] == ["code"]
    state.close()


def test_words_in_the_line_are_not_lost(sat: Sat) -> None:
    page = sat.begin("/interview", minutes="20", seed="7")
    line = page.get_by_label("What you say")
    sat.says(page, "next", "Say how you will do it")
    line.fill("multi")
    page.reload()
    expect(line).to_have_value("multi")
    page.evaluate("window.socket.io.engine.transport.ws.send = () => {}")
    line.fill("multiply")
    page.keyboard.press("Enter")
    expect(line).to_have_value("")
    page.keyboard.insert_text("by it")
    page.evaluate("window.socket.io.engine.close()")
    expect(line).to_have_value("multiply\nby it")
    page.evaluate("katas.took('multiply')")  # as is said where it was heard nevertheless
    expect(line).to_have_value("by it")
    line.fill("x" * 10_001)
    page.wait_for_function("window.socket.connected")
    page.keyboard.press("Enter")
    expect(page.locator(".q-notification")).to_have_text("too long: say it in at most 10,000 characters, not 10,001")
    expect(line).to_have_value("x" * 10_001)
    line.fill("3 numbers")
    sat.press(page, "plan")
    sat.press(page, "plan")
    expect(line).to_have_value("plan 3 numbers")


@pytest.mark.usefixtures("twin")
def test_next_file_is_opened_once_it_is_said_which_version_is_kept(sat: Sat) -> None:
    page = sat.open("/interview")
    page.get_by_label("Katas").select_option("2")
    page.get_by_label("Minutes").fill("60")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator(".clock")).to_contain_text("left", timeout=30_000)
    sat.says(page, "next", "Say how you will do it")
    sat.says(page, "multiply", "noted")
    sat.says(page, "next", "Write it into")
    sat.ready(page)
    sat.write(page, "# one\n")
    page.wait_for_function("katas.saved === '# one\\n'")
    page.keyboard.insert_text("# two")
    (written,) = (sat.root / ".kata/interview").glob("*.py")
    written.write_text("# elsewhere\n")
    both, line = page.get_by_label("Two versions"), page.get_by_label("What you say")
    expect(both).to_be_visible()
    line.fill("submit")
    page.keyboard.press("Enter")
    expect(page.locator(".q-notification")).to_have_text("decide first which of the two versions you keep")
    expect(line).to_have_value("submit")
    sat.says(page, "next", "Look for what might break it")
    sat.says(page, "next", "which counts 0; go on?")
    sat.says(page, "yes", "Question 1 of ")
    answer_all(sat, page)
    sat.says(page, "next", "Say how you will do it")
    sat.says(page, "next", "Write it into")
    expect(both).to_be_visible()
    page.get_by_role("button", name="Keep what I wrote here").click()
    expect(page.locator(".cm-content")).to_contain_text("factor=2.0")
    assert written.read_text() == "# one\n# two"


def test_call_that_hangs_is_stopped_and_other_katas_wait_for_their_turn(sat: Sat) -> None:
    page = sat.begin("/interview", minutes="20", seed="7")
    begin_to_write(sat, page)
    other = sat.open("/kata/scale")
    sat.write(page, HANGS)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".status")).to_contain_text(" s in scale(", timeout=30_000)
    sat.write(other, REFERENCE)
    other.keyboard.press("Control+Enter")
    expect(other.locator(".status")).to_have_text("waits for its turn after the interview")
    page.get_by_role("button", name="Stop").click()
    sat.heard(page, "stopped: nothing of it counts, and the clock runs on")
    expect(other.locator("div.card .verdict")).to_have_text("PASS", timeout=30_000)
    sat.write(page, REFERENCE)
    sat.does(page, "submit", "this counts 100")


def test_nothing_is_promised_once_it_is_over(sat: Sat) -> None:
    page = sat.begin("/interview", minutes="20", seed="7")
    expect(page.locator(".room")).to_contain_text("You will write here")
    sat.does(page, "quit", "suspended: nothing is lost")
    expect(page.locator(".room")).to_be_empty()


def test_learner_finds_and_mends_the_bugs_of_a_round(sat: Sat) -> None:
    page = sat.begin("/debug", katas="scale", minutes="15")
    sat.heard(page, ".kata/debug/scale.py is a right answer with 2 bugs planted in it.")
    sat.ready(page)
    assert (sat.root / ".kata/debug/scale.py").read_text() == BOTH
    page.locator(".cm-line").nth(5).click()
    page.get_by_role("button", name="bug", exact=True).click()
    expect(page.get_by_label("What you say")).to_have_value("bug 6 ")
    page.get_by_label("What you say").fill("bug 9 it looks wrong")
    page.get_by_role("button", name="bug", exact=True).click()
    expect(page.get_by_label("What you say")).to_have_value("bug 6 it looks wrong")
    page.get_by_label("What you say").fill("bug 6 ")
    page.keyboard.insert_text("the factor divides")
    page.keyboard.press("Enter")
    sat.heard(page, "noted: line 6")
    sat.does(page, "submit", "0 of 2 planted bugs are gone")
    sat.write(page, RIGHT)
    page.keyboard.press("Control+Enter")
    sat.heard(page, "all planted bugs are gone")
    sat.heard(page, "Report of debug round 1: scale")
    page.get_by_role("link", name="Report again").click()
    expect(page.locator("main")).to_contain_text("the factor divides; multiply by it")
    state = State(sat.root)
    (made,) = debug_rounds(state.events())
    state.close()
    assert made.mended == 2


@pytest.fixture
def twin(root: Path) -> None:
    another(root)


@pytest.mark.usefixtures("twin")
def test_round_of_two_files_has_an_editor_of_each(sat: Sat) -> None:
    page = sat.begin("/debug", katas="scale twin", minutes="45")
    sat.ready(page)
    page.get_by_role("button", name="twin.py", exact=True).click()
    expect(page.locator(".cm-content")).to_contain_text("def twin(")
    page.locator(".cm-line").nth(4).click()
    page.get_by_role("button", name="bug", exact=True).click()
    expect(page.get_by_label("What you say")).to_have_value("bug twin 5 ")
    page.get_by_label("What you say").fill("bug scale 7 it looks wrong")
    page.get_by_role("button", name="bug", exact=True).click()
    expect(page.get_by_label("What you say")).to_have_value("bug twin 5 it looks wrong")
    sat.write(page, RIGHT.replace("scale(", "twin("))
    page.get_by_role("button", name="scale.py", exact=True).click()
    expect(page.locator(".cm-content")).to_contain_text("def scale(")
    sat.write(page, RIGHT)
    page.keyboard.press("Control+Enter")
    sat.heard(page, "All 2 files: scale and twin")
    assert (sat.root / ".kata/debug/twin.py").read_text() == RIGHT.replace("scale(", "twin(")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 768), ("dark", 360)])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    sat: Sat, browser: Browser, scheme: Literal["light", "dark"], width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    here = Sat(sat.root, sat.served, context)
    for path in ("/interview", "/debug"):
        page = here.open(path)
        assert violations(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page = here.begin("/debug", katas="scale", minutes="15")
    here.heard(page, "planted in it")
    for line, until in (("help", "this list"), ("hint", "Hint 1"), ("submit", "FAIL"), ("diff", "nothing")):
        here.says(page, line, until)
    for shown, pane in (("Code", ".cm-content"), ("Talk", ".log")):
        if width < 800:
            page.get_by_role("button", name=shown, exact=True).click()
        page.wait_for_selector(pane)
        assert page.locator(".pane:visible").count() == (1 if width < 800 else 2)
        assert violations(page) == [], shown
        assert page.evaluate("document.documentElement.scrollWidth") == width
    here.says(page, "end", "this ends the round")
    assert violations(page) == []
    here.does(page, "Yes", "Report of debug round")
    page.get_by_role("link", name="Report again").click()
    expect(page.locator(".log")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    context.close()


EDITOR = "Python of scale; Escape, then Tab leaves the editor"


def go_to(page: Page, wanted: str) -> None:
    """By Tab alone, and Escape where that would be typed."""
    for _ in range(60):
        if page.evaluate("document.activeElement.matches('.cm-content')"):
            page.keyboard.press("Escape")
        page.keyboard.press("Tab")
        if page.evaluate("(document.activeElement.ariaLabel || document.activeElement.textContent).trim()") == wanted:
            return
    raise AssertionError(f"Tab does not lead to {wanted}")


def types(page: Page, *lines: str) -> None:
    for line in lines:
        page.keyboard.insert_text(line)
        page.keyboard.press("Enter")


def test_keyboard_alone_suffices_for_an_interview(sat: Sat) -> None:
    page = sat.begin("/interview", minutes="20", seed="7")
    go_to(page, "next")
    page.keyboard.press("Enter")
    sat.heard(page, "Say how you will do it")
    wait_for(lambda: page.evaluate("document.activeElement.ariaLabel") == "What you say")
    types(page, "multiply")
    sat.heard(page, "noted")
    types(page, "next")
    sat.heard(page, "Write it into")
    sat.ready(page)
    go_to(page, EDITOR)
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(REFERENCE)
    page.keyboard.press("Control+Enter")
    sat.heard(page, "this counts 100")
    go_to(page, "What you say")
    types(page, "next")
    sat.heard(page, "Question 1 of ")
    question = page.locator(".log .bold").filter(has_text="Question 1 of ").inner_text()
    for number in range(int(question.removeprefix("Question 1 of ")[0])):
        sat.heard(page, f"Question {number + 1} of ")
        types(page, "it is quick")
        for button, until in (("That is my answer", "Which of these did you say?"), ("All of them", "")):
            page.wait_for_selector(f"button:has-text('{button}')")
            go_to(page, button)
            page.keyboard.press("Enter")
            sat.heard(page, until)
    sat.heard(page, "Your plan, and below it the idea")
    page.get_by_role("button", name="3", exact=True).wait_for()
    go_to(page, "3")
    page.keyboard.press("Enter")
    sat.heard(page, "Measured: 100 of 100")


def test_keyboard_alone_suffices_for_a_debug_round(sat: Sat) -> None:
    page = sat.begin("/debug", katas="scale", minutes="15")
    sat.ready(page)
    go_to(page, "What you say")
    types(page, "bug 6 the factor divides")
    sat.heard(page, "noted: line 6")
    go_to(page, EDITOR)
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(RIGHT)
    page.keyboard.press("Control+Enter")
    sat.heard(page, "Report of debug round 1: scale")
    go_to(page, "Report again")
    page.keyboard.press("Enter")
    page.wait_for_url("**/debug/1")


def test_other_files_are_never_written(sat: Sat, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("secret = 1\n")
    page = sat.begin("/interview", minutes="20", seed="7")
    begin_to_write(sat, page)
    written = sat.root / ".kata/interview/scale.py"
    written.unlink()
    written.symlink_to(secret)
    sat.write(page, REFERENCE)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".q-notification").first).to_be_visible()
    page.wait_for_timeout(2500)
    assert secret.read_text() == "secret = 1\n"
