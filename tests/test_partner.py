"""An interview by a friend: their page, the code of their scores, and the candidate's terminal beside it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser

from graders import __main__ as cli
from graders import pages
from graders.catalogue import katas, texts
from graders.catalogue.katas import Kata
from graders.desk.state import State
from graders.faults import ROOT, UsageError
from graders.interview import draw
from graders.interview.debrief import facts
from graders.interview.marks import marks
from graders.interview.partner import sheet
from graders.interview.partner.page import page_of
from graders.interview.partner.sheet import Sheet
from graders.interview.prepared import Prepared
from graders.interview.record import InterviewReport, reports
from tests.browsing import unfolded, violations
from tests.sittings import Tty, flat
from tests.test_interview import FOLLOW_UP, HINTS, PROMPT, WRONG
from tests.toys import end, run

KATAS = katas.all_katas()
TWO = [katas.find_one(name, ROOT) for name in ("info_nce", "multi_head_attention")]
TWIST = "\n## Twist\n\nNow let the factor be a tensor.\n\n### Model answer\n\nMultiply by it; the rest stays.\n"
SHEETS = [Sheet("a", 5, ("p", "q", "r")), Sheet("b", 2, ("s",))]
SEED = 17


def code_of(digits: Sequence[int], seed: int, sheets: Sequence[Sheet]) -> str:
    """As sheet.js writes it."""
    number = 0
    for digit, base in zip(digits, [base for one in sheets for base in one.bases], strict=True):
        number = number * base + digit
    number = (number << 10) + (sheet.SPREAD * number + sheet.salt(seed, sheets)) % sheet.CHECK
    letters = ""
    while len(letters) < sheet.length(sheets):
        number, letter = divmod(number, 32)
        letters = sheet.LETTERS[letter] + letters
    return letters


def test_code_holds_what_was_ticked_however_it_is_typed() -> None:
    code = code_of([0, 1, 0, 0, 1, 3, 2, 4, 0, 1, *[0] * 5], SEED, SHEETS)
    one, other = sheet.read(code, SEED, SHEETS)
    assert (one.kata, one.asked, one.plan, one.hints, one.answers) == ("a", [2, 5], 2, 2, {"p": 3, "r": 0})
    assert (other.kata, other.asked, other.plan, other.hints, other.answers) == ("b", [], None, 0, {})
    misread = code.lower().replace("0", "o").replace("1", "l")
    assert sheet.read(f" {misread[:4]}-{misread[4:]} ", SEED, SHEETS) == [one, other]


DIGITS = st.tuples(*(st.integers(0, base - 1) for one in SHEETS for base in one.bases))


@given(DIGITS, st.integers(0, 100), st.sampled_from(sheet.LETTERS))
def test_one_wrong_letter_and_swapped_neighbours_are_noticed(digits: tuple[int, ...], place: int, letter: str) -> None:
    code = code_of(digits, SEED, SHEETS)
    at = place % (len(code) - 1)
    for other in (code[:at] + letter + code[at + 1 :], code[:at] + code[at + 1] + code[at] + code[at + 2 :]):
        if other != code:
            with pytest.raises(UsageError, match="a letter is wrong"):
                sheet.read(other, SEED, SHEETS)


def test_codes_of_other_interviews_and_words_are_refused() -> None:
    code = code_of([0] * 15, SEED, SHEETS)
    with pytest.raises(UsageError, match="or the page is another interview's"):
        sheet.read(code, SEED + 1, SHEETS)
    for text in ("", code[:-1], code + "0", "U" * len(code), "ü" * len(code)):
        with pytest.raises(UsageError, match=f"the code has {len(code)} letters and digits"):
            sheet.read(text, SEED, SHEETS)
    beyond = math.prod(base for one in SHEETS for base in one.bases)  # the first number that no sheet has
    whole = (beyond << 10) + (sheet.SPREAD * beyond + sheet.salt(SEED, SHEETS)) % sheet.CHECK
    letters = "".join(sheet.LETTERS[whole >> 5 * place & 31] for place in reversed(range(sheet.length(SHEETS))))
    with pytest.raises(UsageError, match="no code of this interview"):
        sheet.read(letters, SEED, SHEETS)


@pytest.mark.parametrize("kata", KATAS, ids=lambda kata: kata.id)
def test_page_has_all_that_an_interviewer_says_and_looks_for(kata: Kata) -> None:
    page = page_of([kata], 45, SEED)
    asked = [*texts.clarifying(kata), *texts.general(kata), *draw.follow_ups(texts.follow_ups(kata), SEED, kata.id)]
    whole = [texts.prompt(kata), *texts.hints(kata), *(one.answer for one in asked)]
    lines = [*(one.question for one in asked), *(one.diagnosis for one in kata.mistakes)]
    lines += [one.text for one in facts(kata) if one.cases and "](" not in one.text]
    if twist := texts.twist(kata):
        whole += [twist.words, twist.answer]
    assert [text for text in whole if pages.markdown(text) not in page] == []
    assert [text for text in lines if pages.markdown(text, line=True) not in page] == []
    assert [to for to in re.findall(r"(?:src|href)=\"([^\"]*)", page) if not to.startswith(("#", "data:"))] == []


def test_page_holds_all_it_needs_and_is_the_same_again() -> None:
    page = page_of(TWO, 45, SEED)
    assert page == page_of(TWO, 45, SEED)
    assert page != page_of(TWO, 45, SEED + 1)
    assert re.findall(r"<(?:iframe|img|object|embed|base|form)\b", page) == []
    assert "default-src 'none'" in page
    assert not re.search(r"url\(|@import|fetch|XMLHttp", page)
    ids = re.findall(r" id=\"([^\"]*)", page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"href=\"#([^\"]*)", page)) <= set(ids)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("partner") / "partner.html"
    path.write_text(page_of(TWO, 45, SEED), encoding="utf-8")
    return path


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 360)])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen_or_asked_of_a_network(
    browser: Browser, file: Path, scheme: Literal["light", "dark"], width: int
) -> None:
    asked: list[str] = []
    said: list[str] = []
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(file.as_uri())
    unfolded(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    found = violations(page)
    page.close()
    assert (found, said) == ([], [])
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]


def test_page_is_covered_until_its_reader_says_that_they_are_the_interviewer(browser: Browser, file: Path) -> None:
    page = browser.new_page()
    page.goto(file.as_uri())
    prompt = "I'd like you to write the contrastive loss"
    shown = page.inner_text("body")
    assert "If you are the candidate, close this page" in shown
    assert prompt not in shown
    page.click("text=I am the interviewer")
    assert prompt in page.inner_text("body")
    page.close()


def test_ticks_are_in_the_code_and_survive_a_reload(browser: Browser, file: Path) -> None:
    sheets = [Sheet.of(Prepared(kata, SEED)) for kata in TWO]
    page = browser.new_page()
    page.goto(file.as_uri())
    unfolded(page)
    for name in ("info_nce-asked-1", "info_nce-asked-4", "info_nce-plan-2", "info_nce-hints-1", "info_nce-answer-2-0"):
        page.check(f"#{name}")
    page.check("#multi_head_attention-answer-1-3")
    page.reload()
    code = page.inner_text("#sheet") if page.evaluate("document.querySelector('.cover').open = true") else ""
    page.close()
    one, other = sheet.read(code, SEED, sheets)
    assert (one.asked, one.plan, one.hints, one.answers) == ([1, 4], 2, 1, {sheets[0].questions[1]: 0})
    assert (other.asked, other.plan, other.hints, other.answers) == ([], None, 0, {sheets[1].questions[0]: 3})


@pytest.fixture
def desk(toys: Path) -> Path:
    """Two toy katas, of which one can be asked about, with a twist."""
    (toys / "katas/toys/scale/interview.md").write_text(PROMPT + TWIST)
    (toys / "katas/toys/scale/follow_up.md").write_text(FOLLOW_UP)
    (toys / "solutions/toys/scale/hints.md").write_text(HINTS)
    return toys


@pytest.fixture
def terminal(desk: Path) -> Iterator[Callable[..., Tty]]:
    made: list[Tty] = []

    def make(*arguments: str) -> Tty:
        made.append(Tty(desk, "interview", *arguments))
        return made[-1]

    yield make
    for one in made:
        end(one.child)


def the_report(root: Path) -> InterviewReport:
    state = State(root)
    found = reports(state.events())[-1]
    state.close()
    return found


def test_twist_is_on_the_page_and_has_a_score(desk: Path) -> None:
    kata = Kata(desk, "toys", "scale")
    page = page_of([kata], 20, SEED)
    assert "Now let the factor be a tensor." in page
    assert "Multiply by it; the rest stays." in page
    assert Sheet.of(Prepared(kata, SEED)).questions[-1] == "Now let the factor be a tensor."
    assert page.count('data-base="5"') == 1 + len(Sheet.of(Prepared(kata, SEED)).questions)


def test_friends_hold_an_interview(desk: Path, terminal: Callable[..., Tty]) -> None:
    one = terminal("--minutes", "20", "--seed", "7", "--partner")
    shown = one.shows("Press Enter when they have it > ")
    assert str(desk / ".kata/partner.html") in shown.replace("\n", "")
    assert "do not open it" in flat(shown)
    assert "What about zero?" in (desk / ".kata/partner.html").read_text()
    state = State(desk)
    assert reports(state.events()) == []  # the clock has not begun
    state.close()
    shown = one.says("", "[clarify  20:00 left] > ")
    assert "Your interviewer tells you the task" in flat(shown)
    assert "Write scale" not in shown
    one.says("what about dtypes?", "tell that to your interviewer; `help` lists")
    one.says("questions", "tell that to your interviewer")
    assert "diagnose" not in one.says("help", "prompt ", "next ", "[clarify")
    assert "Write scale(x, factor=2.0)." in one.says("prompt", "[clarify")
    one.says("next", "[plan  ")
    one.says("next", ".kata/interview/scale.py", "[code  ")
    (desk / ".kata/interview/scale.py").write_text(WRONG)
    one.says("submit", "this counts ", "[test  ")
    one.says("next", "Answer your interviewer's questions", "[follow-up  ")
    sheets = [Sheet.of(Prepared(Kata(desk, "toys", "scale"), 7))]
    answers = [1] * (len(sheets[0].questions) - 1) + [4]  # the twist
    code = code_of([1, 0, 1, 0, 3, 1, *answers], 7, sheets)
    one.says("next", "Type it, or", "code > ")
    one.says("0000", f"the code has {len(code)} letters and digits", "code > ")
    shown, status = one.says(code), one.ends()[1]
    assert status == 0
    made = the_report(desk)
    first = made.round
    assert (made.partner, made.ended, first.typed, first.plan_score, first.hints) == (True, "finished", [1, 3], 2, 1)
    assert first.answers[-1].score == 3
    assert first.measured == first.score - 5 + 4
    kept = (desk / ".kata/interview/report-1.md").read_text()
    assert "- plan: 2 of 3 (scored by your interviewer, compared with the idea)" in kept
    assert "yourself" not in kept
    assert "Your score" not in kept
    assert "Because of " in kept  # the model answers
    assert "You said" not in kept
    assert "Your interviewer's scores: 3 of " in run(desk, "interview", "--report").out


def test_scores_may_be_skipped_and_the_interview_cut_off(desk: Path, terminal: Callable[..., Tty]) -> None:
    page = desk / "shared" / "for_you.html"
    page.parent.mkdir()
    one = terminal("--minutes", "20", "--seed", "7", "--partner", "shared/for_you.html")
    one.shows("Press Enter when they have it > ")
    one.says("", "[clarify  ")
    one.says("quit", "nox -s interview -- --resume")
    assert one.ends()[1] == 0
    first = page.read_text()
    page.write_text(first + "older")
    again = terminal("--resume", "--partner", "shared/for_you.html")
    again.shows("Press Enter when they have it > ")
    assert page.read_text() == first
    again.says("", "Your interviewer tells you the task", "[clarify  ")
    again.says("end", "end it?", "yes/no > ")
    again.says("yes", "code > ")
    again.says("skip")
    assert again.ends()[1] == 0
    made = the_report(desk)
    assert (made.partner, made.ended, made.round.answers, made.round.plan_score) == (True, "finished", [], None)
    assert {name: mark for name, mark, _ in marks(made.round)}["plan"] is None


def test_what_does_not_go_is_one_sentence(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    no_enter = run(desk, "interview", "--minutes", "20", "--partner")
    assert no_enter.status == 2
    assert "error: nobody pressed Enter, so nothing began; try again in a terminal\n" in no_enter.err
    (desk / "file").write_text("kept")
    for folder in ("file", "shraed/friend"):
        assert cli.main(["interview", "--minutes", "20", "--partner", f"{folder}/page.html"], desk) == 2
        assert f"there is no folder {desk / folder}: make it, or name another file" in capsys.readouterr().err
    assert not (desk / "shraed").exists()
    assert cli.main(["interview", "--minutes", "20", "--partner", "file"], desk) == 2
    assert "file is there and is no such page: it would be lost; name another file" in capsys.readouterr().err
    assert (desk / "file").read_text() == "kept"
    run(desk, "interview", "--minutes", "20", said="quit\n")
    alone = run(desk, "interview", "--resume", "--partner")
    assert "error: that interview began without a partner; drop --partner\n" in alone.err
