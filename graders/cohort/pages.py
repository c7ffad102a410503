"""What an instructor reads: a table of points, each learner's results and cards, and a page about the class."""

from __future__ import annotations

import argparse
import ast
import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import jinja2
from rich.console import Console

from graders import files
from graders.catalogue.katas import Kata
from graders.cohort.learners import Learner
from graders.judge import results
from graders.judge.card import Reporter
from graders.judge.checks import POINTS
from graders.judge.results import Result

ADVICE = "make room, then run the same again: no verdict is lost"
MOST_MISTAKES, MOST_CHECKS = 20, 20
BANDS = ((0, 0), (1, 49), (50, 79), (80, 99), (100, 100))  # points, of a kata's distribution
CARD_WIDTH = 100
FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")

Found = Mapping[tuple[str, str], dict[str, Any]]  # by the learner's slug and the kata


def write_all(
    out: Path, learners: list[Learner], katas: list[Kata], found: Found, seed: int, options: argparse.Namespace
) -> None:
    """Raises: UsageError."""
    documents = {learner.slug: of_learner(learner, katas, found) for learner in learners}
    isolation = "full" if options.isolation == "strict" else "limits"  # what was promised; it may have been better
    save(out / "grades.csv", grades(learners, katas, documents))
    for learner in learners:
        told = [Result.from_document(one) for one in documents[learner.slug]]
        seeds = [one.get("seed", seed) for one in documents[learner.slug]]
        newest = seed if seed in seeds else next(reversed(seeds), seed)  # the document has one
        results.write(out / "learners" / f"{learner.slug}.json", results.document(told, newest, ["cpu"], isolation))
        save(out / "feedback" / f"{learner.slug}.md", feedback(learner, told, seeds))
    save(out / "index.html", page(learners, katas, documents, seed))
    if options.json:
        everyone = {
            one.slug: {"name": one.name, "commit": one.commit, "results": documents[one.slug]} for one in learners
        }  # with the seed of each
        results.write(options.json, {"seed": seed, "learners": everyone})
    for name in options.export:
        EXPORTERS[name](out, learners, katas, documents)


def save(path: Path, text: str) -> None:
    files.make_room(path, ADVICE)
    files.replace_file(path, text, ADVICE)


def of_learner(learner: Learner, katas: list[Kata], found: Found) -> list[dict[str, Any]]:
    """A learner's results in the order of the katas, with the learner's own paths."""
    return [
        found[learner.slug, kata.id] | {"source": learner.answers[kata.id].shown}
        for kata in katas
        if (learner.slug, kata.id) in found
    ]


def points(documents: list[dict[str, Any]]) -> dict[str, int]:
    return {one["kata"]: one["score"] for one in documents if not one.get("ungraded")}


def grades(learners: list[Learner], katas: list[Kata], documents: Mapping[str, list[dict[str, Any]]]) -> str:
    """A row for each learner; a cell is empty where there is no answer."""
    rows: list[list[object]] = [["learner", *(kata.id for kata in katas), "total"]]
    for learner in learners:
        own = points(documents[learner.slug])
        rows.append([learner.name, *(own.get(kata.id, "") for kata in katas), sum(own.values())])
    return as_csv(rows)


