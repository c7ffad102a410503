"""Statements in the terminal: every formula can be drawn, code stays, follow-ups come once a kata is solved."""

from __future__ import annotations

from pathlib import Path

import pytest

from graders import __main__ as cli
from graders.catalogue import katas
from graders.catalogue.statement import CODE_OR_FORMULA, text_of
from graders.desk.read import drawn
from tests.toys import REFERENCE, run


@pytest.mark.parametrize("kata", katas.all_katas(), ids=lambda kata: kata.id)
def test_every_formula_of_a_statement_is_drawn(kata: katas.Kata) -> None:
    text = text_of(kata)
    formulas = [found for found in CODE_OR_FORMULA.finditer(text) if found["block"]]
    assert formulas
    for found in formulas:
        shown = drawn(found)
        assert shown.startswith("```text\n"), found[0]
        assert "?" not in shown, shown
        assert "\\" not in shown, shown


def test_code_and_what_cannot_be_drawn_stay() -> None:
    text = "`$x$` and $x^2$, $\\nonsense{x}$\n```\n$$y$$\n```"
    assert CODE_OR_FORMULA.sub(drawn, text) == "`$x$` and x², `\\nonsense{x}`\n```\n$$y$$\n```"


def test_follow_ups_come_once_it_is_solved(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = toys / "katas/toys/scale"
    (folder / "follow_up.md").write_text("<details><summary>Why?</summary>\n\nSo.\n\n</details>\n")
    assert cli.main(["read", "scale"], toys) == 0
    assert "Why?" not in capsys.readouterr().out
    (folder / "scale.py").write_text(REFERENCE)
    run(toys, "status")  # from here on attempts are remembered
    assert run(toys, "grade", "scale").status == 0
    assert cli.main(["read", "scale"], toys) == 0
    assert "What an interviewer asks next:\n\n- Why?" in capsys.readouterr().out


def test_two_attempts_are_compared(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(toys, "status")
    for text in (REFERENCE.replace("x / (1 / factor)", "x / factor"), REFERENCE):
        (toys / "katas/toys/scale/scale.py").write_text(text)
        run(toys, "grade", "scale")
    assert cli.main(["history", "scale", "2", "--diff", "1"], toys) == 0
    said = capsys.readouterr().out
    assert "-    return x / factor" in said
    assert "+    return x / (1 / factor)" in said
    assert cli.main(["history", "scale", "--diff", "1"], toys) == 2
    assert "--diff M needs the attempt's number" in capsys.readouterr().err
