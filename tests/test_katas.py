"""Every kata keeps what the statement promises: stub, reference, example, table, alternatives, mistakes."""

from __future__ import annotations

import doctest
import re

import pytest

from graders import checks, katas
from graders.katas import Kata, load_module
from graders.mistakes import mistakes_of
from graders.spec import CATEGORIES, parameters_of
from graders.stub import stub_of
from graders.submission import same_program
from tests.toys import run

KATAS = katas.all_katas()
CORE = {
    "self_attention", "multi_head_attention", "cosine_similarity", "triplet_loss", "info_nce",
    "binary_cross_entropy", "cross_entropy", "f1_score", "roc_auc",
}  # fmt: skip


@pytest.fixture(params=KATAS, ids=lambda kata: kata.id)
def kata(request: pytest.FixtureRequest) -> Kata:
    found: Kata = request.param
    return found


def test_the_core_nine_are_there() -> None:
    assert {kata.id for kata in KATAS} >= CORE


def test_the_easy_ones_come_first_by_design() -> None:
    order = (katas.ROOT / "katas" / "order.txt").read_text().split()
    levels = {kata.id: kata.grader.level for kata in KATAS}
    assert sorted(order) == sorted(levels)
    assert order == sorted(order, key=lambda name: levels[name])
    assert [kata.id for kata in sorted(KATAS, key=lambda kata: kata.rank)] == order
    assert (KATAS[0].id, order[0]) == ("cosine_similarity", "cosine_similarity")


def test_statement_says_the_level(kata: Kata) -> None:
    assert f"\nLevel {kata.grader.level}. Edit [" in (kata.folder / "README.md").read_text(encoding="utf-8")


def test_references_are_solved_under_a_seed_of_their_own() -> None:
    ran = run(katas.ROOT, "grade", "--reference", "--seed", "20260")
    assert ran.status == 0, ran.out
    assert f"{len(KATAS)} solved; score {100 * len(KATAS)}/{100 * len(KATAS)}" in ran.out


def test_committed_stub_is_made_from_the_reference(kata: Kata) -> None:
    stub = stub_of(kata.reference_file.read_text(encoding="utf-8"))
    if not same_program(kata.answer_file.read_text(encoding="utf-8"), stub):
        pytest.skip("the learner has begun this kata")
    assert kata.answer_file.read_text(encoding="utf-8") == stub


def test_stub_is_kept_for_forks_without_solutions(kata: Kata) -> None:
    kept = kata.kept_stub.read_text(encoding="utf-8")
    assert kept == stub_of(kata.reference_file.read_text(encoding="utf-8")), f"run: graders stub {kata.id}"


def test_stub_raises_not_implemented(kata: Kata) -> None:
    stub = stub_of(kata.reference_file.read_text(encoding="utf-8"))
    assert "# TODO" in stub
    assert stub.count("raise NotImplementedError") >= len(kata.grader.answers)


def test_reference_has_the_signatures_of_the_grader(kata: Kata) -> None:
    stub = stub_of(kata.reference_file.read_text(encoding="utf-8"))
    for answer in kata.grader.answers:
        assert re.search(rf"^(def|class) {answer.name}\b", stub, re.MULTILINE)
        for parameter in parameters_of(answer.signature):
            assert re.search(rf"\b{parameter}\b", stub)


def test_points_add_up_and_every_category_is_asked(kata: Kata) -> None:
    planned = checks.plan(kata.grader, kata.module)
    assert sum(check.points for check in planned) == 100
    assert min(check.points for check in planned) >= 1
    assert len({check.name for check in planned}) == len(planned)
    wanted = set(CATEGORIES)
    if not any(answer.differentiable or answer.parameters for answer in kata.grader.answers):
        wanted.remove("gradients")
    assert {check.category for check in planned} == wanted


def points_of(kata: Kata) -> str:
    planned = checks.plan(kata.grader, kata.module)
    rows = ["| category | checks | points |", "| --- | ---: | ---: |"]
    for category in CATEGORIES:
        points = [check.points for check in planned if check.category == category]
        if points:
            rows.append(f"| {category} | {len(points)} | {sum(points)} |")
    return "\n".join(rows)


def budgets_of(kata: Kata) -> str:
    rows = ["| budget | size | at most |", "| --- | --- | --- |"]
    for budget in (budget for answer in kata.grader.answers for budget in answer.budgets):
        sizes = ", ".join(f"{large:,} {axis}" for axis, (_, large) in budget.sizes.items())
        limits = {
            "loops": f"{budget.operators:g} × the operators, and no line run as often as an axis is long",
            "memory": f"{budget.peak:g} × the memory",
            "time": f"{budget.time:g} × the processor time",
        }
        rows.append(f"| {budget.name} | {sizes} | {'; '.join(limits[asked] for asked in budget.asks)} |")
    return "\n".join(rows)


def test_statement_lists_points_and_budgets(kata: Kata) -> None:
    text = (kata.folder / "README.md").read_text(encoding="utf-8")
    assert points_of(kata) in text
    assert budgets_of(kata) in text


def test_loops_memory_and_time_are_budgeted(kata: Kata) -> None:
    asked = [{asked for budget in answer.budgets for asked in budget.asks} for answer in kata.grader.answers]
    assert all({"loops", "memory", "time"} <= one for one in asked)
    assert sum(mistake.slow for mistake in mistakes_of(kata)) >= 3


def test_worked_example_of_the_statement_holds(kata: Kata) -> None:
    reference = load_module(kata.reference_file, f"reference_of_{kata.id}")
    text = (kata.folder / "README.md").read_text(encoding="utf-8")
    example = doctest.DocTestParser().get_doctest(text, dict(vars(reference)), kata.id, "README.md", 0)
    assert len(example.examples) >= 2
    failed, asked = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(example)
    assert (failed, asked) == (0, len(example.examples))


def test_statement_has_every_section(kata: Kata) -> None:
    text = (kata.folder / "README.md").read_text(encoding="utf-8")
    for heading in ("## Task", "## Example", "## Rules", "## What is graded", "## Follow-up questions"):
        assert heading in text
    assert text.count("<details>") == text.count("</details>") >= 5
    assert "$$" in text


def test_alternatives_and_mistakes_are_many(kata: Kata) -> None:
    assert len(list((kata.solutions / "alternatives").glob("*.py"))) >= 4
    mistakes = mistakes_of(kata)
    reference = kata.reference_file.read_text(encoding="utf-8")
    assert len(mistakes) >= 15
    assert len({mistake.name for mistake in mistakes}) == len(mistakes)
    forms = [form for mistake in mistakes for form in mistake.forms(reference).items()]
    assert len({name for name, _ in forms}) == len({source for _, source in forms}) == len(forms)
    assert all(len(mistake.diagnosis) > 20 for mistake in mistakes)


def test_main_readme_links_to_the_kata(kata: Kata) -> None:
    assert f"({kata.folder.relative_to(katas.ROOT).as_posix()})" in (katas.ROOT / "README.md").read_text(
        encoding="utf-8"
    )
