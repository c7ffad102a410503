"""`report`: one page that says what the events say, to everybody, on every screen, with nothing from elsewhere."""

from __future__ import annotations

import itertools
import random
import re
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser

from graders.__main__ import main
from graders.catalogue import katas, texts
from graders.catalogue.katas import Kata
from graders.desk import state
from graders.desk.progress import progress_of
from graders.desk.state import Event, State
from graders.faults import ROOT
from graders.judge import checks
from graders.report import charts, habits, tally
from graders.report.page import address
from graders.report.page import page_of as report_page
from graders.report.tally import Cell, Span
from tests.browsing import unfolded, violations
from tests.toys import make_repository

KATAS = katas.all_katas()
BEGAN = datetime(2026, 9, 7, 17, 30, tzinfo=UTC)
NOW = BEGAN + timedelta(days=60)
SCRIPT = "</pre><script>document.title = 'taken'</script><img src=x onerror=alert(1)>"
SOURCE = "import torch\n\n\ndef answer(x):\n    return x.exp() / x.exp().sum(-1, keepdim=True)\n"


def attempt(at: datetime, kata: str, verdict: str, score: int, failed: list[str] | None = None, **more: Any) -> Event:
    body = {
        "state": verdict, "score": score, "max_score": 100, "seconds": 1.2, "failed": failed or [], "message": None,
        "mistake": None, "costs": {}, "seed": 1, "source": SOURCE, "via": "watch",
    }  # fmt: skip
    return Event("attempt", kata, body | more, at)


def failing(at: datetime, kata: Kata, share: float, draw: random.Random, **more: Any) -> Event:
    """As the judge would record it: performance is not asked before the values are right."""
    every = checks.plan(kata.grader, kata.module)
    planned = [check for check in every if check.category != "performance"]
    asked = [check for check in planned if check.category not in ("contract", "shapes")]
    failed = set(draw.sample([check.name for check in asked], max(1, round(share * len(asked)))))
    score = sum(check.points for check in planned if check.name not in failed)
    more["skipped"] = [check.name for check in every if check.category == "performance"]
    names = [check.name for check in planned if check.name in failed]
    return attempt(at, kata.id, "failing", score, names, **more)


def history(chosen: list[Kata]) -> list[Event]:
    """Two months of a learner who solves most katas, some with hints, and reviews a few."""
    draw = random.Random(7)
    made: list[Event] = []
    at = BEGAN
    order = sorted(chosen, key=lambda kata: kata.rank)
    for index, kata in enumerate(order[:-1]):
        at += timedelta(days=draw.randint(2, 7), minutes=draw.randint(0, 180))
        if index == 5:
            at += timedelta(days=9)
        names = [check.name for check in checks.plan(kata.grader, kata.module)]
        made.append(attempt(at, kata.id, "error", 0, names[:-3], skipped=names[-3:],
                            message="SyntaxError: '(' was never closed (line 12)"))  # fmt: skip
        for share in (0.8, 0.5, 0.2)[: draw.randint(1, 3)]:
            at += timedelta(minutes=draw.randint(4, 25))
            made.append(failing(at, kata, share, draw, message="values: 80 of 80 differ; worst at [0, 2, 7]",
                                mistake="not_scaled" if share == 0.5 else None))  # fmt: skip
        for level in range(1, draw.randint(0, 3)):
            at += timedelta(minutes=3)
            made.append(Event("hint", kata.id, {"level": level}, at))
        if index == len(order) - 3:
            continue
        at += timedelta(minutes=draw.randint(4, 40))
        made.append(solved(at, kata.id, draw.choice((0.6, 1.0, 1.1, 1.9, 3.4, 5.2))))
    for kata in order[:3]:
        at += timedelta(days=2)
        made.append(Event("start", kata.id, {"clean": True, "via": "review"}, at))
        made.append(solved(at + timedelta(minutes=12), kata.id, 0.9))
    at += timedelta(days=1)
    made.append(Event("start", order[3].id, {"clean": True, "via": "review"}, at))
    made.append(failing(at + timedelta(minutes=9), order[3], 0.3, draw, message="gradient of x: should flow, got none"))
    return made


