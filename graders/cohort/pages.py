"""What an instructor and the learners read: the results and cards of each, and a page about the class."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from graders.cohort import similar
from graders.cohort.grades import EXPORTERS, Graded, save, table
from graders.cohort.learners import Learner
from graders.cohort.writers import fenced, html, markdown
from graders.judge import results
from graders.judge.checks import POINTS
from graders.judge.reporter import Reporter
from graders.judge.results import Result

MOST_MISTAKES, MOST_CHECKS = 20, 20
BANDS = ((0, 0), (1, 49), (50, 79), (80, 99), (100, 100))  # points, of a kata's distribution
CARD_WIDTH = 100
OURS = ("seed", "ungraded")  # what a class adds to a result's document
TEMPLATE = Path(__file__).parent / "index.html.jinja"


def write_all(out: Path, graded: Graded, exports: list[str], json: Path | None, earlier: list[Learner]) -> None:
    """Raises: UsageError."""
    save(out / "grades.csv", table(graded))
    for learner in graded.learners:
        documents = graded.documents[learner.slug]
        told = [{name: one[name] for name in one if name not in OURS} for one in documents]
        seeds = [one.get("seed", graded.seed) for one in documents]
        newest = graded.seed if graded.seed in seeds else next(reversed(seeds), graded.seed)  # the document has one
        path = out / "learners" / f"{learner.slug}.json"
        results.write(path, results.document(told, newest, ["cpu"], graded.isolation))
        save(out / "feedback" / f"{learner.slug}.md", feedback(graded, learner))
    save(out / "index.html", page(graded, earlier))
    if json:
        results.write(json, {"seed": graded.seed, "graders": graded.graders, "learners": everyone(graded)})
    for name in exports:
        EXPORTERS[name](out, graded)
    clear(out, {learner.slug for learner in graded.learners})


def clear(out: Path, current: set[str]) -> None:
    """Removes what an earlier run wrote of learners who are not in the class any more."""
    for pattern in ("feedback/*.md", "learners/*.json", "gradescope/*/results.json"):
        for file in out.glob(pattern):
            if (file.parent.name if "gradescope" in pattern else file.stem) not in current:
                file.unlink()
                if "gradescope" in pattern and not any(file.parent.iterdir()):
                    file.parent.rmdir()


def everyone(graded: Graded) -> dict[str, Any]:
    return {
        one.slug: {
            "name": one.name,
            **graded.about(one),
            "late": one.late,
            "notes": one.notes,
            "points": graded.points(one),
            "results": graded.documents[one.slug],
        }
        for one in graded.learners
    }


def feedback(graded: Graded, learner: Learner) -> str:
    """The cards that the learner would see, each with the seed of its own."""
    read = f"commit {learner.commit} of {learner.committed.isoformat()}; " if learner.committed else ""
    facts = f"{sum(graded.points(learner).values())} points; {read}graders {graded.graders}."
    lines = [f"# {markdown(learner.name)}", "", facts, ""]
    lines += [f"- {markdown(note)}" for note in learner.notes] + [""] * bool(learner.notes)
    for document in graded.documents[learner.slug]:
        one, seed = Result.from_document(document), document.get("seed", graded.seed)
        screen = Console(file=io.StringIO(), width=CARD_WIDTH, highlight=False, force_terminal=False)
        Reporter(seed, screen, submissions=[Path(one.source)])(one)
        assert isinstance(screen.file, io.StringIO)
        card = "\n".join(line.rstrip() for line in screen.file.getvalue().splitlines()).rstrip()
        lines += [f"## {one.kata}", "", f"Seed {seed}.{lateness(graded, learner, document)}", "", *fenced(card), ""]
    return "\n".join(lines)


def lateness(graded: Graded, learner: Learner, document: dict[str, Any]) -> str:
    """What became of an answer's points that came late."""
    days = learner.late.get(document["kata"])
    if not days:
        return ""
    said = f" Late by {days} day{'s' * (days != 1)}"
    score, counted = document["score"], graded.counted(learner, document)
    return f"{said}." if score == counted else f"{said}: of {score} points {counted} count."


@dataclass(frozen=True)
class Spread:
    """How a kata went in the class."""

    kata: str
    answers: int
    core: int  # whose mathematics is right, the solved ones with them
    solved: int
    median: float
    bands: tuple[int, ...]


def page(graded: Graded, earlier: list[Learner]) -> str:
    begun = [one for each in graded.documents.values() for one in each if one["state"] != "todo"]
    answered = [kata for kata in graded.katas if any(one["kata"] == kata.id for one in begun)]
    everything = [one for one in begun if not one.get("ungraded")]
    same, pairs = similar.compare(graded.learners, graded.katas, earlier)
    return html(
        TEMPLATE,
        learners=graded.learners,
        katas=answered,
        scores={slug: {one["kata"]: one for one in each} for slug, each in graded.documents.items()},
        points={one.slug: graded.points(one) for one in graded.learners},
        most=POINTS * len(graded.katas),
        bands=BANDS,
        spreads=[spread(kata.id, [one for one in everything if one["kata"] == kata.id]) for kata in answered],
        mistakes=mistakes(everything),
        checks=failed_checks(everything),
        same=same,
        pairs=pairs,
        notes=[(learner.name, note) for learner in graded.learners for note in learner.notes],
        graders=graded.graders,
        forgeable=any(learner.until for learner in graded.learners),
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
