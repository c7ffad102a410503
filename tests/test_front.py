"""The front page: short, with links that lead somewhere, and with numbers that are so."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from graders.author.statement import LIST
from graders.catalogue import katas
from graders.faults import ROOT, VERSION
from graders.judge import checks

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = [ROOT / name for name in ("README.md", "AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<to>[^)\s]+)\)")
GITHUB = {
    ROOT: "../../",
    ROOT / "docs": "../../../",
}  # lead to pages of the repository that are no files, in every fork


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, *(ROOT / "docs").glob("*.md")], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in LINK.finditer(re.sub(r"`[^`\n]*`", "", text)):
        to, _, mark = link["to"].partition("#")
        if to.startswith(("https://", "mailto:", GITHUB[page.parent])):
            continue
        found = page.parent / to if to else page
        assert found.exists(), link[0]
        assert not mark or mark in anchors(found), link[0]


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 120
    rows = [line for line in README.splitlines() if line.startswith("|")]
    assert max(len(LINK.sub(r"\g<text>", cell)) for row in rows for cell in row.split("|")) <= 160
    assert len(words_of(README)) <= 1200


def test_first_screen_ends_with_the_katas() -> None:
    first = "\n".join(README.splitlines()[:60])
    assert LIST.search(first)
    assert len(words_of(first)) <= 450


def words_of(text: str) -> list[str]:
    """What is read, without the list of katas: it grows with them."""
    return LINK.sub(r"\g<text>", LIST.sub("", text)).split()


@pytest.mark.parametrize("words", ["without installing", "TorchCode", "add a kata"])
def test_each_visitor_finds_the_way_on_the_first_screen_with_one_click(words: str) -> None:
    first = README.partition("![A run")[0]
    (to,) = [link["to"] for link in LINK.finditer(first) if words in link["text"]]
    page, _, mark = to.partition("#")
    assert mark in anchors(ROOT / (page or "README.md"))
    assert len(first.splitlines()) < 20


def numbers() -> Iterator[str]:
    """What the repository has, in the README's words."""
    every = katas.all_katas(ROOT)
    (_, path), *_ = katas.goals(ROOT).values()
    yield f"{len(every)} exercises"
    yield f"| exercises | {len(every)} |"
    yield f"follows the {len(path)} katas of a language-model interview"
    counts = [len(checks.plan(kata.grader, kata.module)) for kata in every]
    yield f"{min(counts)} to {max(counts)} checks a kata"
    minutes = [kata.about.minutes for kata in every]
    yield f"A kata takes {min(minutes)} to {max(minutes)} minutes."
    oldest, beyond = map(int, re.findall(r"3\.(\d+)", PROJECT["requires-python"]))
    yield f"# Python 3.{oldest} to 3.{beyond - 1};"
    soaked = (ROOT / "docs/performance.md").read_text(encoding="utf-8").partition("## Flakiness")[2].partition("## ")[0]
    rows = [[cell.strip().replace(",", "") for cell in row.split("|")[3:-1]] for row in soaked.splitlines()]
    verdicts = [[int(cell) for cell in row if cell.isdecimal()] for row in rows if row and row[-1].isdecimal()]
    yield f"{sum(wrong for *_, wrong in verdicts)} of {sum(sum(judged) for *judged, _ in verdicts):,} were wrong"


def test_numbers_in_the_readme_are_the_repositorys() -> None:
    assert [words for words in numbers() if words not in README] == []


def test_what_grows_is_more_than_the_readme_says_and_not_much_more() -> None:
    every = katas.all_katas(ROOT)
    mistakes = [mistake for kata in every for mistake in kata.mistakes]
    pages = [(kata.folder / "follow_up.md").read_text(encoding="utf-8") for kata in every]
    said = re.search(r"more than ([\d,]+) mistakes in ([\d,]+) forms.*more than ([\d,]+) questions", README, re.DOTALL)
    assert said
    there = [len(mistakes), sum(len(one.edits_of_forms) for one in mistakes), "".join(pages).count("<details>")]
    for words, count in zip(said.groups(), there, strict=True):
        assert 0.8 * count < int(words.replace(",", "")) <= count


@pytest.mark.parametrize(
    ("words", "page", "row"),
    [
        ("2,680 were written without a look", "judge.md", "| wrong ones, written blind | 2,680 | 18 passed |"),
        ("18 passed", "judge.md", "| wrong ones, written blind | 2,680 | 18 passed |"),
        (
            "of 275 answers by others, 2 changed",
            "judge.md",
            "| files judged with other seeds | 275 | the verdict changed for 2 |",
        ),
        ("[18 of 2,680](docs/judge.md#trials)", "judge.md", "| wrong ones, written blind | 2,680 | 18 passed |"),
        ("584 of 587 written so", "judge.md", "| right ones, written blind | 587 | 3 were refused |"),
        (
            "0.35 × `import torch`",
            "performance.md",
            "| one kata again, inside `watch` (save to verdict, median of five) | 0.35 |",
        ),
    ],
)
def test_what_was_measured_stands_with_its_day_on_its_page(words: str, page: str, row: str) -> None:
    assert words in README
    assert row in (ROOT / "docs" / page).read_text(encoding="utf-8")


def test_version_is_one_everywhere() -> None:
    assert PROJECT["version"] == VERSION
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {VERSION}, " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
