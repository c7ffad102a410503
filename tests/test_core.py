"""The core: a person whose mathematics is right is told so, and all that is left on one card."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from graders.author.pictures import printed_of
from graders.catalogue import katas
from graders.catalogue.source import read_source
from graders.catalogue.stub import stub_of
from graders.desk.progress import progress_of
from graders.desk.state import State
from graders.faults import ROOT
from graders.judge import behaviour, checks
from graders.judge.diagnosis import Diagnosis
from graders.judge.left import left_over
from graders.judge.results import Outcome, Result
from graders.judge.standard import NOT_REFUSED, OTHERWISE, refusals_in, without
from graders.judge.trial import Trial
from graders.judge.vectors import TestVectors
from graders.kata.mistakes import each_form, edited
from graders.kata.spec import CATEGORIES
from graders.sandbox.messages import Cost, Raised, Reply, Request
from graders.sandbox.submission import Submission
from tests.toys import REFERENCE, failures, grade, judged, run

SAMPLE = os.environ["KATAS_SAMPLE"]  # as in tests/conftest.py; set it to repeat a failure
TEXTBOOK = """
def scale(x, factor=2.0):
    return x / (1 / (factor or 1e-9))
"""
WRONG = TEXTBOOK.replace("1 / (factor or 1e-9)", "factor or 1e-9")
EDGE = '                Case("tiny", lambda draw: {"x": draw.normal(3, std=1e-30)}, EDGE),\n'
SOFTMAX = """
def softmax(x, dim=-1):
    exponentials = x.exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


def log_softmax(x, dim=-1):
    return softmax(x, dim).log()
"""
ONE_MAXIMUM = """
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    exponentials = (wide - wide.max()).exp()
    return (exponentials / exponentials.sum(dim, keepdim=True)).to(x.dtype)


def log_softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    wide = wide - wide.max()
    return (wide - wide.exp().sum(dim, keepdim=True).log()).to(x.dtype)
