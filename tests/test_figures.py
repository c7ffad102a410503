"""Figures that stand beside their own calculation: `0.85<!-- = 85 / 100 -->`. An item for each kata."""

from __future__ import annotations

from pathlib import Path

import pytest

from graders.catalogue import katas, texts
from graders.catalogue.katas import Kata
from graders.interview.debrief import facts
from tests.figures import said, texts_of
from tests.figures.beside import faults, figures, miscalculated, misplaced
from tests.figures.written import calculations

HERE = Path("here.md")


@pytest.mark.parametrize("kata", katas.all_katas(), ids=lambda kata: kata.id)
def test_figures_are_what_stands_beside_them(kata: Kata) -> None:
    texts = [path.read_text(encoding="utf-8") for path in texts_of(kata)]
    print(
        f"{kata.id}: {sum(len([*figures(HERE, text)]) for text in texts)} beside a calculation of their own,", end=" "
    )
    print(sum(len([*calculations(text)]) for text in texts), "behind one that is written out")
    assert not (found := faults(kata)), "\n".join(["", *found])


@pytest.mark.parametrize("kata", katas.all_katas(), ids=lambda kata: kata.id)
def test_no_reader_is_shown_a_calculation(kata: Kata) -> None:
    """`read`, `watch`, the site, `hint`, the interview and its debrief take their texts from there."""
    asked = [*texts.clarifying(kata), *texts.follow_ups(kata)]
    shown = [texts.text_of(kata), *texts.hints(kata), texts.prompt(kata), *map(str, [*asked, *facts(kata)])]
    assert not [text for text in shown if "<!--" in text]


RIGHT = {
    "a share of 0.78": "35 / 45",
    "a minus of −1.20": "-1.2",
    "so -4.61": "-4.6052",
    "all of 16 777 216": "2**24",
    "thin spaces, 32\u202f767": "2**15 - 1",
    "12.4 million": "768 * 127**2 / 1e6",
    "0.94 GB": "8 * 4096 * 14_336 * 2 / 1e9",
    "in 2.5 % of them": "2.5",
    "2.06e-9": "2.061e-9",
    "2e−5": "1.6e-5",
    "6 · 10⁻⁸": "2**-24",
    "10¹²": "1e12",
    "2²⁴": "16_777_216",
    "2.5×": "2.5",
    "2/3": "1 - 1 / 3",
    "½": "0.5",
    "∞": "inf",
    "all are above 0": "torch.ones(3) > 0",
    "20 against 28 means little": "(n := 20, m := 28, m - n < 2 * (n + m) ** 0.5)",
    "none is finite": "torch.tensor(inf).isinf()",
    "NaN": "nan",
    "float32 0.5, (1/3, 2/3)": "(1 / 3, 2 / 3)",
    "0.5 in float16 and 0.25 in float32": "[0.5, torch.tensor(0.25)]",
    "from 0.1\nto 0.2": "torch.tensor([[0.1], [0.2]])",
}


@pytest.mark.parametrize(("text", "expression"), RIGHT.items())
def test_figures_are_read_as_they_are_written(text: str, expression: str) -> None:
    (one,) = figures(HERE, f"{text}<!-- = {expression} -->, and more")
    assert one.fault({"torch": __import__("torch"), "inf": float("inf"), "nan": float("nan")}) == ""


WRONG = {
    ("0.79", "35 / 45"): "the text says 0.79, = 35 / 45 is 0.7777777778",
    ("0.778, 0.78", "(7 / 9, 0.77)"): "the text says 0.78, = (7 / 9, 0.77) is 0.77",
    ("1.20", "-1.2"): "the text says 1.20, = -1.2 is -1.2",
    ("16 777 216", "2**24 - 1"): "the text says 16 777 216, = 2**24 - 1 is 16777215",
    ("2/3", "0.6667"): "the text says 2/3, = 0.6667 is 0.6667",
    ("3 · 10⁻⁸", "2**-24"): "the text says 3 · 10⁻⁸, = 2**-24 is 5.960464478e-08",
    ("NaN", "0"): "the text says NaN, = 0 is 0",
    ("2 MB", "inf"): "the text says 2, = inf is inf",
    ("float16", "16"): "= 16 makes 1 numbers, before it stand 0",
    ("all are 2", "1 == 2"): "= 1 == 2 is false",
    ("2 and 3", "(2, 3, 2 > 3)"): "= (2, 3, 2 > 3) is false",
    ("2 and 4", "(2, 3, 2 < 3)"): "the text says 4, = (2, 3, 2 < 3) is 3",
    ("2", "who"): "= who raises NameError: name 'who' is not defined",
}


