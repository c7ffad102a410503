"""The linter of prose: each rule finds what docs/writing.md says not to write, and nothing in what it says instead."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from proselint.registry.checks import Check

from graders.author.prose import LONGEST, PAGES, RULES, main, masked, messages, rules
from graders.faults import ROOT

CHECKS = {check.path.rpartition(".")[2]: check for check in rules()}
PAGE = (ROOT / "docs/writing.md").read_text(encoding="utf-8")
TABLE = re.findall(
    r"^\| [^|]+ \| `([^|]+)` \| ([^|]+) \|$", (ROOT / "docs/writing.md").read_text("utf-8"), re.MULTILINE
)
WRONG = {
    "too": "It holds in float16, too.",
    "asked": "Half precision is asked.",
    "that_of": "The gradient is that of the sum.",
    "place": "The axes behind C are positions.",
    "where": "It also holds, also where N is 1.",
    "own": "Compare the own item with the others.",
    "into": "The factor belongs into the sum.",
    "itself": "The result is off by 9e-5 of itself.",
    "spelling": "The rows are normalized.",
    "length": " ".join(["word"] * (LONGEST + 1)) + ".",
}


def found(check: Check, text: str) -> int:
    return len([*check.check(masked(f"\n{text}\n"))])


@pytest.mark.parametrize("name", [*RULES, "length"])
def test_a_rule_finds_what_it_is_about_and_leaves_code_alone(name: str) -> None:
    assert found(CHECKS[name], WRONG[name]) == 1
    assert found(CHECKS[name], WRONG[name].replace(" ", "\n")) == 1  # a line may end anywhere
    assert found(CHECKS[name], f"`{WRONG[name]}` is not our way.") == 0
    assert sum(found(check, WRONG[name]) for check in CHECKS.values()) == 1  # and no other rule does


def test_the_page_keeps_its_own_rules() -> None:
    assert len(TABLE) >= 10
    for wrong, right in TABLE:
        assert sum(found(check, right) for check in CHECKS.values()) == 0, right
        assert wrong != right


def test_no_line_inside_a_paragraph_or_a_formula_begins_like_an_item_of_a_list() -> None:
    """It would be one: CommonMark lets `+ b` and `- b` interrupt a paragraph, and GitHub a formula."""
    for page in sorted({page for pattern in PAGES for page in ROOT.glob(pattern)}):
        text = re.sub(r"^ *(`{3,}).*?^ *\1$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for before, line in pairwise(text.splitlines()):
            goes_on = before.strip() and not re.match(r" |[-*>|] |\d+\. |---", before)
            assert not (goes_on and re.match(r"([-+*]|\d+[.)]) ", line)), f"{page}: {line}"


def test_page_and_rule_agree_where_a_long_sentence_may_pause() -> None:
    assert f"at most {LONGEST} words up to a stop, a colon or a semicolon" in PAGE
    half = " ".join(["word"] * (LONGEST // 2 + 1))
    assert [found(CHECKS["length"], f"{half}{pause} {half}.") for pause in (".", ":", ";", ",")] == [0, 0, 0, 1]


def test_what_commands_say_is_read_and_what_they_compute_is_not() -> None:
    program = (
        'parser.add_argument("--x", help="grades it, too")\n'
        'raise UsageError(f"{path} is asked" + (", too" if more else ""))\n'
        'name = find("the own one", key="also where")\n'
        'self.say(f"{count} are left")\n'
    )
    assert [*messages(program)] == [
        (1, "grades it, too"),
        (2, "_ is asked"),
        (2, ", too"),
        (4, "_ are left"),
    ]


def test_messages_are_held_by_the_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "graders").mkdir()
    (tmp_path / "graders" / "some.py").write_text('\nprint("It holds, too.")\n', encoding="utf-8")
    assert main(tmp_path) == 1
    assert capsys.readouterr().out.startswith("graders/some.py, message of line 2:1:9: ', too': ")


def test_places_stay_where_they_are() -> None:
    text = "---\ntitle: x\n---\n\nA `b` of $c$.\n\n```python\nd\n```\nE.\n"
    assert [len(line) for line in masked(text).split("\n")] == [len(line) for line in text.split("\n")]
    assert masked(text).split() == ["A", "___", "of", "___.", "E."]


def test_what_is_found_is_said_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_text("# A page\n\nIt holds, too.\n", encoding="utf-8")
    assert main(tmp_path) == 1
    assert capsys.readouterr().out.startswith("README.md:3:9: ', too': ")
