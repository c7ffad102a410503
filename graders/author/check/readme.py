"""What a kata's statement lacks: its form, its front page, its facts, its tables."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from typing import Any

from graders.author.check.page import NAMES, Page
from graders.author.statement import HEADING, with_tables
from graders.catalogue import katas, texts
from graders.catalogue.katas import Kata, load_module
from graders.judge import checks

LONGEST = 250  # words of a front page
BULLETS = range(3, 6)
FORBIDS = re.compile(r"\bDo not call (or inherit )?")
PROMISES = "(../../../docs/rules.md)"
FOLLOW_UP = "When the core is right, go on with the [follow-up questions](follow_up.md).\n"
# What every kata is asked alike is announced in the main README.
ALWAYS = re.compile(
    r"contract/.*signature|rules/(.*_)?calls|robustness/.*(non_contiguous|inputs_left_alone|same_answer_twice)"
)


def about(kata: Kata) -> Iterator[str]:
    """It builds on katas that come before it on the path. Raises: UsageError where the front matter is unclear."""
    page, others = Page.of(kata, kata.statement), {one.id: one for one in katas.found_katas(kata.root)}
    for name in kata.about.after:
        if name not in others:
            yield f"{page.at('after:')}: after names {name}, and there is no such kata"
        elif others[name].about.level > kata.about.level:
            level = others[name].about.level
            yield f"{page.at('after:')}: after names {name} of level {level}, which is above {kata.about.level}"
        elif others[name].rank >= kata.rank:
            yield f"{page.at('after:')}: after names {name}, which builds on {kata.id} itself"
    if kata.about.continues not in ("", *kata.about.after):
        yield f"{page.at('continues:')}: after should also name {kata.about.continues}, which this kata continues"


def form(kata: Kata) -> Iterator[str]:
    page = Page.of(kata, kata.statement)
    wanted = [
        f"# {kata.about.title}", "## Formula", "## Example", f"## {texts.FIRST}", f"## {texts.THEN}", "## Must hold",
        HEADING.strip(),
    ]  # fmt: skip
    yield from headings(page, wanted)
    edit = f"Edit [{kata.id}.py]({kata.id}.py), then run `nox -s grade -- {kata.id}`."
    before, _, after = page.text.partition("## Formula")
    if edit not in before:
        yield f"{page.at('Edit [')}: above the formula should stand {edit!r}"
    if "```python\n" not in before:
        yield f"{page.at('## Formula')}: a block of code above the formula should show what to write"
    if "$$" not in texts.front_of(after):
        yield f"{page.at('## Formula')}: the front page should have a formula between $$ and $$"
    folds, tags = re.findall(r"<summary>(.*)</summary>", page.text), re.findall(r"</?details>", page.text)
    if folds != ["The full contract", "What is graded"] or tags != ["<details>", "</details>"] * 2:
        yield f"{page.at('<summary>')}: the folds should be 'The full contract' and 'What is graded', got {folds}"
    if not page.text.endswith(FOLLOW_UP):
        yield f"{page.at(len(page.text) - 1)}: the last line should be {FOLLOW_UP.strip()!r}"


def headings(page: Page, wanted: list[str]) -> Iterator[str]:
    found = re.findall(r"^#+ .*", page.text, re.MULTILINE)
    for heading in (one for one in wanted if one not in found):
        yield f"{page.shown}: the heading {heading!r} is missing"
    for heading in (one for one in found if one not in wanted):
        yield f"{page.at(heading)}: there should be no heading {heading!r}"
    if set(found) == set(wanted) and found != wanted:
        yield f"{page.shown}: each heading should stand there once, in this order: {', '.join(wanted)}"


def words_of(kata: Kata) -> int:
    """Of the front page, without code, formulas and the names of checks."""
    text = texts.front_of(texts.text_of(kata))
    text = re.sub(r"```.*?```|\$\$.*?\$\$", "", text, flags=re.DOTALL)
    return len(re.sub(r"\|[^|\n]*\|$|\|[ :-]*", " ", text, flags=re.MULTILINE).split())


def length(kata: Kata) -> Iterator[str]:
    count = words_of(kata)
    if count > LONGEST:
        shown = kata.statement.relative_to(kata.root)
        yield f"{shown}: the front page should have {LONGEST} words or fewer, got {count}"


def front_page(kata: Kata) -> Iterator[str]:
    """Each bullet names the cases that it is about; the table names all else, bad arguments and cost in a row each."""
    page = Page.of(kata, kata.statement)
    first = page.between(f"## {texts.FIRST}\n", f"## {texts.THEN}\n")
    write, robust = page.at(f"## {texts.FIRST}"), page.at(f"## {texts.THEN}")
    bullets = len(re.findall(r"^- ", first.text, re.MULTILINE))
    if bullets not in BULLETS:
        yield f"{write}: three to five bullets should say what to write first, got {bullets}"
    if f"`nox -s grade -- {kata.id} -k core`" not in first.text:
        yield f"{write}: `nox -s grade -- {kata.id} -k core` should stand below the bullets"
    planned = [check for check in checks.plan(kata.grader, kata.module) if not ALWAYS.fullmatch(check.name)]
    core = {short(check) for check in planned if check.core}
    beyond = {in_table(check) for check in planned if not check.core}
    named, rows = first.named(), in_rows(page.between(f"## {texts.THEN}\n", "<details>"))
    for name in sorted(core - named.keys()):
        yield f"{write}: no bullet names {name}, a check of the core"
    for name in sorted(named.keys() - core):
        yield f"{named[name]}: {name} is no check of the core"
    for name in sorted(beyond - rows.keys()):
        yield f"{robust}: no row of the table names {name}"
    for name in sorted(rows.keys() - beyond):
        yield f"{rows[name]}: {name} is no check beyond the core"


def calls(kata: Kata) -> Iterator[str]:
    """What must not be called is part of the core, so the front page says it, or that there is no such thing."""
    page = Page.of(kata, kata.statement)
    first = page.between(f"## {texts.FIRST}\n", f"## {texts.THEN}\n").text
    words = " ".join(NAMES.sub("", first).split())
    forbids, allows = bool(FORBIDS.search(words)), "All of torch is allowed." in words
    if (forbids, allows) != (bool(kata.grader.banned), not kata.grader.banned):
        wanted = "what is banned, as 'Do not call …'" if kata.grader.banned else "'All of torch is allowed.'"
        yield f"{page.at(f'## {texts.FIRST}')}: a bullet should say {wanted}, and none the opposite"


def short(check: checks.Check) -> str:
    return check.name.split("/")[1]


def in_table(check: checks.Check) -> str:
    """How the table of a front page names it."""
    if check.category in ("contract", "performance"):
        return check.category
    return without_answer(short(check))


def without_answer(name: str) -> str:
    return re.sub(r"^.*(?=half_precision)", "", name)


def in_rows(table: Page) -> dict[str, str]:
    """What the last column of a table names -> where."""
    rows = list(re.finditer(r"^\|.*\| ([^|]*) \|$", table.text, re.MULTILINE))[2:]
    return {without_answer(name): table.at(row.start()) for row in rows for name in re.findall(r"`(\w+)`", row[1])}


def facts(kata: Kata) -> Iterator[str]:
    """Each is followed by the names of the cases and tests that check it; nothing is checked unannounced."""
    page, grader = Page.of(kata, kata.statement), Page.of(kata, kata.grader_file)
    listed = page.between("## Must hold\n", "</details>")
    named = listed.named()
    raising = any(case.raises for answer in kata.grader.answers for case in answer.cases)
    cases = {case.name: f'"{case.name}"' for answer in kata.grader.answers for case in answer.cases}
    tests = {name.removeprefix("test_"): f"def {name}(" for name in vars(kata.module) if name.startswith("test_")}
    for name, words in (cases | tests).items():
        if name not in named:
            yield f"{grader.at(words)}: no fact under 'Must hold' announces {name}"
    for name in named.keys() - cases.keys() - tests.keys():
        yield f"{named[name]}: no case and no test is called {name}"
    for fact in re.split(r"\n(?! )", listed.text.strip()):
        if not fact.startswith("- "):
            yield f"{page.at(fact)}: a fact should begin with '- ', got {fact[:40]!r}"
    if PROMISES not in listed.text:
        yield f"{page.at('## Must hold')}: a fact should lead to what every kata asks, {PROMISES}"
    if ("`ValueError`" in listed.text) != raising:
        yield f"{page.at('## Must hold')}: `ValueError` should be named where a case raises it, and only there"


def example(kata: Kata) -> Iterator[str]:
    """The doctest of the statement holds for the reference, without an import of the answers."""
    page = Page.of(kata, kata.statement)
    scope = dict(vars(load_module(kata.reference_file, f"reference_of_{kata.id}")))
    try:
        parsed = doctest.DocTestParser().get_doctest(page.text, scope, kata.id, page.shown, 0)
    except ValueError as error:
        yield f"{page.at('## Example')}: {error}"
        return
    if len(parsed.examples) < 2:
        yield f"{page.at('## Example')}: the example should have two lines of input or more, got {len(parsed.examples)}"
    runner = Examples(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(parsed, out=lambda text: None)
    for one, got in runner.wrong:
        what = " ".join(one.source.split())
        yield f"{page.line(one.lineno + 1)}: `{what}` should give {one.want.strip()!r}, got {got.strip()!r}"


class Examples(doctest.DocTestRunner):
    """Keeps what differs, rather than print it."""

    def __init__(self, optionflags: int) -> None:
        super().__init__(verbose=False, optionflags=optionflags)
        self.wrong: list[tuple[doctest.Example, str]] = []

    def report_failure(self, out: Any, test: Any, example: doctest.Example, got: str) -> None:
        self.wrong.append((example, got))

    def report_unexpected_exception(self, out: Any, test: Any, example: doctest.Example, exc_info: Any) -> None:
        self.wrong.append((example, f"{exc_info[0].__name__}: {exc_info[1]}"))


def tables(kata: Kata) -> Iterator[str]:
    """Raises: UsageError, GraderError."""
    page = Page.of(kata, kata.statement)
    if page.text != with_tables(kata):
        yield f"{page.at(HEADING)}: the tables should be the grader's; run: python -m graders statement {kata.id}"
