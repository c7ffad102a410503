"""`site`: pages that hold the statements and nothing that spoils them, readable by all, asking no other host."""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

import nbformat
import pytest
from playwright.sync_api import Browser, expect

from graders.__main__ import main
from graders.catalogue import katas, texts
from graders.catalogue.markup import with_formulas
from graders.catalogue.stub import stub_for
from graders.faults import ROOT
from tests.browsing import unfolded, violations
from tests.toys import make_repository

KATAS = katas.all_katas()
SHOWN = ("index.html", "rules.html", "contrastive/info_nce.html", "losses/binary_cross_entropy.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "pages"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GITHUB_REPOSITORY", "ada/her-katas")
        assert main(["site", "--out", str(out)]) == 0
    return out


class Silent(http.server.SimpleHTTPRequestHandler):
    """Serves a folder."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = functools.partial(Silent, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class Links(HTMLParser):
    """What a page leads to, what it loads, and the places that others may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.to: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids.add(found.get("id", ""))
        if tag == "a" and "href" in found:
            self.to.append(found["href"])
        elif "src" in found or (tag == "link" and found.get("rel") not in ("canonical", "next", "prev")):
            self.loaded.append(found.get("src") or found.get("href", ""))


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = {page: Links(page.read_text(encoding="utf-8")) for page in site.rglob("*.html")}
    assert len(pages) == len(KATAS) + 3  # the map, the rules, what is not found
    for page, links in pages.items():
        if page.name == "404.html":  # its addresses begin at the root of a server
            continue
        assert not [one for one in links.loaded if "//" in one]
        for one in links.to:
            if one.startswith(("http://", "https://")):
                continue
            to, _, place = one.partition("#")
            there = (page.parent / unquote(to)).resolve() if to else page
            there = there / "index.html" if there.is_dir() else there
            assert there in pages, f"{page.name}: {one}"
            assert not place or unquote(place) in pages[there].ids, f"{page.name}: {one}"


def test_pages_have_statements_and_follow_up_questions_and_no_solutions(site: Path) -> None:
    for kata in KATAS:
        page = (site / kata.topic / f"{kata.id}.html").read_text(encoding="utf-8")
        text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
        assert kata.about.title in page
        assert ("as candidates report" in text) == bool(kata.about.asked) == ("Reported by candidates:" in text)
        assert page.count("<details") >= len(texts.follow_ups(kata)) - 1
        assert f"nox -s watch -- {kata.id}" in text
        for spoiler in (*texts.hints(kata), *(mistake.diagnosis for mistake in kata.mistakes)):
            assert " ".join(spoiler.split())[:60] not in text
        assert "$$" not in page
        assert "<!-- " not in page.partition("<article")[2].partition("</article>")[0]


def test_each_page_opens_its_own_notebook_in_colab_from_the_fork(site: Path) -> None:
    first = nbformat.read(ROOT / "docs/first_kata.ipynb", 4)  # type: ignore[no-untyped-call]
    for kata in KATAS:
        page = (site / kata.topic / f"{kata.id}.html").read_text(encoding="utf-8")
        to = f"https://colab.research.google.com/github/ada/her-katas/blob/notebooks/{kata.id}.ipynb"
        assert f'<a href="{to}">Open in Colab</a>' in page
        made = nbformat.read(site / "notebooks" / f"{kata.id}.ipynb", 4)  # type: ignore[no-untyped-call]
        nbformat.validate(made)
        setup = made.cells[1].source
        assert setup.startswith('FORK = "https://github.com/ada/her-katas"')
        assert f'Path("katas/{kata.topic}/{kata.id}/README.md")' in setup
        assert [line for line in setup.splitlines() if line not in first.cells[1].source.splitlines()] == [
            *setup.splitlines()[:1],
            *(setup.splitlines()[-1:] if kata.id != "cosine_similarity" else ()),
        ]
        assert made.cells[3].source == f"%%kata {kata.id}\n{stub_for(kata)}".rstrip()
    assert len([*(site / "notebooks").iterdir()]) == len(KATAS)