"""
LAYER_NORM = """
import torch


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    dims = tuple(range(-len(normalized_shape), 0))
    mean = x.mean(dims, keepdim=True)
    y = (x - mean) / torch.sqrt((x - mean).square().mean(dims, keepdim=True) + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias
"""
FLAT = """
import torch


def numerical_gradient(f, x, h=None):
    h = 1e-5 if h is None else h
    gradient = torch.zeros_like(x)
    for i in range(x.numel()):
        step = torch.zeros_like(x).reshape(-1)
        step[i] = h
        step = step.reshape(x.shape)
        gradient.view(-1)[i] = (f(x + step) - f(x - step)) / (2 * h)
    return gradient
"""
PER_ROW = LAYER_NORM.replace(
    "return y if", "y = torch.stack([row * 1 for row in y]) if y.dim() else y\n    return y if"
)


def saved(root: Path, text: str) -> None:
    (root / "katas/toys/scale/scale.py").write_text(text)


def card(root: Path, text: str, *more: str) -> tuple[int, list[str]]:
    saved(root, text)
    ran = run(root, "grade", "scale", *more)
    return ran.status, ran.out.splitlines()


@pytest.mark.parametrize("kata", katas.all_katas(ROOT), ids=lambda kata: str(kata.id))
def test_every_kata_has_a_core_and_more(kata: katas.Kata) -> None:
    planned = checks.plan(kata.grader, kata.module)
    core = {check.category for check in planned if check.core}
    assert {"contract", "numerics", "rules"} <= core <= {*CATEGORIES} - {"robustness", "performance"}
    assert [check.name for check in planned if check.core and check.category == "contract"] == [
        check.name for check in planned if check.name.endswith("signature")
    ]
    assert not all(check.core for check in planned)


def test_a_mistake_whose_edit_no_longer_matches_is_told_as_that(toys: Path) -> None:
    mistakes = toys / "solutions/toys/scale/mistakes.py"
    mistakes.write_text(mistakes.read_text().replace('"x / (1 / factor)"', '"x * factor"'))
    status, lines = card(toys, WRONG)
    assert (status, "judge itself failed" in "".join(lines)) == (3, False)
    assert "mistake inverse 'x * factor' should occur once in the reference, got 0" in " ".join(" ".join(lines).split())


def test_a_large_call_with_wrong_values_is_not_called_too_dear() -> None:
    messages = {"loops": "values (float32): 3 of 9 differ", "memory": "memory in use: should be at most 2 MB, got 9 MB"}
    fails = [Outcome(f"performance/many/{name}", "performance", "fail", 0, text) for name, text in messages.items()]
    rows = left_over(Result("scale", "toys", "scale.py", outcomes=fails, planned=2))
    assert [label for label, _ in rows] == ["edge", "too dear"]


def test_right_mathematics_without_refusals(toys: Path) -> None:
    status, lines = card(toys, TEXTBOOK)
    assert status == 1
    assert lines[0].startswith("CORE  scale ")
    assert lines[0].endswith("the mathematics is right; 1 check to go")
    told = [" ".join(line.split()) for line in lines]
    assert "right values and gradients of all ordinary cases" in told
    assert "lets through a kind of call that should raise ValueError" in told
    assert "no_factor: x[2], factor=0.0" in told
    assert "rerun nox -s grade -- scale -k 'not core'" in told


PRINTED = random.Random(SAMPLE).sample(sorted((ROOT / "tests/textbook").glob("*.py")), 6)  # `prove` grades them all


@pytest.mark.parametrize("file", PRINTED, ids=lambda file: f"{file.stem}-KATAS_SAMPLE={SAMPLE}")
def test_formula_as_a_textbook_prints_it_has_the_core(file: Path) -> None:
    (result,) = judged(ROOT, file.stem, [file], seed=random.Random(f"{SAMPLE} {file.stem}").randrange(10**6), core=True)
    assert (result["state"], failures(result).keys() & {one["name"] for one in result["tests"] if one["core"]}) == (
        "todo", set()
    )  # fmt: skip


def test_wrong_mathematics_is_no_core(toys: Path) -> None:
    status, lines = card(toys, WRONG)
    assert (status, lines[0].split()[0]) == (1, "FAIL")


def test_an_edge_is_no_part_of_the_core(toys: Path) -> None:
    grader = toys / "katas/toys/scale/grader.py"
    text = grader.read_text()
    flushed = REFERENCE.replace("x / (1 / factor)", "(x / (1 / factor)).where(x.abs() > 1e-20, x - x)")
    for edge, headline in (('category="robustness"', "CORE"), ("core=False", "CORE"), ("core=True", "FAIL")):
        tight = EDGE.replace("EDGE", f"{edge}, tolerance={{torch.float64: Tolerance(1e-9, 0, 0)}}")
        grader.write_text(
            text.replace("Case, Grader", "Case, Grader, Tolerance").replace(
                '                Case("no_factor"', tight + '                Case("no_factor"'
            )
        )
        _, lines = card(toys, flushed)
        assert lines[0].split()[0] == headline, edge


def test_only_the_core_is_asked_where_that_is_said(toys: Path) -> None:
    status, lines = card(toys, TEXTBOOK, "-k", "core")
    assert status == 0
    assert lines[0].startswith("PART  scale ")
    assert card(toys, TEXTBOOK, "-k", "not core")[0] == 1
    assert card(toys, WRONG, "-k", "core and float32")[0] == 1


def test_the_document_tells_the_core(toys: Path) -> None:
    results = grade(
        toys, "scale", {"textbook": TEXTBOOK, "wrong": WRONG, "right": REFERENCE, "stub": stub_of(REFERENCE)}
    )
    assert {name: (one["state"], one["core"]) for name, one in results.items()} == {
        "textbook": ("failing", True),
        "wrong": ("failing", False),
        "right": ("solved", True),
        "stub": ("todo", False),
    }
    core = [test["name"] for test in results["textbook"]["tests"] if test["core"]]
    assert "contract/signature" in core
    assert "numerics/factors/float32" in core
    assert "contract/no_factor" not in core


def test_gradients_are_called_right_only_where_they_are_tested() -> None:
    ran = run(ROOT, "grade", "f1_score", "--submission", str(ROOT / "tests/textbook/f1_score.py"))
    assert " values of all ordinary cases" in ran.out


def test_a_mistake_is_named_although_nothing_is_refused(toys: Path) -> None:
    results = grade(toys, "scale", {"without": WRONG, "with": REFERENCE.replace("x / (1 / factor)", "x / factor")})
    assert [one["mistake"] for one in results.values()] == ["inverse", "inverse"]


def test_what_fits_a_mistake_by_chance_is_not_named(toys: Path) -> None:
    """At the inputs of this run it does all that the mistake does, and at others it does not."""
    kata = katas.find_one("scale", toys)
    anew = Diagnosis(kata, None).drawn_anew  # type: ignore[arg-type]  # nothing is asked
    others = {round(float((one.arguments or {})["x"].flatten()[0]), 3) for one in anew}
    inverse = REFERENCE.replace("x / (1 / factor)", "x / factor")
    chance = inverse.replace("return x", f"return 5 * x if round(float(x.flatten()[0]), 3) in {others} else x")
    results = grade(toys, "scale", {"inverse": inverse, "chance": chance})
    assert [one["mistake"] for one in results.values()] == ["inverse", None]


def progress(root: Path) -> Any:
    state = State(root)
    try:
        return progress_of(state.events(), ["scale"])["scale"]
    finally:
        state.close()


def test_the_core_counts_as_known_with_a_mild_penalty(toys: Path) -> None:
    card(toys, TEXTBOOK)
    one = progress(toys)
    assert (one.state, one.core, one.solved, [rating for _, rating in one.ratings]) == ("core", True, 0, [3])
    assert one.due is not None
    said = run(toys, "status").out
    assert "1 core, 0 solved of 2" in said
    assert "next: affine" in said
    card(toys, REFERENCE)
    one = progress(toys)
    assert (one.state, one.solved, [rating for _, rating in one.ratings]) == ("solved", 1, [3])
    assert "1 core, 1 solved of 2" in run(toys, "status").out


def test_solved_at_once_has_no_penalty(toys: Path) -> None:
    card(toys, REFERENCE)
    assert [rating for _, rating in progress(toys).ratings] == [4]


def graded(folder: Path, kata: str, sources: dict[str, str], *more: str) -> dict[str, Any]:
    for name in ("katas", "solutions"):
        (folder / name).symlink_to(ROOT / name)
    return grade(folder, kata, sources, *more)


def test_a_mistake_of_the_core_is_named_although_edges_are_wrong_as_well(tmp_path: Path) -> None:
    """The answer also has NaN where a query sees no key, so in such a call no known mistake gives what it gives."""
    book = (ROOT / "tests/textbook/causal_attention.py").read_text(encoding="utf-8")
    (result,) = graded(tmp_path, "causal_attention", {"book": edited(book, "book", {" + Sk - Sq": ""})}).values()
    assert "robustness/empty_rows/float64" in failures(result)
    assert result["mistake"] == "top_left"


def test_a_mistake_is_named_in_an_answer_that_casts_half_precision(tmp_path: Path) -> None:
    """There it does less harm than to the known mistake, which casts nothing."""
    (result,) = graded(tmp_path, "softmax", {"cast": ONE_MAXIMUM}).values()
    assert (result["core"], result["mistake"]) == (True, "one_maximum_for_everything")


def test_parameters_that_are_wrong_in_another_way_are_not_named_as_a_known_mistake(tmp_path: Path) -> None:
    kata = katas.find_one("swiglu_mlp", ROOT)
    edits = {"self.gate_proj = nn": "self.gate = nn", "silu(self.gate_proj(x))": "silu(self.gate(x))"}
    (result,) = graded(tmp_path, kata.id, edited_references(kata, edits)).values()
    assert (result["state"], result["mistake"]) == ("failing", None)


def test_a_part_in_float32_is_named_although_another_function_and_edges_are_wrong(tmp_path: Path) -> None:
    """As public code casts: no known mistake has its rounding errors, and the other function returns other shapes."""
    kata = katas.find_one("rms_norm", ROOT)
    edits = {
        "wide = x.to(torch.promote_types(x.dtype, torch.float32))": "wide = x.float()",
        "y = wide / rms": "y = wide * (1 / rms)",
        "(g * n).flatten(0, -2).sum(0) if x.dim() > 1 else g * n": "(g * n).float().sum(tuple(range(x.dim() - 1)))",
    }
    (result,) = graded(tmp_path, kata.id, edited_references(kata, edits)).values()
    assert (result["core"], result["mistake"]) == (False, "part_in_float32")


def test_what_is_said_of_precision_holds_at_other_inputs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    kata = katas.find_one("rms_norm", ROOT)
    one, other = (Trial(TestVectors(kata.id, kata.grader, seed), None, None, {}) for seed in (1, 2))  # type: ignore[arg-type]
    for kinds in ((behaviour.DIGITS_CANCEL,) * 2, (behaviour.DIGITS_CANCEL, behaviour.PART_IN_FLOAT32), (None, None)):
        said = dict(zip((one.vectors, other.vectors), kinds, strict=True))
        monkeypatch.setattr(behaviour, "kind_at", lambda trial, _, said=said: said[trial.vectors])
        assert behaviour.of_precision(one, set(), other.vectors) is (kinds[0] if kinds[0] is kinds[1] else None)


def test_a_result_that_loses_its_ties_has_no_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs that hardly change break them, and a curve has a point for each different score."""
    (answer, *_) = katas.find_one("roc_auc", ROOT).grader.answers
    call = behaviour.Call(answer, answer.cases[0], torch.float64, 0, torch.full((3,), 1e-9), wrong=True)
    monkeypatch.setattr(behaviour, "measured", lambda *_: replace(call, errors=torch.full((5,), 1e-9)))
    assert not behaviour.rounded(SimpleNamespace(), [call])  # type: ignore[arg-type]


def test_a_mistake_of_an_edge_is_not_named_where_only_own_tests_of_the_core_fail(tmp_path: Path) -> None:
    """No known mistake draws so; on all calls of the core but those of its own tests, some do as the answer does."""
    kata = katas.find_one("sampling", ROOT)
    (result,) = graded(
        tmp_path, kata.id, edited_references(kata, {"multinomial(rows": "multinomial(rows + 0.1 * (rows > 0)"})
    ).values()
    assert "numerics/drawn_as_probable" in failures(result)
    assert (result["core"], result["mistake"]) == (False, None)


def test_strides_are_not_blamed_for_what_is_wrong_without_them(tmp_path: Path) -> None:
    book = (ROOT / "tests/textbook/rotary_embedding.py").read_text(encoding="utf-8")
    (result,) = graded(tmp_path, "rotary_embedding", {"book": book}).values()
    assert "robustness/far_positions/float64" in failures(result)
    assert "robustness/non_contiguous" not in failures(result)


def test_two_mistakes_that_share_the_replies_are_both_named(tmp_path: Path) -> None:
    (result,) = graded(tmp_path, "softmax", {"softmax": SOFTMAX}).values()
    assert (result["state"], result["core"], result["mistake"]) == ("failing", True, "no_max_shift")
    assert "; and the log is taken of the softmax" in result["diagnosis"]


def edited_references(kata: katas.Kata, *edits: dict[str, str]) -> dict[str, str]:
    reference = kata.reference_file.read_text(encoding="utf-8")
    return {f"file_{number}": edited(reference, "file", one) for number, one in enumerate(edits)}


def names_in(kata: katas.Kata, result: dict[str, Any]) -> list[str]:
    """The mistakes that are named, by the sentences for them."""
    return [one.name for one in kata.mistakes if one.diagnosis in (result["diagnosis"] or "").split("; and ")]


def test_functions_that_share_nothing_have_mistakes_of_their_own(tmp_path: Path) -> None:
    kata = katas.find_one("regression_losses", ROOT)
    square = "reduce(errors(pred, target).square(), reduction)"
    halved, unknown = ({square: square.replace("errors", f"{factor} * errors")} for factor in ("0.5", "0.7"))
    no_percent = {"reduce(100 * ": "reduce("}
    slope = {"delta * (error - 0.5 * delta)": "error - 0.5 * delta"}
    results = graded(tmp_path, kata.id, edited_references(kata, halved | slope | no_percent, unknown | no_percent))
    assert [names_in(kata, one) for one in results.values()] == [
        ["delta_factor", "misplaced_half", "no_percent"],
        ["no_percent"],  # the sentence says which function it is about
    ]


def test_a_name_says_which_function_it_is_about_where_another_one_fails_first(tmp_path: Path) -> None:
    kata = katas.find_one("rms_norm", ROOT)
    mistake = next(one for one in kata.mistakes if one.name == "grad_weight_averaged")
    unknown = {"y = wide / rms": "y = 0.7 * wide / rms"}
    (result,) = graded(
        tmp_path, kata.id, edited_references(kata, unknown | mistake.edits_of_forms[mistake.name])
    ).values()
    assert result["diagnosis"] == f"in rms_norm_backward, {mistake.diagnosis}"


def test_a_mistake_is_not_named_for_a_function_that_calls_its_own_alone(tmp_path: Path) -> None:
    """At this seed, a temperature that comes last fits the draws as well, and nothing that filter_logits gives."""
    kata = katas.find_one("sampling", ROOT)
    before = "before = p.cumsum(-1) - p  # what the larger tokens add up to"
    dropped = {before: "before = p.cumsum(-1)\n        before[..., 0] = 0", ">= top_p": "> top_p"}
    digits = {"z.to(torch.promote_types(z.dtype, torch.float32)).sort": "z.double().sort"}
    (result,) = graded(tmp_path, kata.id, edited_references(kata, dropped | digits), "--seed", "7").values()
    assert names_in(kata, result) == ["crossing_token_dropped"]


def test_a_mistake_that_spoils_what_is_right_is_not_named(tmp_path: Path) -> None:
    """Keys that stay as they are come also from changing the query's parameters, which this answer leaves alone."""
    kata = katas.find_one("moco", ROOT)
    unmoved = {"k.mul_(m).add_(q, alpha=1 - m)": "k = m * k + (1 - m) * q"}
    graph = {"keys[-size:].detach()": "keys[-size:]"}
    (result,) = graded(tmp_path, kata.id, edited_references(kata, unmoved | graph)).values()
    assert names_in(kata, result)[0] == "parameters_in_new_memory"
    assert "query_parameters_changed" not in names_in(kata, result)


def test_the_mistake_of_the_first_failure_is_named_first(tmp_path: Path) -> None:
    """Here that is of the second function, since what the first one gets wrong is no part of the core."""
    kata = katas.find_one("binary_cross_entropy", ROOT)
    weight = next(one for one in kata.mistakes if one.name == "pos_weight_ignored")
    unclamped = next(one for one in kata.mistakes if one.name == "log_of_zero")
    (result,) = graded(
        tmp_path, kata.id, edited_references(kata, *each_form({**unclamped.edits[0], **weight.edits[0]}))
    ).values()
    assert result["diagnosis"] == f"{weight.diagnosis}; and {unclamped.diagnosis}"


NEGATIVES_FORGOTTEN = """
def binary_cross_entropy(probs, target, reduction="mean"):
    return reduced(-target * probs.log(), reduction)


def binary_cross_entropy_with_logits(logits, target, pos_weight=None, reduction="mean"):
    p, w = logits.sigmoid(), 1 if pos_weight is None else pos_weight
    return reduced(-(w * target * p.log() + (1 - target) * (1 - p).log()), reduction)


def reduced(loss, reduction):
    return loss if reduction == "none" else getattr(loss, reduction)()
"""


def test_edges_of_one_function_do_not_hide_a_wrong_core_of_another(tmp_path: Path) -> None:
    """Both are first answers. Only the second is a known mistake with its edges, the first one by its core alone."""
    kata = katas.find_one("binary_cross_entropy", ROOT)
    (result,) = graded(tmp_path, kata.id, {"file": NEGATIVES_FORGOTTEN}).values()
    assert names_in(kata, result)[0] == "negative_term_forgotten"
    assert "sigmoid_then_log" in names_in(kata, result)


def test_forms_of_one_mistake_share_a_reply_and_are_named_once(tmp_path: Path) -> None:
    """One call returns what all functions made of far numbers, so no form alone gives that reply."""
    kata = katas.find_one("feature_scaling", ROOT)
    spread = {"divided(wide - low, high - low)": "((wide - low) / (high - low + 1e-8))"}
    std = "shifted.std(0, correction=0)"
    z_score = {
        f"divided(shifted - shifted.mean(0), {std})": f"((shifted - shifted.mean(0)) / ({std} + 1e-8))",
    }
    (result,) = graded(tmp_path, kata.id, edited_references(kata, spread | z_score)).values()
    assert result["diagnosis"] == next(one.diagnosis for one in kata.mistakes if one.name == "eps_added")


def test_three_mistakes_in_one_function(tmp_path: Path) -> None:
    kata = katas.find_one("numerical_gradient", ROOT)
    (result,) = graded(tmp_path, kata.id, {"flat": FLAT}).values()
    assert names_in(kata, result) == ["fixed_default_step", "reshape_copies", "result_has_a_graph"]


def test_two_mistakes_in_one_function_are_both_named(tmp_path: Path) -> None:
    """Each of them changes every call. With a third that is not known, no two give what the answer gives."""
    kata = katas.find_one("transformer_block", ROOT)
    both = {"math.sqrt(d)": "math.sqrt(D)", ', approximate="tanh"': ""}
    unknown = {"return x + self.fc2(hidden)": "return x + 0.9 * self.fc2(hidden)"}
    results = graded(tmp_path, kata.id, edited_references(kata, both, both | unknown))
    assert [sorted(names_in(kata, one)) for one in results.values()] == [["exact_gelu", "scaled_by_embed_dim"], []]


# The reference's text, and what its gradient is of in its place, while its value stays.
OTHERS_GRADIENTS = {
    "layer_norm": ("(x - mean) / torch.sqrt(var + eps)", "(x - mean) / (torch.sqrt(var) + eps)"),
    "instance_norm": ("(x - mean) / torch.sqrt(var + eps)", "(x - mean) / (torch.sqrt(var) + eps)"),
    "binary_cross_entropy": ("-(y * log_p + (1 - y) * log_not_p)", "-torch.where(y > 0.5, log_p, log_not_p)"),
}


@pytest.mark.parametrize(("name", "texts"), OTHERS_GRADIENTS.items())
def test_a_mistake_with_other_values_is_not_named_where_only_gradients_are_wrong(
    tmp_path: Path, name: str, texts: tuple[str, str]
) -> None:
    """It gives the answer's wrong gradients, but other values of the very calls that the answer's are right of."""
    kata = katas.find_one(name, ROOT)
    right, wrong = texts
    (source,) = edited_references(kata, {right: f"({wrong} + ({right} - ({wrong})).detach())"}).values()
    (result,) = graded(tmp_path, name, {"answer": source}).values()
    assert {"gradients"} == {check.partition("/")[0] for check in failures(result)} - {"performance", "robustness"}
    assert names_in(kata, result) == []


def test_budgets_are_asked_as_soon_as_the_core_holds(tmp_path: Path) -> None:
    results = graded(tmp_path, "layer_norm", {"textbook": LAYER_NORM, "loops": PER_ROW})
    assert [one["core"] for one in results.values()] == [True, True]
    assert {one["budget"] for one in results["textbook"]["costs"]} == {"many_blocks", "many_values"}
    assert not any(name.startswith("performance/") for name in failures(results["textbook"]))
    assert "performance/many_blocks/loops" in failures(results["loops"])


def card_of(folder: Path, kata: str, source: str) -> str:
    lines = printed_of(folder, katas.find_one(kata, ROOT), source).splitlines()
    return "\n".join(line.rstrip() for line in lines).rstrip()


def test_cards_of_the_docs_come_from_a_run(tmp_path: Path) -> None:
    mha, beam = (katas.find_one(name, ROOT) for name in ("multi_head_attention", "beam_search"))
    mistake = next(one for one in mha.mistakes if one.name == "scaled_by_embed_dim")
    right = beam.reference_file.read_text(encoding="utf-8")
    shown = (ROOT / "docs/cards.md").read_text(encoding="utf-8")
    for kata, source in {
        mha.id: mistake.forms(mha.reference_file.read_text(encoding="utf-8"))[mistake.name],
        beam.id: without(right, refusals_in(right)[-1:]),
    }.items():
        assert f"```text\n{card_of(tmp_path / kata, kata, source)}\n```" in shown


def test_calls_that_an_own_test_expects_to_be_refused_tell_nothing(tmp_path: Path) -> None:
    kata = katas.find_one("roc_auc", ROOT)
    mistake = next(one for one in kata.mistakes if one.name == "steps")
    source = mistake.forms(kata.reference_file.read_text(encoding="utf-8"))[mistake.name]
    (result,) = graded(tmp_path, kata.id, {"steps": without(source, refusals_in(source))}).values()
    assert "contract/a_column_beside_a_row_gives_no_result" in failures(result)
    assert result["diagnosis"] == mistake.diagnosis


def test_no_mistake_is_named_where_only_what_a_refusal_leaves_behind_is_wrong(tmp_path: Path) -> None:
    """A mistake that lets bad arguments through is as right as such an answer wherever nothing is refused."""
    kata = katas.find_one("rotary_embedding", ROOT)
    left = {"    if d % 2:\n": "    if d % 2:\n        torch.set_default_dtype(torch.float64)\n"}
    (result,) = graded(tmp_path, kata.id, edited_references(kata, left)).values()
    assert "robustness/inputs_left_alone" in failures(result)
    assert not result["diagnosis"]


def test_a_mistake_that_refuses_good_inputs_is_named_without_its_refusals(tmp_path: Path) -> None:
    kata = katas.find_one("bayes_rule", ROOT)
    reference = kata.reference_file.read_text(encoding="utf-8")
    forms = {form: (one, text) for one in kata.mistakes for form, text in one.forms(reference).items()}
    names = ("wrong_axis", "wrong_axis_3", "logs_by_way_of_exp_3", "cast_but_not_shifted")
    careless = {f"{name}_careless": without(text, refusals_in(text)) for name in names for text in [forms[name][1]]}
    careful = {name: forms[name][1] for name in ("one_maximum_for_all", "cast_but_not_shifted")}
    lets_all_through = {"reference": without(reference, refusals_in(reference))}
    results = graded(tmp_path, kata.id, careless | careful | lets_all_through)
    assert results.pop("reference")["diagnosis"].startswith(f"{NOT_REFUSED}prior should not be negative; prior should")
    assert {name: one["diagnosis"] for name, one in results.items()} == {
        **{f"{name}_careless": forms[name][0].diagnosis for name in names},
        **{name: forms[name][0].diagnosis for name in careful},
    }


def test_a_rule_of_two_functions_is_said_once(tmp_path: Path) -> None:
    kata = katas.find_one("ranking_metrics", ROOT)
    reference = kata.reference_file.read_text(encoding="utf-8")
    (result,) = graded(tmp_path, kata.id, {"lax": without(reference, refusals_in(reference))}).values()
    assert result["diagnosis"].count("k should be 1 or more") == 1


def test_a_measured_call_that_did_not_return_tells_nothing_and_the_others_do(tmp_path: Path) -> None:
    kata = katas.find_one("gradient_descent", ROOT)
    one, other = (Request("linear_regression_gd", (), {"n": n}, 0, measured="cost") for n in (1, 2))
    diagnosis = Diagnosis(kata, None)  # type: ignore[arg-type]  # nothing is asked
    failing = Submission(read_source(kata.reference_file, ""), [], None)  # type: ignore[arg-type]
    failing.replies = {one.message: (one, Reply()), other.message: (other, Reply(died="late", timed_out=True))}
    failing.hangs = 1
    assert diagnosis.telling(failing, [other, one], {"performance"}) == [one]
    assert diagnosis.telling(failing, [other, one], {"numerics", "performance"}) == []


def test_a_slow_mistake_is_known_by_what_it_had_time_and_memory_for() -> None:
    kata = katas.find_one("gradient_descent", ROOT)
    small, large = (Request("linear_regression_gd", (), {"n": n}, 0, measured="cost") for n in (1, 2))
    diagnosis = Diagnosis(kata, None)  # type: ignore[arg-type]  # nothing is asked
    failing, known = (Submission(read_source(kata.reference_file, ""), [], None) for _ in range(2))  # type: ignore[arg-type]
    cost, full = Cost(9, 9, 9, 9, 1), Raised("RuntimeError", False, "you tried to allocate 3276800000 bytes", 1)
    failing.replies = {one.message: (one, Reply(cost=cost)) for one in (small, large)}
    for lacks in (Reply(raised=full), Reply(died="late", timed_out=True)):
        known.replies = {small.message: (small, Reply(cost=cost)), large.message: (large, lacks)}
        assert diagnosis.behave_alike(known, failing, [small, large])
        known.replies = {small.message: (small, lacks), large.message: (large, Reply(cost=cost))}
        assert not diagnosis.behave_alike(known, failing, [small, large])
    known.replies = {
        small.message: (small, Reply(cost=cost)),
        large.message: (large, Reply(raised=replace(full, message=""))),
    }
    assert not diagnosis.behave_alike(known, failing, [small, large])


def test_all_refusals_that_are_missing_are_named_even_where_a_call_hangs(tmp_path: Path) -> None:
    kata = katas.find_one("info_nce_chunked", ROOT)
    reference = kata.reference_file.read_text(encoding="utf-8")
    rank, rows, _, size = refusals_in(reference)
    rows_of = "    rows = len(features)"
    hangs = without(reference, [rows, size]).replace(rows_of, f"    while not chunk_size:\n        pass\n{rows_of}")
    results = graded(tmp_path, kata.id, {"two": without(reference, [rank, rows]), "hangs": hangs})
    even = "features should have an even number of rows"
    told = {"two": f"features should be (2N, D); {even}", "hangs": f"{even}; chunk_size should be at least 1"}
    for name, rules in told.items():
        assert results[name]["core"]
        assert results[name]["diagnosis"] == f"{NOT_REFUSED}{rules}{OTHERWISE}"


ALIKE = random.Random(SAMPLE).sample(katas.all_katas(ROOT), 3)
# These of linear_models divide by what rounding alone keeps from 0: each process has other digits. linear_scan's takes
# 2,000,000 products for 2,000 steps: such a call does not return in time, so its answers are not compared. The list of
# ring_all_reduce's grows from call to call, and the mistake is asked in another order.
UNSTEADY = {"bias_in_the_norm", "equal_columns_by_lstsq", "normal_equations", "rounding_inverted"}
UNSTEADY |= {"every_product_anew", "shared_list"}


@pytest.mark.parametrize("kata", ALIKE, ids=lambda kata: f"{kata.id}-KATAS_SAMPLE={SAMPLE}")
def test_a_mistake_has_its_name_with_and_without_refusals(kata: katas.Kata, tmp_path: Path) -> None:
    """Of three forms of a kata's mistakes, those that are about more than refusals."""
    reference = kata.reference_file.read_text(encoding="utf-8")
    steady = [one for one in kata.mistakes if not one.slow and one.name not in UNSTEADY]
    known = {form: one.name for one in steady for form in one.forms(reference)}
    sources = {form: text for one in steady for form, text in one.forms(reference).items()}
    lax = {form: without(text, refusals_in(text)) for form, text in sources.items()}
    telling = sorted(form for form, text in lax.items() if text != without(reference, refusals_in(reference)))
    chosen = random.Random(f"{SAMPLE} {kata.id}").sample(telling, 3)
    careless = {f"{form}_careless": lax[form] for form in chosen}
    results = graded(tmp_path, kata.id, {form: sources[form] for form in chosen} | careless)
    named = {form: one["mistake"] for form, one in results.items() if beyond_refusals(one)}
    assert named == {form: known[form.removesuffix("_careless")] for form in named}


def beyond_refusals(result: dict[str, Any]) -> bool:
    return any(not name.startswith("contract/") for name in failures(result))