def solved(at: datetime, kata: str, ratio: float) -> Event:
    costs = {"many_rows": {"operators": [round(100 * ratio), 100], "peak": [4_200_000, 4_200_000], "time": [1.1, 1.0]}}
    return attempt(at, kata, "solved", 100, costs=costs)


def interview(
    at: datetime, chosen: list[Kata], answer: str, question: str = "Why divide by the root?", ending: str = "finished"
) -> list[Event]:
    """One of 45 minutes that takes two more; the first kata is solved with a hint, the second is not submitted."""
    first, second = chosen[:2]
    drawn = [
        {"kata": kata.id, "topic": kata.topic, "level": kata.about.level, "minutes": 20} for kata in (first, second)
    ]
    judged = {"state": "solved", "score": 100, "max_score": 100, "failed": [], "diagnosis": None, "costs": {}}
    told: list[tuple[float, str, dict[str, Any]]] = [
        (0, "begin", {"minutes": 45, "seed": 17, "katas": drawn}),
        (5, "phase", {"kata": first.id, "phase": "clarify"}),
        (70, "ask", {"kata": first.id, "number": 1, "question": question}),
        (300, "phase", {"kata": first.id, "phase": "code"}),
        (900, "hint", {"kata": first.id, "level": 1}),
        (1500, "submit", {"kata": first.id} | judged),
        (1800, "answer", {"kata": first.id, "question": question, "text": answer}),
        (1900, "score", {"kata": first.id, "question": question, "score": 2}),
        (2000, "phase", {"kata": second.id, "phase": "code"}),
        (2820, "end", {"how": ending}),
    ]
    rest = {"interview": "one", "clock": 0.0, "boot": "x"}
    return [
        Event("interview", "", rest | body | {"what": what, "elapsed": elapsed}, at + timedelta(seconds=elapsed))
        for elapsed, what, body in told
    ]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "now", lambda: NOW)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if not hasattr(time, "tzset"):
        pytest.skip("the zone cannot be set on this platform")
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


def page_of(folder: Path, events: Sequence[Event], chosen: Sequence[Kata] = KATAS) -> str:
    folder.mkdir(exist_ok=True)
    made = State(folder)
    for event in events:
        made.insert(event)
    page = report_page(made, list(chosen), lambda file: address(file, folder))
    made.close()
    return page