@pytest.mark.parametrize("source", ["workflow", "pyproject"])
def test_links_lead_to_the_repository_whose_site_it_is(
    tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_repository(tmp_path / "toys")
    (root / "docs").mkdir()
    for page in ("rules.md", "first_kata.ipynb"):
        shutil.copy(ROOT / "docs" / page, root / "docs")
    for name in ("scale", "affine"):
        (root / "katas/toys" / name / "follow_up.md").write_text("# Follow-up questions\n\nNone.\n")
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    options = ["site", "--out", str(tmp_path / "out")]
    assert main(options, root) == 0
    index = tmp_path / "out/index.html"
    assert "git clone ADDRESS katas" in re.sub(r"<[^>]*>", "", text := index.read_text(encoding="utf-8"))
    assert "codespaces" not in text
    assert "colab" not in (tmp_path / "out/toys/scale.html").read_text(encoding="utf-8")
    urls = f'urls.Repository = "https://github.com/{"ada" if source == "pyproject" else "eve"}/katas"'
    (root / "pyproject.toml").write_text(f'[project]\nname = "katas"\n{urls}\n')
    if source == "workflow":
        monkeypatch.setenv("GITHUB_REPOSITORY", "ada/katas")
    assert main(options, root) == 0
    text = index.read_text(encoding="utf-8")
    assert "git clone https://github.com/ada/katas katas" in re.sub(r"<[^>]*>", "", text)
    assert '<a href="https://codespaces.new/ada/katas">' in text
    scale = (tmp_path / "out/toys/scale.html").read_text(encoding="utf-8")
    assert "https://colab.research.google.com/github/ada/katas/blob/notebooks/scale.ipynb" in scale


def test_formulas_are_drawn_without_a_script() -> None:
    assert "<mtext>max_norm</mtext>" in with_formulas(r"$\text{max\_norm}$")
    assert "<mtext>log_softmax</mtext>" in with_formulas(r"$\operatorname{log\_softmax}(x)$")
    assert with_formulas(r"$$x = \begin{cases} 1 \qquad 2 \end{cases} \qquad y = 3$$").count("<math ") == 2
    made = with_formulas("a `$x$` and $x^2$:\n\n$$\\frac{1}{2}$$\n\n```\n$5\n```")
    assert made.startswith("a `$x$` and <math")
    assert '<div class="formula" tabindex="0"><math' in made
    assert made.endswith("```\n$5\n```")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    browser: Browser, address: str, scheme: Literal["light", "dark"], width: int
) -> None:
    for name in SHOWN:
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.goto(f"{address}/{name}")
        unfolded(page)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        heights = page.evaluate("[...document.querySelectorAll('.map thead th')].map(one => one.clientHeight)")
        assert max(heights, default=0) < 60  # words stay whole: a narrow screen scrolls the table
        found = violations(page)
        page.close()
        assert found == [], name


def test_statements_and_filters_need_no_script_and_search_finds(browser: Browser, address: str) -> None:
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(f"{address}/contrastive/info_nce.html")
    assert plain.locator("math").first.is_visible()
    assert plain.locator("article h2", has_text="Write this first").is_visible()
    contract = plain.locator("article h2", has_text="Must hold")
    assert not contract.is_visible()
    plain.get_by_text("The full contract").click()
    assert contract.is_visible()
    plain.goto(f"{address}/index.html")
    plain.check("#level-3")
    shown = [row for row in plain.locator(".map tbody tr").all() if row.is_visible()]
    assert len(shown) == sum(kata.about.level == 3 for kata in KATAS)
    none = plain.get_by_text("No kata fits all of these filters")
    assert not none.is_visible()
    levels = {
        topic: {kata.about.level for kata in KATAS if kata.topic == topic} for topic in {one.topic for one in KATAS}
    }
    topic = next(topic for topic, found in levels.items() if 3 not in found)
    plain.check(f"#topic-{topic}")
    assert none.is_visible()
    plain.check("#topic-all")
    plain.check("#level-all")
    plain.check("#path-contrastive")
    shown = [row for row in plain.locator(".map tbody tr").all() if row.is_visible()]
    assert len(shown) == len(katas.goals(KATAS[0].root)["contrastive"][1])
    plain.check("#path-all")
    plain.check("#asked-often")
    shown = [row for row in plain.locator(".map tbody tr").all() if row.is_visible()]
    assert len(shown) == sum(kata.about.asked == "often" for kata in KATAS) > 9
    assert not plain.get_by_text("Search works once").is_visible()
    plain.goto(f"{address}/contrastive/info_nce.html")
    folded = plain.locator("h2#follow-up-questions + details")
    assert folded.is_visible()
    assert not folded.locator("details").first.is_visible()
    plain.close()
    page, asked = browser.new_page(), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/index.html")
    page.click(".md-search__input")
    for typed, title in (("perplexity", "Perplexity"), ("rope", "Rotary"), ("gqa", "Grouped-query")):
        page.fill(".md-search__input", "")
        page.type(".md-search__input", typed)
        expect(page.locator(".md-search-result__list")).to_contain_text(title)
    assert [url for url in asked if not url.startswith((address, f"blob:{address}", "data:"))] == []
    page.close()


