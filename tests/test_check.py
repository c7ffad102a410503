"""`check` says what a kata lacks and where: each rule is broken in a copy of one kata."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from graders import __main__ as cli
from graders.author import check
from graders.catalogue import texts
from graders.catalogue.katas import Kata
from graders.faults import ROOT

FOLDER = "similarity/cosine_similarity"
README, FOLLOW_UP, INTERVIEW = (f"katas/{FOLDER}/{name}.md" for name in ("README", "follow_up", "interview"))
GRADER, STUB, KEPT = (f"katas/{FOLDER}/{name}.py" for name in ("grader", "cosine_similarity", ".stub"))
REFERENCE, MISTAKES = (f"solutions/{FOLDER}/{name}.py" for name in ("cosine_similarity", "mistakes"))
HINTS = f"solutions/{FOLDER}/hints.md"
RIGHT = "cosine_similarity(x, y, dim=-1, eps=1e-8)"
AS_MADE = "should be what the reference makes; run: python -m graders stub cosine_similarity"

OF_NUMBERS = f"""Grader((Answer(
    {RIGHT!r}, oracle=lambda x, y: 1.0, cases=(Case("one", lambda draw: {{"x": 1, "y": 2}}),),
    budgets=(Budget("more", sizes={{"x": (1, 4)}}, inputs=lambda draw, x: {{"x": x, "y": 2}}),)),))"""
NO_GRADIENTS = "Case = lambda *all, _=Case, **more: _(*all, **{**more, 'gradients': 'none'})"
RAISES = 'if x.ndim > 9:\n        raise ValueError(f"sizes should be {y.shape}, got {x.shape}")\n    '
TWIST = "## Twist\n<!-- kata: NAME -->\n\n" + "Now more. " * 9 + "\n\n### Model answer\n\n" + "So. " * 30 + "\n\n"

# The file, what stands there, what is put in its place; then what is said, with {place} for file and line of a text.
BROKEN = {
    "title": (README, "title: Cosine similarity", "title: ''", "", f"{README} should begin with title, topic, level, "
        "after, minutes (title should be a text, got '')"),
    "unknown_after": (README, "after: []", "after: [nowhere]", "after:",
        "after names nowhere, and there is no such kata"),
    "higher_after": (README, "after: []", "after: [harder]", "after:",
        "after names harder of level 2, which is above 1"),
    "itself_after": (README, "after: []", "after: [cosine_similarity]", "after:",
        "after names cosine_similarity, which builds on cosine_similarity itself"),
    "continues": (README, "after: []", "after: []\ncontinues: harder", "continues:",
        "after should also name harder, which this kata continues"),
    "heading": (README, "## Formula", "## Formulas", "## Formula", "there should be no heading '## Formulas'"),
    "no_heading": (README, "## Example", "Example", "", f"{README}: the heading '## Example' is missing"),
    "order": (README, "# Cosine similarity\n", "# Cosine similarity\n\n## What is graded\n", "", f"{README}: each "
        "heading should stand there once, in this order: # Cosine similarity, ## Formula, ## Example, ## Write this "
        "first, ## Then make it robust, ## Must hold, ## What is graded"),
    "edit": (README, "then run `nox", "and run `nox", "Edit [", "above the formula should stand 'Edit "
        "[cosine_similarity.py](cosine_similarity.py), then run `nox -s grade -- cosine_similarity`.'"),
    "formula": (README, "$$", "$", "## Formula", "the front page should have a formula between $$ and $$"),
    "folds": (README, "<summary>The full contract", "<summary>All", "<summary>",
        "the folds should be 'The full contract' and 'What is graded', got ['All', 'What is graded']"),
    "end": (README, "go on with the [follow", "see the [follow", "When the core is right", "the last line should be "
        "'When the core is right, go on with the [follow-up questions](follow_up.md).'"),
    "length": (README, "How alike are", "How alike " + "are " * 250, "",
        f"{README}: the front page should have 250 words or fewer, got "),
    "bullets": (README, "- Take the dot", "* Take the dot", "## Write this first",
        "three to five bullets should say what to write first, got 2"),
    "core_alone": (README, "-k core", "-k corps", "## Write this first",
        "`nox -s grade -- cosine_similarity -k core` should stand below the bullets"),
    "unannounced_core": (README, "one_vector large_batch known_angles scaling", "one_vector known_angles scaling",
        "## Write this first", "no bullet names large_batch, a check of the core"),
    "foreign_core": (README, "<!-- above_eps around_eps -->\n\n", "<!-- zero_vectors above_eps around_eps -->\n\n",
        "zero_vectors above", "zero_vectors is no check of the core"),
    "calls": (README, "Do not call `F.cosine", "Never use `F.cosine", "## Write this first",
        "a bullet should say what is banned, as 'Do not call …', and none the opposite"),
    "nothing_banned": (README, "divide.\n", "divide. All of torch is allowed.\n", "## Write this first",
        "a bullet should say what is banned, as 'Do not call …', and none the opposite"),
    "all_allowed": (GRADER, "banned=bans.UNIT_LENGTH", "banned=()", "",
        "a bullet should say 'All of torch is allowed.', and none the opposite"),
    "linter": (GRADER, "GRADER = Grader(", "GRADER = Grader(  # noqa", "# noqa",
        "write it in a way that needs no # noqa"),
    "no_row": (README, "`both_long`", "", "## Then make it robust", "no row of the table names both_long"),
    "foreign_row": (README, "`both_long`", "`both_long`, `one_vector`", "`both_long`",
        "one_vector is no check beyond the core"),
    "unannounced": (README, "<!-- known_angles -->", "", "", "no fact under 'Must hold' announces known_angles"),
    "unannounced_test": (README, "scaling_changes_nothing swapping_changes_nothing far", "swapping_changes_nothing far",
        "", "no fact under 'Must hold' announces scaling_changes_nothing"),
    "unheld": (README, "<!-- known_angles -->", "<!-- known_angles\n  and_more -->", "and_more -->",
        "no case and no test is called and_more"),
    "no_dash": (README, "- Unless a norm is", "Unless a norm is", "Unless a norm is",
        "a fact should begin with '- ', got 'Unless a norm is below `eps` or its squa'"),
    "no_promises": (README, "docs/rules.md", "", "## Must hold",
        "a fact should lead to what every kata asks, (../../../docs/rules.md)"),
    "error_unnamed": (README, "- Gradients flow", "- `ValueError` is raised. Gradients flow", "## Must hold",
        "`ValueError` should be named where a case raises it, and only there"),
    "example": (README, "0.6000])", "0.7000])", ">>> cosine_similarity(x, y)", "`cosine_similarity(x, y)` should give "
        "'tensor([0.9600, 0.7000])', got 'tensor([0.9600, 0.6000])'"),
    "example_raises": (README, ">>> cosine_similarity(x, y)", ">>> cosine_similarity(x, z)", ">>> cosine_similarity(",
        "`cosine_similarity(x, z)` should give 'tensor([0.9600, 0.6000])', "
        "got \"NameError: name 'z' is not defined\""),
    "no_blank": (README, ">>> x = torch", ">>>x = torch", "## Example", "line 35 of the docstring for "),
    "tables": (README, "| rules | 1 | 2 |", "| rules | 1 | 3 |", "## What is graded",
        "the tables should be the grader's; run: python -m graders statement cosine_similarity"),
    "core_line": (README, "tests this; float32 inside float64 fails.", "tests this alone.", "## What is graded",
        "the tables should be the grader's; run: python -m graders statement cosine_similarity"),
    "signature": (README, "eps: float = 1e-8,", "eps: float = 1e-3,", "def cosine_similarity(", "cosine_similarity(x, "
        f"y, dim=-1, eps=0.001) should be {RIGHT}, as in the reference"),
    "no_signature": (README, "def cosine_similarity(", "def cosine(", "```python",
        "the block of code should define cosine_similarity"),
    "no_python": (README, ") -> Tensor: ...", ") -> Tensor ...", ") -> Tensor ...",
        "the block of code should be Python: expected ':'"),
    "signature_of_hints": (HINTS, "eps: float = 1e-8", "eps: float = 0", "def cosine_similarity(", "cosine_similarity(x"
        f", y, dim=-1, eps=0) should be {RIGHT}, as in the reference"),
    "signature_of_prompt": (INTERVIEW, "y, dim=-1, eps=1e-8", "z, dim=-1, eps=1e-8", "`cosine_similarity(",
        f"cosine_similarity(x, z, dim=-1, eps=1e-8) should be {RIGHT}, as in the reference"),
    "signature_of_grader": (GRADER, "y, dim=-1, eps=1e-8)", "y, dim=-1)", "y, dim=-1)",
        f"cosine_similarity(x, y, dim=-1) should be {RIGHT}, as in the reference"),
    "name_of_grader": (GRADER, f'"{RIGHT}"', '"cosine(x, y)"', "cosine(x, y)", "the reference should define cosine"),
    "grader": (GRADER, "GRADER =", "GRADED =", "", f"{GRADER} should define GRADER, a Grader"),
    "grader_raises": (GRADER, '"five_by_seven"', '"five by seven"', "",
        f"{GRADER}: a case's name should be an identifier, got 'five by seven'"),
    "case": (GRADER, 'Case("one_vector", pair(7))', 'Case("one_vector", lambda draw: {"x": draw.normal(wide=7)})',
        'Case("one_vector"', "the grader's case one_vector failed: TypeError: "),
    "first_case_fails": (GRADER, 'Case("five_by_seven", pair(5, 7))', 'Case("five_by_seven", lambda draw: {"x": y})',
        'Case("five_by_seven"', "the grader's case five_by_seven failed: NameError: name 'y' is not defined"),
    "no_budgets": (GRADER, "budgets=(", "budgets=() and (", "GRADER =",
        "a Budget should limit the cost, since the inputs are tensors"),
    "useless_budget": (GRADER, "GRADER = Grader(", f"GRADER = {OF_NUMBERS} or Grader(", "Budget",
        "no Budget is needed, since no text comes in, and no tensor in or out"),
    "first_case": (GRADER, 'Case("five_by_seven", pair(5, 7))', 'Case("five_by_seven", pair(5, 7, dim=0))',
        'Case("five_by_seven"', "the first case should leave out dim, which has a default"),
    "no_gradients": (GRADER, "def pair(", f"{NO_GRADIENTS}\n\n\ndef pair(", "GRADER =",
        "some check should be about gradients, got none"),
    "unknown_kind": (INTERVIEW, "<!-- kind: dtypes -->", "<!-- kind: charm -->", "",
        "interview.md names kinds that katas/interview.md lacks: charm"),
    "unanswered": (INTERVIEW, "- gradients: ", "- gradient: ", "", f"{INTERVIEW}: under '## Contract' should stand "
        "'- gradients: …', since people ask 'Which gradients are needed?'"),
    "answered_twice": (INTERVIEW, "- gradients: ", "- cost: None.\n- gradients: ", "- cost: None",
        "leave it out, since a question of the kind cost has the answer"),
    "answers_no_kind": (INTERVIEW, "- without: ", "- charm: None.\n- without: ", "- charm:",
        "katas/interview.md has no question of the kind charm"),
    "gradient_not_named": (INTERVIEW, "They flow to x and y.", "They flow to x.", "",
        f"{INTERVIEW}: what it says of gradients should name y, since the grader tests its gradient"),
    "infinity_drawn": (GRADER, '"one_vector", pair(7)', '"one_vector", pair(7, std=torch.inf)', "",
        f"{INTERVIEW}: under '## Contract' should stand '- infinities: …', since one_vector has such an input"),
    "asked_twice": (FOLLOW_UP, "Can a computed cosine exceed 1, and where does that hurt?", "What shape comes back?",
        "",        "this should not be a follow-up question also, got 'What shape comes back?'"),
    "words_of_a_raise": (REFERENCE, "x, y = torch.b", RAISES + "x, y = torch.b", "raise ValueError",
        "learners would read 'sizes should be'; say what should be without values"),
    "no_to_do": (REFERENCE, "# TODO", "#", "# --- solution", "the solution should have # TODO comments"),
    "old_kept_stub": (KEPT, "eps", "epsilon", "", f"{KEPT} {AS_MADE}"),
    "old_stub": (STUB, "# TODO", "# To do", "", f"{STUB} {AS_MADE}"),
    "no_slow_mistake": (MISTAKES, "slow=True", "slow=False", "MISTAKES = (",
        "a Mistake should have slow=True where there is a budget"),
    "edit_of_a_mistake": (REFERENCE, "((x / x_norm) * (y / y_norm))", "(x / x_norm * (y / y_norm))", "",
        "mistake eps_added_to_the_product: '((x / x_norm) * (y / y_norm)).sum(dim)' should occur once in the "
        "reference, got 0"),
    "hint": (HINTS, "## The idea", "## Ideas", "", f"{HINTS}: the heading '## The idea' is missing"),
    "follow_up": (FOLLOW_UP, "hurt?</summary>", "hurt.</summary>", "Can a computed", "a question should end with ? and "
        "have no formula in it, got 'Can a computed cosine exceed 1, and where does that hurt.'"),
    "long_answer": (FOLLOW_UP, "Yes, by rounding:", "Yes, by " + "some " * 95 + "rounding:", "Can a computed",
        "an answer should have 95 words or fewer, got "),
    "fold_of_follow_up": (FOLLOW_UP, "</details>\n\n<details><summary>Can", "<details><summary>Can", "<details>",
        "each answer should be folded by a <details> of its own"),
    "title_of_follow_up": (FOLLOW_UP, "# Follow-up questions: cosine", "# Follow-up questions: cos",
        "# Follow-up", "there should be no heading '# Follow-up questions: cos_similarity'"),
    "prompt": (INTERVIEW, "## Prompt", "## Task", "", f"{INTERVIEW} should say something under 'Prompt'"),
    "twice": (INTERVIEW, "### What may I not call?", "### What shape comes back?", "",
        f"{INTERVIEW}: a question is there twice: 'What shape comes back?'"),
    "title_of_interview": (INTERVIEW, "# Interview: ", "# ", "# ",
        "the heading '# Interview: cosine_similarity' is missing"),
    "asked": (README, "asked: often", "asked: sometimes", "asked:", "asked should be often, since the links below "
        "'Reported by candidates:' in follow_up.md lead to 2 independent places"),
    "asked_without_links": (FOLLOW_UP, "Reported by candidates:", "Others wrote:", "", f"{README}:7: asked should be "
        "left out, since the links below 'Reported by candidates:' in follow_up.md lead to 0 independent places"),
    "asked_by_one_site": (FOLLOW_UP, "https://github.com/", "https://prachub.com/", "", f"{README}:7: asked should be "
        "sometimes, since the links below 'Reported by candidates:' in follow_up.md lead to 1 independent places"),
    "twist_unknown": (INTERVIEW, "## Clarifying", TWIST.replace("NAME", "nowhere") + "## Clarifying", "<!-- kata:",
        "the twist leads to nowhere, and that is no other kata with a page"),
    "twist_short": (INTERVIEW, "## Clarifying", "## Twist\n\nMore.\n\n### Model answer\n\nMore.\n\n## Clarifying",
        "## Twist",
        "a twist and its answer should have more than 80 characters each, and no formula in $"),
    "twist_unanswered": (INTERVIEW, "## Clarifying", "## Twist\n\nMore.\n\n## Clarifying", "",
        f"{INTERVIEW} should say something under 'Model answer'"),
    "left_to_do": (HINTS, "## A nudge\n", "## A nudge\n\n| TODO(author): say <code>more</code>. |\n", "| TODO(author)",
        "left to do: say"),
}  # fmt: skip
MISSING = (README, FOLLOW_UP, INTERVIEW, GRADER, REFERENCE, MISTAKES, HINTS)


@pytest.fixture
def kata(tmp_path: Path) -> Kata:
    """A copy of one that lacks nothing, and beside it one of level 2."""
    for part in ("katas", "solutions"):
        shutil.copytree(ROOT / part / FOLDER, tmp_path / part / FOLDER)
    shutil.copy(ROOT / "katas/interview.md", tmp_path / "katas")
    kata, harder = (Kata(tmp_path, "similarity", name) for name in ("cosine_similarity", "harder"))
    page = texts.interview_file(kata)
    page.write_text(page.read_text().partition("\n## Twist")[0])  # the kata that it leads to is not copied
    shutil.copytree(kata.folder, harder.folder)
    harder.statement.write_text(kata.statement.read_text().replace("level: 1", "level: 2"))
    return kata


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_lacking_is_said(kata: Kata, name: str) -> None:
    file, old, new, anchor, words = BROKEN[name]
    path = kata.root / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    place = f"{file}:{path.read_text().partition(anchor)[0].count(chr(10)) + 1}: " if anchor else ""
    found = check.lacks(kata)
    print("\n".join(found))
    assert any(sentence.startswith(place) and words in sentence for sentence in found)
    assert [words in sentence for sentence in found].count(True) == 1
    assert all(sentence.startswith(("katas/similarity/cos", "solutions/similarity/cos")) for sentence in found)


def test_a_twist_that_leads_to_another_kata_is_read(kata: Kata) -> None:
    page = texts.interview_file(kata)
    assert texts.twist(kata) is None
    page.write_text(page.read_text() + "\n" + TWIST.replace("NAME", "harder"))
    assert check.lacks(kata) == []
    found = texts.twist(kata)
    assert found == texts.Twist(("Now more. " * 9).strip(), ("So. " * 30).strip(), "harder")
    assert len(texts.clarifying(kata)) == len(texts.clarifying(Kata(ROOT, "similarity", "cosine_similarity")))


def test_nothing_is_lacking_in_what_was_broken(kata: Kata) -> None:
    assert check.lacks(kata) == []


@pytest.mark.parametrize("file", MISSING)
def test_missing_file_is_one_sentence(kata: Kata, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    (kata.root / file).unlink()
    status = cli.main(["check", "cosine_similarity"], kata.root)
    assert (status, capsys.readouterr().out.splitlines()) == (1, [f"{file} is missing"])


def test_alternatives_and_mistakes_are_counted(kata: Kata) -> None:
    for path in sorted((kata.solutions / "alternatives").glob("*.py"))[3:]:
        path.unlink()
    mistakes = kata.solutions / "mistakes.py"
    mistakes.write_text(
        "from graders.kata import Mistake\nMISTAKES = (\n"
        '    Mistake("one", "short", {"sum(dim)": "mean(dim)"}, slow=True),\n'
        '    Mistake("one", "the products are averaged; sum them", {"sum(dim)": "mean(dim)"}),\n)\n'
    )
    shown = f"{MISTAKES}:3"
    assert check.lacks(kata) == [
        "solutions/similarity/cosine_similarity/alternatives should have 4 right answers or more, got 3",
        f"{MISTAKES}:2: there should be 8 mistakes or more, got 2",
        f"{shown}: the diagnosis should say what is wrong and what to do, got 'short'",
        f"{shown}: two mistakes have the name one",
        f"{shown}: one and one make the same edits",
    ]


def test_what_somebody_is_working_on_is_no_old_stub(kata: Kata) -> None:
    kata.answer_file.write_text(kata.reference_file.read_text())
    assert check.lacks(kata) == []


def test_sets_paths_and_the_main_table_are_looked_at(kata: Kata, capsys: pytest.CaptureFixture[str]) -> None:
    (kata.root / "katas/sets.yaml").write_text("first:\n  - cosine_similarity\n  - gone\n")
    (kata.root / "katas/paths.yaml").write_text("week:\n  title: A week\n  katas:\n  - gone\n")
    (kata.root / "README.md").write_text("- `none`: one\n\n")
    assert cli.main(["check", "cosine_similarity"], kata.root) == 1
    assert capsys.readouterr().out.splitlines() == [
        "katas/sets.yaml:3: the set first names gone, and there is no such kata",
        "katas/paths.yaml:4: the path week names gone, and there is no such kata",
        "README.md: the list of all katas, or the address, is an old one; run: python -m graders statement",
    ]
    (kata.root / "katas/sets.yaml").unlink()
    (kata.root / "katas/paths.yaml").unlink()
    assert cli.main(["statement", "cosine_similarity"], kata.root) == 0
    assert cli.main(["check", "cosine_similarity"], kata.root) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing is lacking: cosine_similarity"
