"""Every kata keeps what the statement promises: stub, reference, example, table, alternatives, mistakes."""

from __future__ import annotations

import doctest
import re
import statistics

import pytest
from torch import Tensor

from graders.author.statement import with_path, with_tables
from graders.catalogue import katas
from graders.catalogue import statement as questions
from graders.catalogue.katas import Kata, load_module
from graders.catalogue.source import same_program
from graders.catalogue.stub import stub_of
from graders.faults import ROOT
from graders.judge import checks
from graders.judge.vectors import TestVectors
from graders.kata.spec import CATEGORIES, Draw, parameters_of
from tests.toys import run

KATAS = katas.all_katas()
ALWAYS = re.compile(
    r"contract/.*signature|rules/(.*_)?calls|robustness/.*(non_contiguous|inputs_left_alone|same_answer_twice)"
)
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


def test_path_leads_from_what_a_kata_builds_on_to_the_kata() -> None:
    path = katas.path(ROOT)
    levels = {kata.id: kata.about.level for kata in KATAS}
    assert sorted(path) == sorted(levels)
    assert [levels[name] for name in path] == sorted(levels.values())
    for kata in KATAS:
        assert all(path.index(name) < path.index(kata.id) for name in kata.about.after), kata.id


def test_main_readme_shows_the_path() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_path(readme, KATAS) == readme, "run: graders statement"
    assert all(f"[{kata.about.title}]" in readme for kata in KATAS)


def test_references_are_solved_under_a_seed_of_their_own() -> None:
    ran = run(ROOT, "grade", "--reference", "--seed", "20260")
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
    assert "raise NotImplementedError" in stub


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
    if not any(answer.differentiates for answer in kata.grader.answers):
        wanted.remove("gradients")
    if not any(answer.budgets for answer in kata.grader.answers):
        wanted.remove("performance")
    assert {check.category for check in planned} == wanted


def test_statement_lists_points_and_budgets(kata: Kata) -> None:
    assert kata.statement.read_text(encoding="utf-8") == with_tables(kata), f"run: graders statement {kata.id}"


def test_costs_are_budgeted(kata: Kata) -> None:
    """Where tensors come in: of a number there is little to save."""
    inputs = [answer.cases[0].inputs for answer in kata.grader.answers if answer.cases]
    firsts = [made(Draw(0)) for made in inputs if made]
    given = [value for made in firsts for one in (made if isinstance(made, list) else [made]) for value in one.values()]
    budgets = [budget for answer in kata.grader.answers for budget in answer.budgets]
    assert bool(budgets) == (not firsts or any(isinstance(value, Tensor) for value in given))
    assert bool(budgets) == any(mistake.slow for mistake in kata.mistakes)


def test_worked_example_of_the_statement_holds(kata: Kata) -> None:
    reference = load_module(kata.reference_file, f"reference_of_{kata.id}")
    text = (kata.folder / "README.md").read_text(encoding="utf-8")
    example = doctest.DocTestParser().get_doctest(text, dict(vars(reference)), kata.id, "README.md", 0)
    assert len(example.examples) >= 2
    failed, asked = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(example)
    assert (failed, asked) == (0, len(example.examples))


def test_statement_has_the_form(kata: Kata) -> None:
    text = kata.statement.read_text(encoding="utf-8")
    assert re.findall(r"^#+ .*", text, re.MULTILINE) == [
        f"# {kata.about.title}", "## Formula", "## Example", f"## {questions.FIRST}", f"## {questions.THEN}",
        "## Must hold", "## What is graded",
    ]  # fmt: skip
    before, _, after = text.partition("## Formula")
    assert f"Edit [{kata.id}.py]({kata.id}.py), then run `nox -s grade -- {kata.id}`." in before
    assert "```python\n" in before
    assert "$$" in questions.front_of(after)
    assert re.findall(r"<summary>(.*)</summary>", text) == ["The full contract", "What is graded"]
    assert text.count("<details>") == text.count("</details>") == 2
    assert text.endswith("[follow-up questions](follow_up.md).\n")


