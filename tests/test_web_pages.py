"""`web` in a real browser: a kata from the first page to PASS, and all that goes wrong on the way."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from graders.catalogue import katas
from graders.desk import attempts
from graders.desk.state import State
from graders.faults import ROOT
from graders.sandbox.messages import message_in
from graders.web.cards import TEMPLATES
from graders.web.language import misspelt
from graders.web.messages import sequence_of
from tests.browsing import violations, wait_for
from tests.test_report import solved
from tests.test_web import Served, serving
from tests.toys import HALVES, REFERENCE, add_other, make_repository

WRONG = REFERENCE.replace("x / (1 / factor)", "x / factor")
HANGS = WRONG.replace("return", "while True:\n        pass\n    return")
CRASHES = WRONG.replace("return", "import ctypes, os\n    os.abort()\n    return")
CARD = "(document.querySelector('[data-at]')?.dataset.at || '')"  # another one after each run
MARKUP = "</pre><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
PRINTS = WRONG.replace("return", f"for _ in range(10_000):\n        print({MARKUP!r})\n    return")
HINTS = "# Hints\n\n## A nudge\n\nLook there.\n\n## The idea\n\nDivide.\n\n## Nearly the code\n\n    x / ...\n"
FOLLOW_UP = "# Follow-up\n\n<details>\n<summary>Why $x$?</summary>\n\nSo.\n\n</details>\n"


class Practised:
    """A toy repository, served, and a context of a browser that reaches no other host."""

    def __init__(self, root: Path, served: Served, context: BrowserContext) -> None:
        self.root, self.served, self.context = root, served, context
        self.file = root / "katas/toys/scale/scale.py"
        self.asked: list[str] = []
        context.route(lambda url: urlsplit(url).hostname != "127.0.0.1", self.refuse)

    def refuse(self, route: Route) -> None:
        self.asked.append(route.request.url)
        route.abort()

    def open(self, path: str = "/kata/scale") -> Page:
        page = self.context.new_page()
        page.goto(f"http://127.0.0.1:{self.served.port}{path}?token={self.served.token}")
        if path.startswith("/kata/"):
            self.ready(page)
        return page

    def ready(self, page: Page) -> None:
        page.wait_for_selector(".cm-content[aria-label]", state="attached")

    def write(self, page: Page, text: str) -> None:
        page.click(".cm-content")
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(text)

    def chooses(self, page: Page, name: str) -> None:
        """A button of the menu, which stays open."""
        found = page.get_by_role("button", name=name)
        if not found.is_visible():
            page.get_by_role("button", name="More").click()
        found.click()

    def run(self, page: Page, text: str, verdict: str) -> None:
        before = page.evaluate(CARD)
        self.write(page, text)
        page.keyboard.press("Control+Enter")
        page.wait_for_function(f"before => {CARD} !== before", arg=before)
        expect(page.locator("div.card .verdict")).to_have_text(verdict)
        expect(page.locator(".status")).to_have_text("")

    def states(self) -> list[str]:
        state = State(self.root)
        found = [event.body["state"] for event in attempts.attempts_of(state, katas.find_one("scale", self.root))]
        state.close()
        return found


MORE = "asked: often\naliases: [shifted]\ncontinues: scale\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_repository(tmp_path_factory.mktemp("web"))
    (made / "solutions/toys/scale/hints.md").write_text(HINTS)
    (made / "katas/toys/scale/follow_up.md").write_text(FOLLOW_UP)
    statement = made / "katas/toys/affine/README.md"
    statement.write_text(statement.read_text().replace("topic:", f"{MORE}topic:", 1))
    shutil.copy(ROOT / ".gitignore", made)
    for words in ("init -q", "add .", "-c user.name=Ada -c user.email=ada@example.org commit -qm Toys"):
        subprocess.run(["git", "-C", made, *words.split()], check=True)
    return made


@pytest.fixture(scope="module")
def served(root: Path) -> Iterator[Served]:
    with serving(root, "--port", "0") as made:
        yield made


@pytest.fixture
def practised(root: Path, served: Served, browser: Browser) -> Iterator[Practised]:
    """The stub, no history, and no review begun."""
    state = State(root)
    state.database.execute("DELETE FROM events")
    attempts.begin(state, katas.find_one("scale", root), "reset")
    state.database.execute("DELETE FROM events")
    state.close()
    shutil.rmtree(root / ".kata/review", ignore_errors=True)
    context = browser.new_context()
    made = Practised(root, served, context)
    yield made
    context.close()
    assert made.asked == []


def test_next_in_a_review_opens_the_next_that_is_due(practised: Practised) -> None:
    state = State(practised.root)
    for days, kata in ((40, "scale"), (30, "affine")):
        state.insert(solved(state.now() - timedelta(days=days), kata, 1.0))
    state.close()
    page = practised.open("/")
    page.get_by_role("button", name="Review scale").click()
    page.wait_for_url("**/kata/scale?via=review")
    practised.ready(page)
    practised.chooses(page, "Next kata")
    page.wait_for_url("**/kata/affine?via=review")


def test_kata_is_solved_from_the_first_page_on(practised: Practised) -> None:
    page = practised.open("/")
    page.get_by_role("link", name="scale", exact=True).click()
    practised.ready(page)
    expect(page.locator(".pane.statement h1")).to_have_text("scale")
    practised.run(page, WRONG, "FAIL")
    card = page.locator("div.card")
    expect(card).to_contain_text("the factor divides; multiply by it")
    expect(card).to_contain_text("should be")
    assert re.search(r"numerics\s+0/\d+", card.inner_text())
    expect(page.get_by_text("Why")).to_have_count(0)
    practised.run(page, REFERENCE, "PASS")
    expect(card).to_contain_text("Since the last run: numerics")
    expect(card).to_contain_text("it comes back for review in")
    expect(page.locator(".pane.statement summary math")).to_be_visible()
    assert practised.file.read_text() == REFERENCE
    assert practised.states() == ["failing", "solved"]
    page.get_by_role("button", name="Next: affine").click()
    page.wait_for_url("**/kata/affine")
    git = ["git", "-C", str(practised.root), "status", "--porcelain"]
    changed = subprocess.run(git, check=True, capture_output=True, text=True).stdout
    assert changed == " M katas/toys/affine/affine.py\n M katas/toys/scale/scale.py\n"  # the one goes on from the other
    subprocess.run([*git[:3], "checkout", "-q", "katas/toys/affine/affine.py"], check=True)


def test_call_that_hangs_shows_its_clock_and_the_next_run_ends_it(practised: Practised) -> None:
    page = practised.open()
    practised.write(page, HANGS)
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".status")).to_contain_text(re.compile(r"judging 1?\d/19, [2-6] s in scale\("), timeout=30_000)
    practised.write(page, f"{HANGS}# typed meanwhile\n")
    expect(practised.open("/").locator(".map")).to_contain_text("affine")  # its limit is ten seconds, so this is quick
    expect(page.locator(".status")).to_contain_text(re.compile(r"\d s in scale\("))
    began = time.monotonic()
    practised.run(page, REFERENCE, "PASS")
    assert time.monotonic() - began < 8
    assert practised.states() == ["solved"]


@pytest.mark.parametrize("how", ["button", "Escape"])
def test_run_is_stopped_and_the_card_of_an_earlier_text_is_grey(practised: Practised, how: str) -> None:
    page = practised.open()
    practised.run(page, WRONG, "FAIL")
    expect(page.locator(".pane.card .earlier")).to_have_count(0)
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_hidden()
    practised.write(page, HANGS)
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".status")).to_contain_text("s in scale(", timeout=30_000)
    expect(page.locator(".pane.card .earlier")).to_have_count(1)
    if how == "button":
        stop.click()
    else:
        page.keyboard.press("Escape")
    expect(stop).to_be_hidden()
    expect(page.locator(".status")).to_have_text("the card is of an earlier version")
    assert practised.states() == ["failing"]
    practised.run(page, REFERENCE, "PASS")
    expect(page.locator(".pane.card .earlier")).to_have_count(0)


def test_a_call_is_tried_beside_the_card(practised: Practised) -> None:
    page = practised.open()
    tried, call = page.locator(".pane.try .tried"), page.locator("#call")
    failing = page.get_by_role("button", name="Try the failing call")
    expect(failing).to_be_hidden()
    practised.write(page, PRINTS.replace("10_000", "2"))
    page.get_by_role("button", name="Try", exact=True).press("Enter")
    expect(page.locator(".pane.card")).to_be_hidden()
    call.fill("scale(torch.ones(2))")
    call.press("Control+Enter")
    expect(tried).to_contain_text("Not as expected: the output: 2 of 2 differ; worst at [0]: should be 2, got 0.5")
    expect(tried.locator("pre").nth(0)).to_have_text("(2,) float32\ntensor([0.5000, 0.5000])")
    expect(tried.locator("pre").nth(1)).to_have_text("(2,) float32\ntensor([2., 2.])")
    expect(tried.locator("pre").nth(2)).to_contain_text("<script>document.title='taken'</script>")
    assert practised.states() == []
    page.reload()
    practised.ready(page)
    page.get_by_role("button", name="Try", exact=True).click()
    expect(call).to_have_value("scale(torch.ones(2))")
    page.evaluate("text => document.getElementById('call').value = text", "1" * 2_000_000)
    page.get_by_role("button", name="Try it").click()
    expect(page.locator(".pane.try .trouble")).to_contain_text("a try should have at most 50,000 characters")
    practised.run(page, WRONG, "FAIL")
    expect(page.locator(".pane.try")).to_be_hidden()
    smallest = page.locator(".card dt", has_text="smallest").locator("+ dd")
    expect(smallest).to_have_text(re.compile(r"scale\(x=\[.*\) gives \[.*\], should be \["))
    failing.click()
    expect(tried).to_contain_text("Not as expected")
    shown, filled = (
        [float(number) for number in re.findall(r"-?\d+\.?\d*", text)]
        for text in (
            smallest.inner_text().partition(") gives")[0],
            call.input_value().replace("dtype=torch.float64", ""),
        )
    )
    assert filled == pytest.approx(shown, rel=1e-4)
    practised.run(page, REFERENCE, "PASS")
    expect(failing).to_be_hidden()
    assert "taken" not in page.title()


def test_other_right_answers_are_offered_below_a_card_that_says_pass(tmp_path: Path, browser: Browser) -> None:
    root = make_repository(tmp_path)
    add_other(root)
    with serving(root, "--port", "0") as served, contextlib.closing(browser.new_context()) as context:
        practised = Practised(root, served, context)
        page = practised.open()
        offered, other = (
            page.get_by_role("button", name="Other right answers"),
            page.locator("summary", has_text="Twice"),
        )
        expect(offered).to_be_hidden()
        practised.run(page, WRONG, "FAIL")
        expect(offered).to_be_hidden()
        practised.run(page, REFERENCE, "PASS")
        offered.click()
        expect(other).to_have_text("two_halves: Twice the half.")
        other.click()
        expect(page.locator("details[open] pre")).to_have_text(HALVES.rstrip())
        rows = page.locator(".pane.card > * > .facts dd")
        expect(rows).to_have_text([re.compile(r"many: \d+ operators \(reference \d+\), .* in use")] * 2)
        assert violations(page) == []
        (root / "solutions/toys/scale/alternatives/zeno.py").write_text(HANGS)
        offered.click()
        expect(page.locator("summary", has_text="zeno")).to_be_visible()
        began = time.monotonic()
        practised.run(page, WRONG, "FAIL")
        assert time.monotonic() - began < 9.5  # a call alone takes ten
        expect(offered).to_be_hidden()
        expect(page.locator(".pane.card")).not_to_contain_text("two_halves")
        shutil.rmtree(root / "solutions")
        practised.run(page, REFERENCE, "PASS")
        expect(offered).to_be_hidden()


def test_a_try_is_stopped(practised: Practised) -> None:
    page = practised.open()
    page.get_by_role("button", name="Try", exact=True).click()
    page.locator("#call").fill("while True:\n    pass")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator(".status")).to_have_text("trying the call")
    page.keyboard.press("Escape")
    expect(page.locator(".pane.try")).to_contain_text("the try was stopped")
    page.locator("#call").fill("1 + 1")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator(".tried pre").first).to_have_text("2")
    practised.run(page, REFERENCE, "PASS")


def test_mark_goes_with_its_line_and_goes_away_once_that_is_mended(practised: Practised) -> None:
    page = practised.open()
    practised.run(page, HANGS.replace("while True", "1 / 0\n    while True"), "FAIL")
    marked = page.locator(".cm-line.marked")
    expect(marked).to_have_text("    1 / 0")
    page.evaluate("katas.view.dispatch({ changes: { from: 0, insert: '# new\\n\\n' } })")
    expect(marked).to_have_text("    1 / 0")
    page.evaluate("text => katas.replace(text)", page.evaluate("katas.text()").replace("1 / 0", "1 / 1"))
    expect(marked).to_have_count(0)
    expect(page.locator(".cm-gutterElement.marked")).to_have_count(0)


def test_line_numbers_stay_beside_their_lines_in_any_size(practised: Practised) -> None:
    page = practised.open()
    practised.run(page, WRONG.replace("return", "1 / 0\n    return") + "# more\n" * 12, "FAIL")
    expect(page.locator(".cm-line.marked")).to_have_count(1)
    tops = """() => [".cm-lineNumbers .cm-gutterElement:last-child", ".cm-line:last-child"].map(
        (one) => document.querySelector(one).getBoundingClientRect().top)"""
    for name in ("Larger", "Larger", "Larger", "Smaller", "Smaller", "Smaller", "Smaller"):
        practised.chooses(page, f"{name} letters")
        page.wait_for_function(f"() => {{ const [one, other] = ({tops})(); return Math.abs(one - other) < 2 }}")


def test_text_far_too_long_changes_nothing(practised: Practised) -> None:
    page = practised.open()
    before = page.evaluate("katas.text()")
    page.evaluate("text => katas.view.dispatch({ changes: { from: 0, insert: text } })", "# long\n" * 200_000)
    expect(page.locator(".q-notification").first).to_contain_text("that text is too long for an answer; nothing")
    assert page.evaluate("katas.text()") == before


def test_crash_a_syntax_error_and_a_flood_are_told_as_text(practised: Practised) -> None:
    page = practised.open()
    practised.run(page, CRASHES, "FAIL")
    expect(page.locator("div.card")).to_contain_text("was ended by SIG")
    practised.run(page, PRINTS, "FAIL")
    expect(page.locator("div.card")).to_contain_text("<script>document.title='taken'</script>")
    expect(page.locator("div.card")).to_contain_text("… (it printed more)")
    assert "taken" not in page.title()
    practised.run(page, "\n\n\ndef scale(:\n", "ERROR")
    expect(page.locator(".cm-lineNumbers .marked")).to_have_text("4")
    page.click(".cm-content")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Enter")
    expect(page.locator(".cm-lineNumbers .marked")).to_have_text("5")
    expect(page.locator(".status")).to_have_text("the card is of an earlier version")


def test_twenty_runs_in_a_second_come_to_the_last(practised: Practised) -> None:
    page = practised.open()
    practised.write(page, REFERENCE)
    for _ in range(20):
        page.keyboard.press("Control+Enter")
    expect(page.locator("div.card .verdict")).to_have_text("PASS", timeout=30_000)
    expect(page.locator(".status")).to_have_text("", timeout=30_000)
    assert practised.states() == ["solved"]


def test_another_editor_is_followed_and_neither_text_is_lost(practised: Practised) -> None:
    page, other = practised.open(), practised.open()
    for text in ("# 😀🙀\n", "# 😁🚀\n", WRONG):  # whose halves are partly the same
        practised.file.write_text(text)
        expect(page.locator(".cm-content")).to_contain_text(text.splitlines()[-1].strip())
    practised.write(page, f"{REFERENCE}# typed")
    expect(other.locator(".cm-content")).to_contain_text("# typed")
    assert practised.file.read_text() == f"{REFERENCE}# typed"
    page.click(".cm-content")
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(" here")
    practised.file.write_text("# elsewhere\n")
    both = page.get_by_label("Two versions")
    expect(both).to_contain_text("+# elsewhere")
    expect(both).to_contain_text("-# typed here")
    page.get_by_role("button", name="Keep what I wrote here").click()
    expect(both).not_to_be_visible()
    expect(other.locator(".cm-content")).to_contain_text("# typed here")
    assert practised.file.read_text() == f"{REFERENCE}# typed here"
    page.keyboard.insert_text("#")
    page.click(".cm-content")
    page.keyboard.insert_text("mine")
    practised.file.write_text("# again\n")
    page.get_by_role("button", name="Take the file").click()
    expect(page.locator(".cm-content")).to_have_text("# again")
    page.reload()
    practised.ready(page)
    page.get_by_role("button", name="History").click()
    attempts_made = page.get_by_label("Attempts").get_by_role("button")
    attempts_made.nth(-1).click()
    expect(page.locator(".diff")).to_have_text("# elsewhere")
    attempts_made.nth(-2).click()
    page.get_by_role("button", name="as it was").click()
    expect(page.locator(".diff")).to_contain_text("mine")
    page.get_by_role("button", name="attempt 1").click()
    expect(page.locator(".diff .minus")).to_have_text("-# elsewhere")
    page.get_by_role("button", name="Bring it back").click()
    expect(page.locator(".cm-content")).to_contain_text("mine")
    page.get_by_role("button", name="now").click()
    expect(page.locator(".diff")).to_have_text("no difference")


def test_what_was_typed_last_on_a_page_that_was_left_does_not_come_again(practised: Practised) -> None:
    page = practised.open()
    practised.write(page, "# one\n")
    page.wait_for_function("katas.saved === '# one\\n'")
    page.keyboard.insert_text("# two\n")
    page.get_by_role("link", name="Report").click()
    page.wait_for_url("**/report")
    wait_for(lambda: practised.file.read_text() == "# one\n# two\n")
    practised.file.write_text("# elsewhere\n")
    page.go_back()
    practised.ready(page)
    page.wait_for_timeout(500)
    expect(page.locator(".cm-content")).to_have_text("# elsewhere")
    assert practised.file.read_text() == "# elsewhere\n"


def test_a_fork_without_solutions_compares_nothing_with_them(practised: Practised) -> None:
    state = State(practised.root)
    state.insert(solved(state.now(), "scale", 1.0))
    state.close()
    solutions = practised.root / "solutions"
    away = solutions.rename(practised.root / "away")
    try:
        page = practised.open()
        page.get_by_role("button", name="History").click()
        expect(page.get_by_role("heading", name="Attempt 1")).to_be_visible()
        expect(page.get_by_role("button", name="the reference")).to_have_count(0)
    finally:
        away.rename(solutions)


def test_hint_and_reset_are_asked_for_twice(practised: Practised) -> None:
    page = practised.open()
    practised.write(page, WRONG)
    page.get_by_role("button", name="Hint").click()
    expect(page.get_by_text("Press Hint again for hint 1 of 3")).to_be_visible()
    expect(page.get_by_text("Look there.")).to_have_count(0)
    page.get_by_role("button", name="Hint").click()
    expect(page.get_by_text("Look there.")).to_be_visible()
    practised.chooses(page, "Reset to the stub")
    expect(page.get_by_text("Press Reset again to put the stub here")).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("x / factor")
    practised.chooses(page, "Reset to the stub")
    expect(page.locator(".cm-content")).to_contain_text("NotImplementedError")
    assert practised.states() == ["unjudged"]


def test_a_kata_that_goes_on_begins_with_the_answer_to_the_one_before(practised: Practised) -> None:
    file = practised.root / "katas/toys/affine/affine.py"
    stub, state = file.read_text(), State(practised.root)
    page = practised.open("/kata/affine")
    expect(page.get_by_text("affine goes on from scale: solve that first")).to_be_visible()
    judged = solved(state.now(), "scale", 1.0)
    state.insert(dataclasses.replace(judged, body=judged.body | {"source": REFERENCE}))
    state.close()
    page = practised.open("/kata/affine")
    expect(page.get_by_text("affine.py begins with your answer to scale: change it")).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("x / (1 / factor)")
    assert REFERENCE in file.read_text()
    for _ in range(2):
        practised.chooses(page, "Reset to the stub")
    expect(page.get_by_text("this is your answer to scale again; it was untouched")).to_be_visible()
    file.write_text(stub)


def test_map_is_searched_and_filtered(practised: Practised) -> None:
    page = practised.open("/")
    page.get_by_label("Search").fill("aff")
    expect(page.locator(".map .kata:visible")).to_have_count(1)
    page.get_by_label("Search").fill("")
    page.get_by_label("Level").select_option("1")
    expect(page.locator(".map .kata:visible")).to_contain_text("scale")
    page.get_by_label("State").select_option("solved")
    expect(page.locator("#count")).to_have_text("0 katas")
    expect(page.get_by_text("No kata fits")).to_be_visible()
    page.get_by_role("link", name="Report").click()
    expect(page.locator("h1")).to_be_visible()


def test_history_that_cannot_be_read_is_told_and_hides_no_card(practised: Practised) -> None:
    page = practised.open()
    practised.write(page, WRONG)
    state = State(practised.root)
    state.database.execute("ALTER TABLE events RENAME TO away")
    try:
        other = practised.open("/")
        for path in ("/kata/scale", "/interview"):
            answer = other.goto(f"http://127.0.0.1:{practised.served.port}{path}")
            assert answer
            assert answer.status == 500
            expect(other.locator(".trouble")).to_contain_text("no such table: events: mend that, then try again")
        practised.chooses(page, "Next kata")
        expect(page.locator(".q-notification")).to_contain_text("mend that, then try again")
        expect(page.locator(".q-notification")).to_have_count(0, timeout=10_000)
        page.get_by_role("button", name="Run").click()
        expect(page.locator(".q-notification")).to_contain_text("mend that, then try again", timeout=30_000)
    finally:
        state.database.execute("ALTER TABLE away RENAME TO events")
        state.close()
    expect(page.locator("div.card")).to_contain_text("mend that, then try again")


def test_address_that_leads_nowhere_says_so(practised: Practised) -> None:
    page = practised.open("/")
    for path, words in {
        "/kata/skale": "there is no kata called 'skale'; did you mean scale?",
        "/interview/9": "There is nothing at this address",
        "/nothing": "There is nothing at this address",
    }.items():
        answer = page.goto(f"http://127.0.0.1:{practised.served.port}{path}")
        assert answer
        assert answer.status == 404
        expect(page.locator(".trouble")).to_contain_text(words)
        expect(page.get_by_role("link", name="Map", exact=True)).to_be_visible()


def test_alias_leads_to_its_kata_and_the_map_sorts_by_how_often_it_is_asked(practised: Practised) -> None:
    page = practised.open("/kata/shifted")
    expect(page).to_have_url(f"http://127.0.0.1:{practised.served.port}/kata/affine")
    page.goto(f"http://127.0.0.1:{practised.served.port}/")
    rows = page.locator(".map .kata a")
    assert [text.split()[0] for text in rows.all_inner_texts()] == ["scale", "affine"]
    page.get_by_role("link", name="Asked often first").click()
    assert [text.split()[0] for text in rows.all_inner_texts()] == ["affine", "scale"]
    page.fill("#words", "shifted-again")
    expect(page.locator("#count")).to_have_text("0 katas")
    page.fill("#words", "Shifted")
    expect(page.locator("#count")).to_have_text("1 katas")


def test_keyboard_alone_suffices(practised: Practised) -> None:
    page = practised.open("/")
    focused = "(document.activeElement.ariaLabel || document.activeElement.textContent).trim()"
    editor = "Python of scale; Escape, then Tab leaves the editor"

    def go_to(wanted: str) -> None:
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate(focused) == wanted:
                return
        raise AssertionError(f"Tab does not lead to {wanted}")

    go_to("scale")
    page.keyboard.press("Enter")
    practised.ready(page)
    go_to("Run")
    page.keyboard.press("Enter")
    expect(page.locator("div.card .verdict")).to_have_text("TODO", timeout=30_000)
    go_to("Width of the statement")
    go_to(editor)
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(REFERENCE)
    page.keyboard.press("Control+Enter")
    expect(page.locator("div.card .verdict")).to_have_text("PASS", timeout=30_000)
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == editor
    page.keyboard.press("Escape")
    go_to("Height of the code")
    go_to("Card")
    go_to("Next: affine →")
    page.keyboard.press("Enter")
    page.wait_for_url("**/kata/affine")


def test_names_are_completed_but_for_those_that_the_kata_forbids(practised: Practised) -> None:
    page = practised.open()
    offered = page.locator(".cm-tooltip-autocomplete li")
    for written, first in (
        ("import torch\ntorch.log_sof", "log_softmax"),
        ("import torch\ntorch.nn.functional.gel", "gelu"),
        ("x = 1\nx[0].transp", "transpose"),
        ("self.weights = 1\nself.wei", "weights"),
        ("factors = 1\nfacto", "factors"),
    ):
        practised.write(page, written[:-1])
        page.keyboard.type(written[-1])
        expect(offered.first).to_have_text(first)
        page.keyboard.press("Escape")
    practised.write(page, "import torch\ntorch.")
    page.keyboard.type("mu")  # which torch.mul begins with
    expect(offered.first).to_have_text(re.compile("^m"))
    assert not {"mul", "multiply"} & {*offered.all_inner_texts()}
    page.keyboard.press("Escape")


def test_what_is_no_python_is_underlined_until_it_is_mended(practised: Practised) -> None:
    page = practised.open()
    practised.write(page, "x = 'π'\ny = (1,\nz = 2\n")
    expect(page.locator(".files .end")).to_have_text("line 2: '(' was never closed")
    expect(page.locator(".cm-editor .wrong")).to_have_text("(1,")
    assert page.locator(".cm-editor .wrong").get_attribute("title") == "line 2: '(' was never closed"
    practised.write(page, "x = 1\n")
    expect(page.locator(".files .end")).to_have_text("saved")
    expect(page.locator(".cm-editor .wrong")).to_have_count(0)


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("x = 1\ny = = 2\n", "=", "line 2: invalid syntax"),
        ("if x:\npass\n", "pass", "line 2: expected an indented block after 'if' statement on line 1"),
        ("return 1\n", "return 1", "line 1: 'return' outside function"),
        ("x = '''a\nb\n", "'''a", "line 1: unterminated triple-quoted string literal (detected at line 2)"),
        ("x = 1 +\n", "+", "line 1: invalid syntax"),
        ("\tx = 1\n", "\tx = 1", "line 1: unexpected indent"),
    ],
)
def test_where_a_text_is_no_python(text: str, where: str, words: str) -> None:
    found = misspelt(text)
    assert found is not None
    assert (text[found.begin : found.end], found.words) == (where, words)


@pytest.mark.parametrize("text", ["", "x = 1", "x = '\\d'\n", "(" * 50 + ")" * 50, "-" * 10_000 + "1", "(" * 50_001])
def test_what_is_python_or_no_lines_fault_is_not_underlined(text: str) -> None:
    assert misspelt(text) is None


def test_timer_goes_on_over_a_reload_and_keys_are_shown(practised: Practised) -> None:
    page = practised.open()
    timer = page.get_by_role("timer")
    expect(timer).to_be_hidden()
    practised.chooses(page, "Timer")
    expect(timer).to_have_text(re.compile(r"^00:0[1-9] of \d+ min$"))
    page.reload()
    practised.ready(page)
    expect(timer).to_have_text(re.compile(r"^00:\d\d of"))
    practised.chooses(page, "Timer")
    expect(timer).to_be_hidden()
    page.keyboard.press("Escape")  # closes the menu
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.locator(".cm-content").focus()
    page.keyboard.type("?")
    expect(page.locator("#keys")).to_be_hidden()
    practised.chooses(page, "All keys")
    expect(page.locator("#keys")).to_contain_text("Ctrl-Enter")


def test_vims_keys_write_run_and_leave(practised: Practised) -> None:
    page = practised.open()
    toggle = page.locator("[data-vim]")
    expect(toggle).to_have_attribute("aria-pressed", "false")
    practised.chooses(page, "Vim's keys")
    page.wait_for_selector(".cm-vim-panel")
    before = page.evaluate(CARD)
    page.click(".cm-content")
    page.keyboard.type("ggdGi")
    page.keyboard.insert_text(REFERENCE)
    page.keyboard.press("Escape")
    page.keyboard.type(":w\n")
    page.wait_for_function(f"before => {CARD} !== before", arg=before)
    expect(page.locator("div.card .verdict")).to_have_text("PASS", timeout=30_000)
    assert practised.file.read_text().rstrip() == REFERENCE.rstrip()
    page.reload()
    page.wait_for_selector(".cm-vim-panel")
    expect(toggle).to_have_attribute("aria-pressed", "true")
    page.click(".cm-content")
    page.keyboard.type(":q\n")
    expect(page.get_by_role("button", name="Run")).to_be_focused()
    practised.chooses(page, "Vim's keys")
    expect(page.locator(".cm-vim-panel")).to_have_count(0)
    page.click(".cm-content")
    page.keyboard.press("Control+Home")
    page.keyboard.type("x = 1  # jj")
    expect(page.locator(".cm-content")).to_contain_text("x = 1  # jj")


def test_panes_are_divided_by_mouse_or_keyboard_and_stay_so(practised: Practised) -> None:
    page = practised.open()
    wide, high = page.get_by_label("Width of the statement"), page.get_by_label("Height of the code")

    def sizes() -> tuple[float, float]:
        code, statement = page.locator(".pane.code").bounding_box(), page.locator(".pane.statement").bounding_box()
        assert code
        assert statement
        return statement["width"], code["height"]

    width, height = sizes()
    wide.focus()
    page.keyboard.press("ArrowRight")
    expect(wide).to_have_attribute("aria-valuenow", "42")
    high.focus()
    page.keyboard.press("ArrowUp")
    expect(high).to_have_attribute("aria-valuenow", "48")
    assert sizes()[0] > width
    assert sizes()[1] < height
    page.keyboard.press("End")
    expect(high).to_have_attribute("aria-valuenow", "85")
    bar = wide.bounding_box()
    assert bar
    page.mouse.move(bar["x"] + bar["width"] / 2, bar["y"] + 50)
    page.mouse.down()
    page.mouse.move(0.3 * 1280, bar["y"] + 90)
    page.mouse.up()
    page.mouse.move(900, 90)  # is not dragged any more
    expect(wide).to_have_attribute("aria-valuenow", "30")
    kept = sizes()
    page.reload()
    practised.ready(page)
    expect(wide).to_have_attribute("aria-valuenow", "30")
    assert sizes() == kept


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 768), ("dark", 360)])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    practised: Practised, browser: Browser, scheme: Literal["light", "dark"], width: int
) -> None:
    practised.run(practised.open(), WRONG, "FAIL")
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    here = Practised(practised.root, practised.served, context)
    for path in ("/kata/scale", "/", "/rules"):
        page = here.open(path)
        page.wait_for_selector(".card .verdict, .map, .text li", state="attached")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        for number, shown in enumerate(page.get_by_role("group", name="What is shown").get_by_role("button").all()):
            shown.click()
            panes = [one.is_visible() for one in page.locator(".pane").all()]
            assert panes == [number == one for one in range(5)]
            assert violations(page) == [], (path, shown.inner_text())
        assert violations(page) == [], path
    if width > 800:
        page = here.open()
        page.get_by_role("button", name="Try the failing call").click()
        expect(page.locator(".tried")).to_be_visible()
        assert [one.is_visible() for one in page.locator(".pane").all()] == [True, True, False, True, False]
        assert violations(page) == []
    context.close()


def test_text_that_could_not_be_kept_is_not_told_saved(practised: Practised) -> None:
    page = practised.open()
    practised.write(page, "# typed")
    page.wait_for_function("katas.saved === '# typed'")
    page.keyboard.insert_text(" here")
    practised.file.write_text("# elsewhere\n")
    both = page.get_by_label("Two versions")
    expect(both).to_be_visible()
    practised.file.unlink()
    practised.file.mkdir()
    expect(page.locator(".status")).to_contain_text("scale.py is a folder; move it away, and bring back")
    page.get_by_role("button", name="Keep what I wrote here").click()
    expect(both).not_to_be_visible()
    assert page.evaluate("katas.saved") == "# typed"
    practised.file.rmdir()
    page.wait_for_function("katas.saved === '# typed here'")
    assert practised.file.read_text() == "# typed here"


def test_text_that_is_too_long_stays_in_the_page_and_can_be_shortened(practised: Practised) -> None:
    page, before = practised.open(), practised.file.read_text()
    page.set_viewport_size({"width": 360, "height": 640})  # where what is said covers the buttons
    page.get_by_role("button", name="Code", exact=True).click()
    page.evaluate("text => katas.replace(text)", "# long\n" * 40_000)
    page.get_by_role("button", name="Run").click()
    said = "scale.py has 280,000 bytes; a submission should have at most 262,144; shorten it"
    expect(page.locator(".q-notification").first).to_contain_text(said)
    assert practised.file.read_text() == before
    page.reload()
    practised.ready(page)
    page.get_by_role("button", name="Code", exact=True).click()
    expect(page.locator(".cm-content")).to_contain_text("# long")
    page.evaluate("text => katas.replace(text)", REFERENCE)
    page.get_by_role("button", name="Run").click()
    expect(page.locator("div.card .verdict")).to_have_text("PASS", timeout=30_000)
    assert practised.file.read_text() == REFERENCE


def test_other_files_are_never_written(practised: Practised, tmp_path: Path) -> None:
    for path in ("/kata/nothing", "/kata/..%2F..%2Fscale", "/kata/scale?via=review"):
        assert practised.served.get(path, **practised.served.cookie)[0] == 404
    secret = tmp_path / "secret.py"
    secret.write_text("secret = 1\n")
    practised.file.unlink()
    practised.file.symlink_to(secret)
    page = practised.open()
    practised.write(page, WRONG)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".q-notification")).to_contain_text("is a link that leads out of its folder")
    assert secret.read_text() == "secret = 1\n"
    secret.unlink()
    practised.write(page, REFERENCE)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("what you type is kept in this page").first).to_be_visible()
    assert not secret.exists()
    practised.file.unlink()


def test_what_was_lost_with_a_connection_is_said_again(practised: Practised) -> None:
    page = practised.open()
    practised.write(page, "# heard\n")
    wait_for(lambda: practised.file.read_text() == "# heard\n")
    page.evaluate("window.socket.io.engine.transport.ws.send = () => {}")
    page.keyboard.insert_text("# lost\n")
    page.evaluate("window.socket.io.engine.close()")
    wait_for(lambda: practised.file.read_text() == "# heard\n# lost\n")


def test_run_judges_what_another_editor_wrote_before_the_page_has_it(practised: Practised) -> None:
    page = practised.open()
    page.evaluate("void (katas.takeOver = () => new Promise((done) => setTimeout(done, 20_000)))")
    practised.file.write_text(REFERENCE)
    page.get_by_role("button", name="Run").click()
    expect(page.locator("div.card .verdict")).to_have_text("PASS", timeout=30_000)


def test_what_is_typed_while_the_server_is_gone_is_saved_by_the_next(practised: Practised) -> None:
    """The last test, since it ends the server of all."""
    other, page = practised.open(), practised.open()
    practised.write(page, "# before\n")
    page.wait_for_function("katas.saved === '# before\\n'")
    expect(other.locator(".cm-content")).to_contain_text("# before")
    expect(page.get_by_text("Connection lost")).not_to_be_visible()
    page.keyboard.insert_text("# the last words it heard\n")
    page.evaluate("emitEvent('attempt', [0, 'before'])")  # once that is answered, the words have come before it
    page.wait_for_function("document.querySelector('.pane.history').textContent")
    practised.served.process.send_signal(signal.SIGINT)
    practised.served.process.wait()
    assert practised.file.read_text() == "# before\n# the last words it heard\n"
    expect(page.get_by_text("Connection lost")).to_be_visible()
    page.keyboard.insert_text("# while it was gone")
    page.evaluate("katas.keep()")
    other.evaluate("katas.keep()")
    assert "# while it was gone" in page.evaluate("localStorage.getItem(katas.key)")
    other.click(".cm-content")
    other.keyboard.press("Control+End")
    other.keyboard.insert_text("# in the other tab")
    typed = {"# while it was gone": page, "# in the other tab": other}
    with serving(practised.root) as again:
        assert again.address == practised.served.address
        deadline = time.monotonic() + 30
        while not (first := next((words for words in typed if words in practised.file.read_text()), "")):
            assert time.monotonic() < deadline
            page.wait_for_timeout(100)
        del typed[first]
        ((words, second),) = typed.items()
        expect(second.get_by_label("Two versions")).to_be_visible()
        expect(second.locator(".cm-content")).to_contain_text(words)
        second.get_by_role("button", name="Keep what I wrote here").click()
        expect(page.locator(".cm-content")).to_contain_text(words)
        assert practised.file.read_text() in (f"# before\n# the last words it heard\n{words}", f"# before\n{words}")


def test_messages_between_ranks_are_drawn() -> None:
    """An arrow from rank to rank, a dot for a rank's part in a collective; what is no message stays text."""
    rows = [1, "send", 0, 2, 8, 1, "1, 7"], [2, "all_reduce", -1, 4000, 16000, 2, ""]
    text = "\n".join([*map(message_in, rows), "… and 8 more"])
    drawn = sequence_of(text)
    assert (drawn.ranks, drawn.rest) == (3, ["… and 8 more"])
    shown = TEMPLATES.get_template("messages.svg.jinja").render(drawn=drawn, text=text)
    assert [shown.count(one) for one in ("<path", "<circle", 'class="rank"')] == [1, 1, 3]
    assert f'<line x1="{drawn.at(1)}" x2="{drawn.at(0) + 6}"' in shown
    assert re.findall(r">(.*)</text>", shown)[3:] == [
        "step 1",
        "2 numbers: 1, 7",
        "step 2",
        "all_reduce, 4,000 numbers",
    ]