def test_pages_that_no_server_shows_say_how_to_search(browser: Browser, site: Path) -> None:
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    assert page.get_by_text("Search works once these pages are served: python -m http.server").is_visible()
    page.close()


def test_folder_with_other_files_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("kept")
    assert main(["site", "--out", str(tmp_path)]) == 2
    assert "has other files; name an empty or a new folder with --out" in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["mine.txt"]
    assert main(["site", "--out", str(tmp_path / "mine.txt")]) == 2
    assert "mine.txt cannot be written" in capsys.readouterr().err.replace("/index.html", "")


def test_scores_are_a_page_of_their_own_where_they_are_given(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "grades.csv"
    hostile = '"<script>alert(1)</script>\n\n# [a](javascript:b) **c**"'
    table.write_text(
        f"learner,softmax,moco,solved,total\nAda,90,80,1,170\n{hostile},,100,1,100\n", encoding="utf-8-sig"
    )
    out = tmp_path / "my pages"
    assert main(["site", "--out", str(out), "--scores", str(table)]) == 0
    assert f'--directory "{out}"' in capsys.readouterr().out
    page = (out / "scores.html").read_text(encoding="utf-8")
    rows = re.findall(r'<tr><th scope="row">(.*)</th><td>(\d+)</td><td>(\d+)</td></tr>', page)
    name = "&lt;script&gt;alert(1)&lt;/script&gt; # [a](javascript:b) **c**"
    assert rows == [("Ada", "1", "170"), (name, "1", "100")]
    assert "<script>alert" not in page
    assert "scores.html" in Links((out / "index.html").read_text(encoding="utf-8")).to
    assert "scores.html" not in Links((site / "index.html").read_text(encoding="utf-8")).to
    assert not (site / "scores.html").exists()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (None, "grades.csv cannot be read: No such file or directory; name a grades.csv with --scores"),
        ("", "grades.csv:1 is no grades.csv as `nox -s cohort` writes it: the columns should begin with learner"),
        ("name,softmax,total\n", "grades.csv:1 is no grades.csv"),
        ("name,softmax,total\n", "begin with learner and end with solved,total, got 'name,softmax,total'"),
        ("learner,softmax,solved,total\nAda,100,1,99\n", "grades.csv:2 is no grades.csv"),
        ("learner,softmax,solved,total\nAda,100,1,99\n", "the total should be 100, got 99"),
        ('learner,softmax,solved,total\n"Ada\nB",1,0,1\nBob,101,0,101\n', "grades.csv:4 is no grades.csv"),
        ("learner,softmax,solved,total\nAda,101,1,101\n", "softmax should be from 0 to 100, got '101'"),
        ("learner,softmax,solved,total\nAda,7,0\n", "there should be 4 cells, got 3"),
        ("learner,softmax,solved,total\nAda,7,2,7\n", "solved should be from 0 to 1, got '2'"),
        ("learner,softmax,solved,total\nAda,many,0,7\n", "softmax should be from 0 to 100, got 'many'"),
        ('learner,softmax,solved,total\nAda,"7"x,0,7\n', "grades.csv:2 is no grades.csv"),
    ],
)
def test_a_file_that_is_no_table_of_scores_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, wanted: str
) -> None:
    table = tmp_path / "grades.csv"
    if text is not None:
        table.write_text(text, encoding="utf-8")
    assert main(["site", "--out", str(tmp_path / "pages"), "--scores", str(table)]) == 2
    said = capsys.readouterr().err
    assert wanted in said
    assert said.count("\n") == 1