def as_csv(rows: list[list[object]]) -> str:
    """Nothing that a spreadsheet would take for a formula: a name may begin with = or @, also in full width."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([f"'{one}" if isinstance(one, str) and FORMULA.match(one) else one for one in row])
    return text.getvalue()


def feedback(learner: Learner, told: list[Result], seeds: list[int]) -> str:
    """The cards that the learner would see, each with the seed of its own."""
    read = f"; commit {learner.commit}" if learner.commit else ""
    lines = [f"# {plain(learner.name)}", "", f"{sum(one.score for one in told)} points{read}.", ""]
    lines += [f"- {plain(note)}" for note in learner.notes] + [""] * bool(learner.notes)
    for one, seed in zip(told, seeds, strict=True):
        screen = Console(file=io.StringIO(), width=CARD_WIDTH, highlight=False, force_terminal=False)
        Reporter(seed, screen, submissions=[Path(one.source)])(one)
        assert isinstance(screen.file, io.StringIO)
        card = "\n".join(line.rstrip() for line in screen.file.getvalue().splitlines()).rstrip()
        fence = "`" * max(3, longest_fence(card) + 1)
        lines += [f"## {one.kata}", "", f"Seed {seed}.", "", f"{fence}text", card, fence, ""]
    return "\n".join(lines)


def plain(text: str) -> str:
    """In one line, and without links, pictures or tags: a path in an archive is called as its learner likes."""
    return re.sub(r"[\\\[<`&]", r"\\\g<0>", " ".join(text.split()))


def longest_fence(text: str) -> int:
    return max((len(line) - len(line.lstrip("`")) for line in text.splitlines()), default=0)


@dataclass(frozen=True)
class Spread:
    """How a kata went in the class."""

    kata: str
    answers: int
    core: int  # whose mathematics is right, the solved ones with them
    solved: int
    median: float
    bands: tuple[int, ...]


def page(learners: list[Learner], katas: list[Kata], documents: Mapping[str, list[dict[str, Any]]], seed: int) -> str:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=jinja2.StrictUndefined
    )
    begun = [one for each in documents.values() for one in each if one["state"] != "todo"]
    answered = [kata for kata in katas if any(one["kata"] == kata.id for one in begun)]
    everything = [one for one in begun if not one.get("ungraded")]
    return made.get_template("index.html.jinja").render(
        learners=learners,
        katas=answered,
        scores={slug: {one["kata"]: one for one in each} for slug, each in documents.items()},
        totals={slug: sum(points(each).values()) for slug, each in documents.items()},
        most=POINTS * len(katas),
        bands=BANDS,
        spreads=[spread(kata.id, [one for one in everything if one["kata"] == kata.id]) for kata in answered],
        mistakes=mistakes(everything),
        checks=failed_checks(everything),
        groups=same_programs(learners, katas),
        notes=[(learner.name, note) for learner in learners for note in learner.notes],
        seed=seed,
    )


def spread(kata: str, documents: list[dict[str, Any]]) -> Spread:
    scores = [one["score"] for one in documents]
    bands = tuple(sum(low <= score <= high for score in scores) for low, high in BANDS)
    core, solved = sum(one["core"] for one in documents), sum(one["state"] == "solved" for one in documents)
    return Spread(kata, len(scores), core, solved, median(scores) if scores else 0.0, bands)


def mistakes(documents: list[dict[str, Any]]) -> list[tuple[str, str, int]]:
    """Kata, name, and in how many answers, the most frequent first."""
    counted = Counter((one["kata"], one["mistake"]) for one in documents if one["mistake"])
    return [(kata, name.replace("_", " "), number) for (kata, name), number in counted.most_common(MOST_MISTAKES)]


def failed_checks(documents: list[dict[str, Any]]) -> list[tuple[str, str, int]]:
    """The checks at which most answers failed first; an answer that could not be graded failed at none."""
    counted = Counter((one["kata"], one["first_failure"]) for one in documents if one["state"] == "failing")
    return [(kata, name, number) for (kata, name), number in counted.most_common(MOST_CHECKS)]


def same_programs(learners: list[Learner], katas: list[Kata]) -> list[tuple[str, list[str]]]:
    """Kata, and learners whose answers are one program once names and layout are left out; stubs are no programs."""
    groups: dict[tuple[str, str], list[str]] = {}
    stubs = {kata.id: shape(kata.kept_stub.read_text(encoding="utf-8")) for kata in katas if kata.kept_stub.exists()}
    for learner in learners:
        for name, answer in learner.answers.items():
            made = shape(answer.text)
            if made and made != stubs.get(name):
                groups.setdefault((name, made), []).append(learner.name)
    return [(name, sorted(names)) for (name, _), names in groups.items() if len(names) > 1]


def shape(source: str) -> str:
    """A program without its names, comments and docstrings; empty where it is none."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    if not tree.body:
        return ""
    names: dict[str, str] = {}

    def renamed(name: str) -> str:
        return names.setdefault(name, f"n{len(names)}")

    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = renamed(node.id)
        elif isinstance(node, ast.arg):
            node.arg, node.annotation = renamed(node.arg), None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node.name = renamed(node.name)
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
            if isinstance(node, ast.FunctionDef):
                node.returns = None
    try:
        return ast.dump(tree)
    except RecursionError:
        return ""


def canvas(
    out: Path, learners: list[Learner], katas: list[Kata], documents: Mapping[str, list[dict[str, Any]]]
) -> None:
    """The .csv that Canvas's gradebook imports: its five columns, and a row of the points possible."""
    head: list[object] = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *(kata.id for kata in katas)]
    rows: list[list[object]] = [head, ["    Points Possible", "", "", "", "", *([POINTS] * len(katas))]]
    for learner in learners:
        own = points(documents[learner.slug])
        rows.append([learner.name, "", "", learner.name, "", *(own.get(kata.id, "") for kata in katas)])
    save(out / "canvas.csv", as_csv(rows))


def nbgrader(
    out: Path, learners: list[Learner], katas: list[Kata], documents: Mapping[str, list[dict[str, Any]]]
) -> None:
    """The columns of `nbgrader export`, a row for each learner and kata."""
    rows: list[list[object]] = [
        ["assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
         "late_submission_penalty", "score", "max_score"]
    ]  # fmt: skip
    for learner in learners:
        own = points(documents[learner.slug])
        rows += [
            [kata.id, "", "", learner.name, "", "", "", own.get(kata.id, 0), 0, own.get(kata.id, 0), POINTS]
            for kata in katas
        ]
    save(out / "nbgrader.csv", as_csv(rows))


def gradescope(
    out: Path, learners: list[Learner], katas: list[Kata], documents: Mapping[str, list[dict[str, Any]]]
) -> None:
    """A results.json for each learner, as Gradescope's autograders write it."""
    for learner in learners:
        told = {one["kata"]: one for one in documents[learner.slug]}
        tests = [
            {
                "name": kata.id,
                "score": told[kata.id]["score"] if kata.id in told else 0,
                "max_score": POINTS,
                "output": in_short(told[kata.id]) if kata.id in told else "no answer",
            }
            for kata in katas
        ]
        results.write(out / "gradescope" / learner.slug / "results.json", {"tests": tests})


def in_short(document: dict[str, Any]) -> str:
    """Why an answer has not all points; nothing where it has."""
    if document["state"] == "todo":
        return "to do"
    why = str(document["message"] or document["diagnosis"] or document["first_failure"] or "")
    return f"the mathematics is right; left: {why}" if document["core"] and why else why


EXPORTERS = {"canvas": canvas, "gradescope": gradescope, "nbgrader": nbgrader}