def words_of(kata: Kata) -> int:
    """Of the front page, without code, formulas and the names of checks."""
    text = questions.front_of(questions.text_of(kata))
    text = re.sub(r"```.*?```|\$\$.*?\$\$", "", text, flags=re.DOTALL)
    return len(re.sub(r"\|[^|\n]*\|$|\|[ :-]*", " ", text, flags=re.MULTILINE).split())


def test_front_pages_are_short() -> None:
    counts = {kata.id: words_of(kata) for kata in KATAS}
    print("\n".join(f"{count:4} {name}" for name, count in sorted(counts.items(), key=lambda pair: pair[1])))
    assert statistics.median(counts.values()) <= 250
    assert max(counts.values()) <= 330


def test_front_page_announces_the_core_and_nothing_else(kata: Kata) -> None:
    """Each bullet names the cases that it is about; the table names all else, bad arguments and cost in a row each."""
    first, _, then = questions.front_of(questions.read(kata, kata.statement)).partition(f"## {questions.THEN}\n")
    first = first.partition(f"## {questions.FIRST}\n")[2]
    assert 3 <= len(re.findall(r"^- ", first, re.MULTILINE)) <= 5
    assert f"`nox -s grade -- {kata.id} -k core`" in first
    named = " ".join(re.findall(r"<!-- (.*?) -->", first, re.DOTALL)).split()
    planned = [check for check in checks.plan(kata.grader, kata.module) if not ALWAYS.fullmatch(check.name)]
    core = {check.name.split("/")[1] for check in planned if check.core}
    assert set(named) == core
    wanted = {
        check.category if check.category in ("contract", "performance") else check.name.split("/")[1]
        for check in planned
        if not check.core
    }
    rows = re.findall(r"^\|.*\| ([^|]*) \|$", then, re.MULTILINE)[2:]
    found = {re.sub(r"^.*(?=half_precision)", "", name) for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert found == {re.sub(r"^.*(?=half_precision)", "", name) for name in wanted}


def test_nothing_is_checked_that_the_statement_does_not_announce(kata: Kata) -> None:
    """Each fact is followed by the names of the cases and tests that check it, in a comment."""
    text = questions.read(kata, kata.statement)
    facts = text.partition("## Must hold\n")[2].partition("</details>")[0].strip()
    named = " ".join(re.findall(r"<!-- (.*?) -->", facts, re.DOTALL)).split()
    cases = [case.name for answer in kata.grader.answers for case in answer.cases]
    tests = [name.removeprefix("test_") for name in vars(kata.module) if name.startswith("test_")]
    assert set(named) == {*cases, *tests}
    assert all(fact.startswith("- ") for fact in re.split(r"\n(?! )", facts))
    assert "(../../../README.md#what-every-kata-asks)" in facts
    assert ("`ValueError`" in facts) == any(case.raises for answer in kata.grader.answers for case in answer.cases)


def test_first_case_leaves_out_what_has_a_default(kata: Kata) -> None:
    """So whoever has the plain formula first passes something."""
    vectors = TestVectors(kata.id, kata.grader, 0)
    for answer in kata.grader.answers:
        listed = parameters_of(answer.forward or answer.signature).items()
        optional = {name for name, default in listed if default is not ...}
        for case in answer.cases[:1]:
            given = [] if case.scenario else vectors.arguments(case)
            assert not [one for one in given if optional & one.keys()], f"{case.name} should use defaults alone"


def test_follow_up_questions_are_many_and_apart(kata: Kata) -> None:
    text = (kata.folder / "follow_up.md").read_text(encoding="utf-8")
    asked = [question.question for question in questions.follow_ups(kata)]
    assert len(asked) == len(set(asked)) == text.count("<details>") == text.count("</details>") >= 8
    assert all(question.endswith("?") for question in asked)


def test_alternatives_and_mistakes_are_many(kata: Kata) -> None:
    assert len(list((kata.solutions / "alternatives").glob("*.py"))) >= 4
    mistakes = kata.mistakes
    reference = kata.reference_file.read_text(encoding="utf-8")
    assert len(mistakes) >= 8
    assert len({mistake.name for mistake in mistakes}) == len(mistakes)
    forms = [form for mistake in mistakes for form in mistake.forms(reference).items()]
    assert len({name for name, _ in forms}) == len({source for _, source in forms}) == len(forms)
    assert all(len(mistake.diagnosis) > 20 for mistake in mistakes)