@pytest.mark.parametrize(("written", "expected"), WRONG.items())
def test_a_wrong_figure_is_said_with_its_place_and_the_value(written: tuple[str, str], expected: str) -> None:
    text, expression = written
    (one,) = figures(HERE, f"here\n{text}<!-- = {expression} -->")
    assert one.fault({"inf": float("inf")}) == f"here.md:2: {expected}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0.5 <!-- = 1 / 2 -->", "should follow its figure without a blank"),
        ("0.5\n<!-- = 1 / 2 -->", "should follow its figure without a blank"),
        ("0.5<!--= 1 / 2 -->", "should be <!-- = EXPRESSION --> on one line, without --"),
        ("0.5<!-- = 1 /\n2 -->", "should be <!-- = EXPRESSION --> on one line, without --"),
        ("0.5<!-- = --0.5 -->", "should be <!-- = EXPRESSION --> on one line, without --"),
        ("```\n0.5<!-- = 1 / 2 -->\n```", "would be seen: it stands in code or a formula"),
        ("$0.5<!-- = 1 / 2 -->$", "would be seen: it stands in code or a formula"),
    ],
)
def test_a_comment_in_the_wrong_place_is_refused(text: str, why: str) -> None:
    assert [fault for fault in misplaced(HERE, text) if fault.endswith(why)]
    assert not list(misplaced(HERE, "half, 0.5<!-- = 1 / 2 -->, `code` $f$"))


@pytest.mark.parametrize(
    "text",
    [
        "recall 35/40 = 0.875, and",
        "so F1 = 2·2/(2 + 4) = 2/3.",
        "2 / (2 − 1) = 2, (5 − 2) / √20.9 = 0.6562",
        "(−1)² + 1² = 2 and 2⁻³⁰ = 9.3e-10",
        "needs log₂(20) / 4 = 1.08 bits, and −log 0.9 = 0.1054, ln 2 ≈ 0.69",
        "log(0.1 · e / (0.1 · e + 0.9)) = −1.4612, 1/(1 + 2e) = 0.1554",
        "½ · ½ = ¼, 25 · 2 · 768 = 38 400 of 124 million, 108/2 556 = 4.2 %",
        "0.940 − 0.694 = 0.247<!-- = 0.2467 --> bits, (1.8<!-- = 1 + 0.8 --> − 0.5) / 0.5 = 2.6",
        "`1 + 1 = 3`, $1 + 1 = 3$, 2x · 3 = 7, x − 2 = 7, f(2) + 1 = 7, N (2 + 3) = 7, 1 + 2 = 9 d, 0/0 = 0, m² = 1",
    ],
)
def test_written_calculations_are_read(text: str) -> None:
    assert not list(miscalculated(HERE, text))
    assert bool(list(calculations(text))) == (not text.startswith("`"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("of\n35/40 =\n0.876", "here.md:3: the text says 0.876, 35/40 is 0.875"),
        ("(5 − 2) / √20.8 = 0.6562", "here.md:1: the text says 0.6562, (5 − 2) / √20.8 is 0.6577935145"),
        ("so 0.7 + 0.2 = 0.8, also", "here.md:1: the text says 0.8, 0.7 + 0.2 is 0.9"),
        ("(1.8<!-- = 1 + 0.8 --> − 0.6) / 0.5 = 2.6", "here.md:1: the text says 2.6, (1.8 − 0.6) / 0.5 is 2.4"),
        ("0.940 − 0.693 = 0.245<!-- = 0.2467 -->", "here.md:1: the text says 0.245, 0.940 − 0.693 is 0.247"),
    ],
)
def test_a_wrong_written_calculation_is_said(text: str, expected: str) -> None:
    assert list(miscalculated(HERE, text)) == [expected]


def test_a_figure_that_no_text_says_is_shown_with_the_nearest_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert not said("layer_norm", "it is 16 + 5 = 22, so RMS norm divides")
    assert "the nearest is it is 16 + 5 = 21, so RMS norm divides" in capsys.readouterr().out
