"""Statements in the terminal: every formula can be drawn, code stays, follow-ups come once a kata is solved."""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from graders import __main__ as cli
from graders.catalogue import katas
from graders.catalogue.texts import CODE_OR_FORMULA, follow_ups, front_of, hints, text_of
from graders.desk import formulas
from graders.desk.read import Page, as_source, drawn
from graders.judge.spelling import spelled
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


@pytest.mark.parametrize("kata", katas.all_katas(), ids=lambda kata: kata.id)
def test_no_formula_is_torn_in_a_narrow_terminal(kata: katas.Kata) -> None:
    for found in CODE_OR_FORMULA.finditer(text_of(kata)):
        if found["block"]:
            shown = drawn(found, 38)
            assert max(map(len, shown.splitlines())) <= 38, shown
            assert "\\" not in shown, shown
            wide = re.sub(r"[\s⎛⎜⎝⎞⎟⎠()╶╴─│├┤]", "", drawn(found, 200).removeprefix("```text"))
            narrow = re.sub(r"[\s⎛⎜⎝⎞⎟⎠()╶╴─│├┤]", "", shown.removeprefix("```text"))
            assert Counter(narrow) == Counter(wide)  # every sign of it, parentheses apart


@pytest.mark.parametrize("width", [40, 80])
def test_tables_of_a_statement_are_cut_off_nowhere(width: int) -> None:
    for kata in katas.all_katas():
        shown, text = io.StringIO(), front_of(text_of(kata))
        Console(file=shown, width=width).print(Page(text))
        assert shown.getvalue().count("…") == text.count("…"), kata.id


SUM = r"L = a_1 + \frac{a + b + c + d + e}{f + g + h + i + j + k} + \exp(x, y)"


@pytest.mark.parametrize(
    ("width", "rows"),
    [
        (18, [" L=a₁", "", "      a+b+c+d+e", "   +╶───────────╴", "     f+g+h+i+j+k", "", "   +exp(x,y)"]),
        (12, [" L=a₁", "", "   +", "   a+b+c+d+e", "  ──────────", "   f+g+h+i", "     +j+k", "", "   +exp(x,y)"]),
    ],
)
def test_formula_is_broken_between_its_parts(width: int, rows: list[str]) -> None:
    assert formulas.lines_of(SUM, width).splitlines() == rows


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("kata", katas.all_katas(), ids=lambda kata: kata.id)
def test_poorer_encodings_lose_nothing(kata: katas.Kata, encoding: str) -> None:
    text = text_of(kata) + "".join(hints(kata)) + "".join(f"{one.question}\n{one.answer}" for one in follow_ups(kata))
    shown = spelled(CODE_OR_FORMULA.sub(as_source, text), encoding)
    assert shown.count("?") == text.count("?")
    assert not re.search("<[a-z]+ [a-z -]+>", shown)  # of no character the name is needed


def test_spelling() -> None:
    assert spelled("√d · σ(x)² ≤ ½ → ∞", "ascii") == "sqrt d * sigma(x)^2 <= 1/2 -> infinity"
    assert spelled("ŷ₁ x̂ 10⁻⁶ Wᵀ", "ascii") == "y_hat_1 x_hat 10^-6 W^T"
    assert spelled("10⁻⁶ · ½ − τ", "latin-1") == "10^-6 · ½ - tau"
    assert spelled("日", "ascii") == "<cjk unified ideograph-65e5>"


def test_statement_without_unicode_has_its_formulas_whole(toys: Path) -> None:
    statement = toys / "katas/toys/scale/README.md"
    statement.write_text(statement.read_text() + "\nFor γ > 0 and $\\tau\\,x$:\n\n$$y = \\gamma\\,\\frac{x}{2}$$\n")
    shown = run(toys, "read", "scale", PYTHONIOENCODING="ascii").out
    assert "For gamma > 0 and \\tau\\,x:" in shown
    assert r"y = \gamma\,\frac{x}{2}" in shown


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