def test_picture_to_share_has_numbers_and_nothing_that_the_learner_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_repository(tmp_path)
    made = State(root)
    for days, kata in ((0, "scale"), (1, "scale"), (2, "affine"), (9, "scale")):
        made.insert(failing_with_text(BEGAN + timedelta(days=days), kata))
    made.insert(solved(BEGAN + timedelta(days=9, hours=1), "scale", 1.0))
    made.close()
    file = tmp_path / "new/me.svg"
    assert main(["report", "--picture", str(file)], root) == 0
    drawn = ElementTree.fromstring(text := file.read_text(encoding="utf-8"))
    words = [one.text for one in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert words == [
        "1 of 2 deep learning katas solved",
        "4 days of practice since 7 Sep 2026; longest streak: 3 days",
        "toys",
        "1 of 2",
    ]
    assert "secret" not in text
    assert [one.get("width") for one in drawn.iter() if one.get("class") == "done"] == ["190.0"]
    assert not any(one.tag.endswith(("script", "image", "a")) for one in drawn.iter())
    assert main(["report", "--picture", str(tmp_path / "me.png")], root) == 0
    width, height = struct.unpack(">II", (tmp_path / "me.png").read_bytes()[16:24])  # after the signature of a PNG
    assert [width, height] == [2 * int(drawn.attrib[side]) for side in ("width", "height")]
    capsys.readouterr()
    assert main(["report", "--picture", str(tmp_path / "me.gif")], root) == 2
    assert capsys.readouterr().err.startswith("error: a picture should end in .svg or .png, got ")
    assert not (tmp_path / "me.gif").exists()


def failing_with_text(at: datetime, kata: str) -> Event:
    return attempt(at, kata, "failing", 10, message="my secret", source="# my secret")


def rich_history() -> list[Event]:
    """What is drawn for these nine is due today, and later."""
    nine = {"softmax", "numerical_gradient", "weight_init", "feature_scaling", "activations", "mlp_backprop"}
    nine |= {"cosine_similarity", "contrastive_loss", "triplet_loss"}
    asked = interview(BEGAN + timedelta(days=55), KATAS, "So that the variance stays 1.")
    return history([kata for kata in KATAS if kata.id in nine]) + asked


class Reader(HTMLParser):
    """What a page is made of."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).replace("_ ", "_").split())

    def named(self, *tags: str) -> list[tuple[str, dict[str, str | None]]]:
        return [one for one in self.tags if one[0] in tags]


@pytest.fixture(params=["rich", "empty"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A page on disk."""
    path = tmp_path / f"{request.param}.html"
    events = rich_history() if request.param == "rich" else []
    path.write_text(page_of(tmp_path / "state", events), encoding="utf-8")
    return path


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    browser: Browser, file: Path, scheme: Literal["light", "dark"], width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == width
    unfolded(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    found = violations(page)
    page.close()
    assert found == []


def test_theme_follows_the_reader_and_paper_is_white(browser: Browser, file: Path) -> None:
    page = browser.new_page()
    page.goto(file.as_uri())
    colours = []
    for media, scheme in (("screen", "light"), ("screen", "dark"), ("print", "dark")):
        page.emulate_media(media=media, color_scheme=scheme)  # type: ignore[arg-type]  # each is one that it takes
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    page.close()
    assert colours == ["rgb(246, 246, 243)", "rgb(16, 18, 20)", "rgb(255, 255, 255)"]


def test_dates_of_the_chart_do_not_overlap_on_any_screen(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    years = [solved(BEGAN - timedelta(days=2000), KATAS[0].id, 1.0), solved(BEGAN, KATAS[1].id, 1.0)]
    path.write_text(page_of(tmp_path, years), encoding="utf-8")
    for width, least in ((1280, 6), (800, 6), (360, 3)):
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.goto(path.as_uri())
        boxes = [one.bounding_box() for one in page.locator(".dates text").all() if one.is_visible()]
        page.close()
        ends = [(box["x"], box["x"] + box["width"]) for box in boxes if box]
        assert len(ends) >= least
        assert all(end < begin for (_, end), (begin, _) in itertools.pairwise(ends))


def test_nothing_is_asked_of_the_network(browser: Browser, file: Path) -> None:
    asked: list[str] = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri(), wait_until="load")
    unfolded(page)
    page.close()
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]


def test_page_holds_all_it_needs(tmp_path: Path) -> None:
    text = page_of(tmp_path, rich_history())
    page = Reader(text)
    assert page.named("script", "iframe", "img", "object", "embed", "base", "form") == []
    references = {value or "" for _, found in page.tags for name, value in found.items() if name in ("src", "href")}
    files = {one for one in references if not one.startswith(("#", "data:"))}
    assert {(tmp_path / one).resolve() for one in files} == {
        file for kata in KATAS for file in (kata.statement, kata.answer_file)
    }
    assert "://" not in text
    assert "url(" not in text
    assert "@import" not in text
    ids = [found["id"] for _, found in page.tags if "id" in found]
    assert len(ids) == len(set(ids))
    assert {one[1:] for one in references if one.startswith("#")} <= set(ids)


def test_what_a_learner_wrote_stays_text(browser: Browser, tmp_path: Path) -> None:
    events = [
        attempt(BEGAN, "f1_score", "failing", 10, [SCRIPT], message=SCRIPT, mistake=SCRIPT, source=SCRIPT, via=SCRIPT),
        *interview(BEGAN + timedelta(hours=1), KATAS, answer=SCRIPT, question=SCRIPT, ending=SCRIPT),
    ]
    text = page_of(tmp_path, events)
    assert Reader(text).named("script", "img") == []
    # message, mistake, source; the answer and its question, in the debrief, too; two in the timeline
    assert text.count("&lt;script&gt;") == 9
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    shown = browser.new_page()
    shown.goto(path.as_uri())
    assert shown.title() == "Practice report – Deep Learning Katas"
    assert SCRIPT in unfolded(shown).inner_text("body")
    shown.close()


def test_control_characters_and_half_characters_are_made_visible(tmp_path: Path) -> None:
    message = "a\x00\x1b[31m\ud800\u202eb"
    page = page_of(tmp_path, [attempt(BEGAN, "f1_score", "failing", 10, ["x"], message=message)])
    assert r"a\x00\x1b[31m\ud800\u202eb" in page
    assert page.encode()


def test_long_sources_are_cut(tmp_path: Path) -> None:
    page = page_of(tmp_path, [attempt(BEGAN, "f1_score", "failing", 10, ["x"], source="y" * 50_000)])
    assert page.count("y" * 20_000) == 1
    assert "y" * 20_001 not in page
    assert "y\n… and so on" in page


def test_same_events_give_the_same_page_but_for_the_line_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = page_of(tmp_path / "one", rich_history())
    monkeypatch.setattr(state, "now", lambda: NOW + timedelta(minutes=61))
    two = page_of(tmp_path / "two", rich_history())
    changed = [pair for pair in zip(one.splitlines(), two.splitlines(), strict=True) if pair[0] != pair[1]]
    assert len(changed) == 1
    assert "Written on" in changed[0][0]


@pytest.mark.usefixtures("berlin")
def test_times_are_local_and_their_zones_are_named(tmp_path: Path) -> None:
    text = Reader(page_of(tmp_path, [solved(BEGAN, "f1_score", 1.0)])).text
    assert "Written on 6 Nov 2026, 18:30" in text
    assert "7 Sep 2026, 19:30" in text
    assert "CEST (UTC+02:00) and CET (UTC+01:00)" in text


def test_sums(tmp_path: Path) -> None:
    events = [
        attempt(BEGAN, "f1_score", "failing", 40, ["numerics/x"]),
        Event("hint", "f1_score", {"level": 2}, BEGAN + timedelta(minutes=5)),
        solved(BEGAN + timedelta(minutes=9), "f1_score", 1.5),
        attempt(BEGAN + timedelta(days=9), "roc_auc", "failing", 30, ["numerics/x"]),
        attempt(BEGAN + timedelta(days=9), "of_a_removed_kata", "solved", 100),
    ]
    text = Reader(page_of(tmp_path, events)).text
    count = len(KATAS)
    assert f"Solved 1 of {count} katas Points 130 of {100 * count} Attempts 3 Due today 1 Hints taken 2" in text
    assert "f1_score 8 Sep 2026 with hints" in text  # due on the day after, and how it went
    assert "roc_auc ✗ failing best 30 of 100 level 3, answer 1 attempt, 0 hints" in text
    assert "7 Sep 2026 100 2 2 f1_score" in text  # the first week
    assert "f1_score operators 1.5 ×" in text
    assert "removed_kata" not in text


def test_interviews_keep_measured_and_own_scores_apart(tmp_path: Path) -> None:
    text = Reader(page_of(tmp_path, interview(BEGAN, KATAS, "Because."))).text
    assert "95 of 200 2 of 3 47:00 of 45:00" in text
    assert "finished , 2:00 over time" in text
    one, other = KATAS[0].id, KATAS[1].id
    assert f"{one} solved 100 1 5 0 95 of 100 1 time –" in text
    assert f"{other} not submitted 0 0 0 0 0 of 100 0 times –" in text
    assert f"Scored by yourself: {one} 2 (each of 3); {other} nothing" in text
    assert "45:00 time was up 47:00 finished" in text
    assert "Where to begin" not in text


def test_marks_over_interviews_and_katas_that_came_again_are_shown(tmp_path: Path) -> None:
    def numbered(number: int) -> list[Event]:
        made = interview(BEGAN + timedelta(days=number), KATAS, "Because.")
        return [replace(event, id=f"{number}-{index}", body=event.body | {"interview": str(number)})
                for index, event in enumerate(made)]  # fmt: skip

    page = Reader(page_of(tmp_path, [event for number in range(12) for event in numbered(number)]))
    assert "Marks, of 3 each" in page.text
    assert f"{KATAS[0].id} 12 95, 95," in page.text
    assert "2 earlier interviews" in page.text
    assert "by what was measured: 95 of 200 points, questions 0.0 of 3, 2:00 over time." in page.text
    assert "Marks, of 3" not in Reader(page_of(tmp_path / "one", numbered(0))).text


def test_empty_history_says_what_to_do_first(tmp_path: Path) -> None:
    page = Reader(page_of(tmp_path, []))
    first = katas.path(ROOT)[0]
    assert f"Start with {first}" in page.text
    assert f"nox -s watch -- {first}" in page.text
    assert "Recent attempts" not in page.text
    assert page.named("svg") == [("svg", {"class": "bar", "aria-hidden": "true"})] * len(KATAS)


def test_idle_and_short_histories_are_pages_too(tmp_path: Path) -> None:
    hints = [Event("hint", "f1_score", {"level": 1}, BEGAN + timedelta(days=day)) for day in (0, 30)]
    assert "Where to begin" in page_of(tmp_path / "hints", hints)
    kept = attempt(BEGAN, "f1_score", "unjudged", 0, max_score=0)
    assert "kept, not judged" in page_of(tmp_path / "kept", [kept])
    assert "Due today" in page_of(tmp_path / "none", [], [])


def test_headings_tables_and_landmarks(tmp_path: Path) -> None:
    page = Reader(page_of(tmp_path, rich_history()))
    levels = [int(tag[1]) for tag, _ in page.named("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(two - one <= 1 for one, two in itertools.pairwise(levels))
    assert page.named("html")[0][1]["lang"] == "en"
    assert [tag for tag, _ in page.named("header", "nav", "main", "footer")] == ["header", "nav", "main", "footer"]
    assert len(page.named("table")) == len(page.named("caption")) == len(page.named("thead")) == 11 + 4  # four months
    assert all(found.get("scope") in ("row", "col") for _, found in page.named("th"))
    regions = [found for _, found in page.named("div") if found.get("role") == "region"]
    assert len(regions) == len(page.named("table")) - 4
    assert all(found["tabindex"] == "0" and found["aria-labelledby"] for found in regions)


def test_charts_say_what_they_show(tmp_path: Path) -> None:
    page = Reader(page_of(tmp_path, rich_history()))
    drawn = [found for _, found in page.named("svg") if found.get("role") == "img"]
    ids = {found.get("id") for tag, found in page.named("title", "desc")}
    assert len(drawn) == 1
    assert all({found["aria-labelledby"], found["aria-describedby"]} <= ids for found in drawn)
    times = [event.at.astimezone().date() for event in rich_history() if event.kata]
    begun, ended = min(times), max(times)
    assert f"Points from {begun.day} {begun:%b} to {ended.day} {ended:%b} 2026" in page.text


def test_points_give_way_once_all_is_solved(tmp_path: Path) -> None:
    events = [solved(BEGAN + timedelta(days=day), kata.id, 1.0) for day, kata in enumerate(KATAS[:2])]
    assert "Points from" in page_of(tmp_path / "some", events, KATAS[:3])
    assert "Points from" not in page_of(tmp_path / "all", events, KATAS[:2])


def test_follow_up_questions_of_what_is_solved_are_on_the_page_and_no_others(tmp_path: Path) -> None:
    first, second = KATAS[:2]
    page = Reader(page_of(tmp_path, [solved(BEGAN, first.id, 1.0), attempt(BEGAN, second.id, "failing", 40)]))
    asked = {kata.id: texts.follow_ups(kata) for kata in (first, second)}
    letters = page.text.replace(" ", "")
    assert all(re.sub("[` ]", "", one.question) in letters for one in asked[first.id])
    assert asked[second.id][0].question not in page.text
    assert "Follow-up questions" not in Reader(page_of(tmp_path / "new", [])).text


def test_tables_that_scroll_say_so(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page_of(tmp_path, rich_history()), encoding="utf-8")
    page = browser.new_page(viewport={"width": 360, "height": 800})
    page.goto(path.as_uri())
    unfolded(page)
    wide = "[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth)"
    signs = page.evaluate(f"{wide}.map(one => getComputedStyle(one).backgroundAttachment)")
    cut = page.evaluate("[...document.querySelectorAll('.month')].filter(e => e.offsetWidth > 330).length")
    page.close()
    assert len(signs) > 1
    assert set(signs) == {"local, local, scroll, scroll"}  # covers that scroll along, over shadows that stay
    assert cut == 0


def test_states_differ_by_a_mark_and_a_border(tmp_path: Path) -> None:
    page = Reader(page_of(tmp_path, rich_history()))
    marks = {word: re.search(rf"(\S) {word}\b", page.text) for word in ("solved best", "failing best", "to do not")}
    assert [found and found[1] for found in marks.values()] == ["✓", "✗", "○"]


def test_months_show_practice_and_what_is_due() -> None:
    today = NOW.date()
    spans = [Span(BEGAN.date(), attempts=4), Span(today, attempts=1)]
    found = habits.months(spans, {today: ["a"], today + timedelta(days=20): ["b", "c"]}, today)
    days = [day for weeks in found.values() for week in weeks for day in week if day]
    assert [first.month for first in found] == [9, 10, 11, 12]
    assert days[0].date == BEGAN.date().replace(day=1)
    assert today + habits.AHEAD <= days[-1].date < today + habits.AHEAD + timedelta(weeks=1)
    assert {day.date: (day.attempts, day.shade) for day in days if day.attempts} == {
        BEGAN.date(): (4, 2),
        today: (1, 1),
    }
    assert {day.date: day.due for day in days if day.due} == {
        today: ("a",),
        today + timedelta(days=20): ("b", "c"),
    }
    long_ago = habits.months([Span(today - timedelta(days=900), attempts=1)], {}, today)
    assert len(long_ago) == 5


def test_what_is_due_is_told_by_day_for_a_month(tmp_path: Path) -> None:
    late, soon, far = (kata.id for kata in KATAS[:3])
    again = Event("start", far, {"clean": True, "via": "review"}, NOW - timedelta(hours=1))
    events = [
        solved(NOW - timedelta(days=40), late, 1.0),
        solved(NOW - timedelta(days=40), far, 1.0),
        again,
        solved(NOW, far, 1.0),
        solved(NOW - timedelta(days=1), soon, 1.0),
    ]
    found = progress_of(events, [late, soon, far])
    due = habits.due_by_day(found.values(), NOW.date())
    assert due[NOW.date()] == [late]
    assert sorted(name for names in due.values() for name in names) == sorted((late, soon))
    assert "Later than that: 1 kata" in Reader(page_of(tmp_path, events)).text


def test_time_to_solve_leaves_out_pauses_and_ends_when_solved() -> None:
    (kata,) = KATAS[:1]
    steps = [(0, 20), (10, 30), (200, 40), (205, 60)]
    events = [
        *(attempt(BEGAN + timedelta(minutes=at), kata.id, "failing", score, ["numerics/x"]) for at, score in steps),
        solved(BEGAN + timedelta(minutes=212), kata.id, 1.0),
        solved(BEGAN + timedelta(minutes=220), kata.id, 1.0),
    ]
    (one,) = habits.firsts(events, {kata.id: kata}, progress_of(events, [kata.id]))
    assert (one.minutes, one.attempts, one.rating, one.day) == (22, 5, 3, BEGAN.date())
    (at_once,) = habits.firsts(events[-1:], {kata.id: kata}, progress_of(events[-1:], [kata.id]))
    assert (at_once.minutes, at_once.attempts, at_once.rating) == (None, 1, habits.AT_ONCE)
    assert habits.firsts(events[:4], {kata.id: kata}, progress_of(events[:4], [kata.id])) == []


def test_retention_is_beside_what_was_expected(tmp_path: Path) -> None:
    name = KATAS[0].id
    review = Event("start", name, {"clean": True, "via": "review"}, BEGAN + timedelta(days=10))
    failed = attempt(BEGAN + timedelta(days=10), name, "failing", 40, ["numerics/x"])
    gave_up = Event("start", name, {"clean": True, "via": "reset"}, BEGAN + timedelta(days=11))
    events = [solved(BEGAN, name, 1.0), review, solved(BEGAN + timedelta(days=10), name, 1.0)]
    ((expected, known),) = progress_of(events, [name])[name].recalls
    assert known
    assert 0.5 < expected < 1.0
    assert f"Known at review 1 of 1; expected {expected:.1f}" in Reader(page_of(tmp_path, events)).text
    lost = Reader(page_of(tmp_path / "lost", [events[0], review, failed, gave_up])).text
    assert f"Known at review 0 of 1; expected {expected:.1f}" in lost
    assert f"Of 1 review so far you knew 0; FSRS, which sets the days, expected {expected:.1f}." in lost
    assert "Known at review" not in Reader(page_of(tmp_path / "none", events[:1])).text


def test_checks_that_failed_again_are_named(tmp_path: Path) -> None:
    one, other = (kata.id for kata in KATAS[:2])
    zeros = ["gradients/zero_vectors/float64", "gradients/zero_vectors/float32"]
    events = [
        attempt(BEGAN, one, "failing", 20, [*zeros, "numerics/typical/float64"]),  # far from done
        attempt(BEGAN, one, "failing", 70, ["numerics/typical/float64"], message="NotImplementedError: to do"),
        attempt(BEGAN, one, "failing", 70, ["numerics/typical/float64", *zeros]),
        attempt(BEGAN, other, "failing", 90, zeros[:1]),
        attempt(BEGAN, one, "error", 60, ["contract/signature"]),
    ]
    assert habits.stumbles(events) == [habits.Stumble("gradients: zero vectors", 2, tuple(sorted((one, other))))]
    assert "gradients: zero vectors 2" in Reader(page_of(tmp_path, events)).text
    assert "Nothing yet" in Reader(page_of(tmp_path / "none", events[:1])).text


def test_check_that_fails_by_the_failure_of_another_counts_once() -> None:
    mean = ["numerics/mean/float64", "gradients/mean/float64", "gradients/weights/float64", "robustness/non_contiguous"]
    twice = ["robustness/non_contiguous", "robustness/same_answer_twice"]
    wrong = attempt(BEGAN, "a", "failing", 60, mean)
    again = attempt(BEGAN, "a", "failing", 90, twice)
    again.body.update(core=True, repeats=twice[1:])
    assert {one.words: one.attempts for one in habits.stumbles([wrong, wrong, again, again])} == {
        "numerics: mean": 2,
        "gradients: weights": 2,
        "robustness: non contiguous": 2,
    }


def test_weeks_begin_on_monday_and_idle_ones_are_left_out() -> None:
    first, last = BEGAN.date(), (BEGAN + timedelta(weeks=8, days=2)).date()
    found = tally.weeks([Span(first, 10, 1), Span(first + timedelta(days=6), 30, 2, 1), Span(last, 40, 1)])
    assert found[0] == Span(first, 30, 3, 1)
    assert found[1:] == [Span(last - timedelta(days=2), 40, 1)]


def test_solved_again_counts_for_its_day() -> None:
    events = [
        solved(BEGAN, "a", 1.0),
        Event("start", "a", {"clean": True, "via": "review"}, BEGAN + timedelta(days=3)),
        solved(BEGAN + timedelta(days=3), "a", 1.0),
    ]
    assert [day.solved for day in tally.days(events, ["a"])] == [("a",), ("a",)]


PLANNED = [
    checks.Check(name, name.partition("/")[0], lambda trial: None, points)
    for name, points in (("shapes/a", 20), ("numerics/a", 30), ("numerics/b", 35), ("performance/a", 15))
]


@pytest.mark.parametrize(
    ("score", "failed", "skipped", "numerics", "performance"),
    [
        (100, [], [], Cell(2, 2, 2), Cell(1, 1, 1)),
        (85, ["performance/a"], [], Cell(2, 2, 2), Cell(1, 1, 0)),
        (55, ["numerics/a"], ["performance/a"], Cell(2, 2, 1), Cell(1, 0, 0)),
        (100, ["numerics/a/cuda"], [], Cell(2, 2, 2), Cell(1, 1, 1)),  # where it earns no points
        (0, ["shapes/a", "numerics/a", "numerics/b"], ["performance/a"], Cell(2, 2, 0), Cell(1, 0, 0)),
    ],
)
def test_standing(score: int, failed: list[str], skipped: list[str], numerics: Cell, performance: Cell) -> None:
    found = tally.standing([attempt(BEGAN, "a", "failing", score, failed, skipped=skipped)], PLANNED)
    assert (found["numerics"], found["performance"]) == (numerics, performance)


def test_standing_knows_what_was_skipped_and_that_broken_rules_cost_points() -> None:
    skipped = attempt(BEGAN, "a", "failing", 20, ["numerics/a", "numerics/b"], skipped=["performance/a"])
    found = tally.standing([skipped], PLANNED)
    assert (found["numerics"], found["performance"]) == (Cell(2, 2, 0), Cell(1, 0, 0))
    broken = attempt(BEGAN, "a", "failing", 20, ["performance/a"], skipped=[])
    found = tally.standing([broken], PLANNED)
    assert (found["numerics"], found["performance"]) == (Cell(2, 2, 2), Cell(1, 1, 0))


def test_standing_is_of_the_last_attempt_at_todays_grader() -> None:
    fits, other = attempt(BEGAN, "a", "solved", 100), attempt(NOW, "a", "failing", 30)  # of a grader of other points
    assert tally.standing([fits, other], PLANNED)["numerics"] == Cell(2, 2, 2)
    assert tally.standing([other], PLANNED) == {}


def test_price_is_of_the_cheapest_solved_attempt() -> None:
    dear, cheap = solved(BEGAN, "a", 4.0), solved(NOW, "a", 0.5)
    (price,) = tally.prices([dear, cheap, attempt(NOW, "a", "failing", 5, ["x"])], ["a"])
    assert (price.attempt, price.ratio, price.worst.noun) == (cheap, 1.0, "memory in use")
    assert [one.own for one in price.figures] == ["50", "4.2 MB"]
    assert [one.reference for one in price.figures] == ["100", "4.2 MB"]


def test_axis_of_doublings() -> None:
    assert charts.doublings([1.0]) == [(0.0, "½"), (50.0, "1"), (100.0, "2")]
    assert charts.place(0.0, [1.0]) == 0.0
    assert [text for _, text in charts.doublings([0.01, 1.0, 30.0])] == ["¼", "1", "4", "16"]


@pytest.mark.parametrize(
    ("most", "ticks"), [(0, [0, 1]), (4, [0, 1, 2, 3, 4]), (11, [0, 3, 6, 9, 12]), (900, [0, 300, 600, 900])]
)
def test_ticks(most: int, ticks: list[int]) -> None:
    assert charts.ticks(most) == ticks


@pytest.mark.parametrize("days", [1, 40, 400, 5000])
def test_axis_of_time_has_few_labels(days: int) -> None:
    labels = charts.dates(BEGAN.date(), BEGAN.date() + timedelta(days=days))
    assert 2 <= len(labels) <= 8
    assert labels[0][1] == ("7 Sep" if days < 365 else "Sep 2026")


def test_command_writes_the_page_and_says_where(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report"], toys) == 0
    path = toys / ".kata" / "report.html"
    assert capsys.readouterr().out == f"wrote {path}; open {path.as_uri()}\n"
    assert "Start with" in path.read_text(encoding="utf-8")
    assert list(path.parent.glob(".report*")) == []


def test_output_may_be_elsewhere_and_is_replaced(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = toys / "a folder" / "page.html"
    for _ in range(2):
        assert main(["report", "--output", str(path)], toys) == 0
    assert "a%20folder/page.html" in capsys.readouterr().out
    assert not (toys / ".kata" / "report.html").exists()


def test_output_that_cannot_be_written_is_one_sentence(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (toys / "file").write_text("kept")
    for output in (toys, toys / "file" / "page.html"):
        assert main(["report", "--output", str(output)], toys) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert re.fullmatch(r"error: .*(is no file|cannot be written).*\n", said.err)


def test_full_disk_loses_nothing(
    toys: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (toys / "page.html").write_text("kept")
    monkeypatch.setattr("os.replace", full)
    assert main(["report", "--output", str(toys / "page.html")], toys) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert (toys / "page.html").read_text() == "kept"
    assert list(toys.glob(".page*")) == []
