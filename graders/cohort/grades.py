"""The points of a class: what counts of them, grades.csv, and what other programs import."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graders import files
from graders.catalogue.katas import Kata
from graders.cohort import autograder
from graders.cohort.columns import Column, points_of
from graders.cohort.gradebook import Gradebook, number_of
from graders.cohort.learners import Learner
from graders.cohort.repositories import ABOUT
from graders.cohort.writers import as_csv
from graders.judge import results
from graders.judge.checks import POINTS

ADVICE = "make room, then run the same again: no verdict is lost"


@dataclass(frozen=True)
class Graded:
    """A class with its verdicts.

    Args:
        documents: by slug, the results in the order of the katas, each with its seed.
        seed: of what was judged in this run.
        percent: that a late answer loses a day; None where it loses nothing.
        columns: of what other programs import.
        graders: which version of them it was.
    """

    learners: list[Learner]
    katas: list[Kata]
    documents: dict[str, list[dict[str, Any]]]
    seed: int
    isolation: str
    percent: float | None
    columns: list[Column]
    graders: str
    book: Gradebook
    root: Path

    def points(self, learner: Learner) -> dict[str, int]:
        """By kata, what counts; without what was not graded."""
        return {
            one["kata"]: self.counted(learner, one) for one in self.documents[learner.slug] if not one.get("ungraded")
        }

    def in_column(self, learner: Learner, column: Column) -> float | str:
        """Empty where there is no answer, or one that was not graded."""
        own = self.points(learner)
        answered = column.weights.keys() & learner.answers.keys()
        return points_of(own, column.weights) if answered and answered <= own.keys() else ""

    def counted(self, learner: Learner, document: dict[str, Any]) -> int:
        lost = (self.percent or 0) * learner.late.get(document["kata"], 0)
        score: int = document["score"]
        return round(score * max(0.0, 100 - lost) / 100)

    def about(self, learner: Learner) -> dict[str, str]:
        """The columns of `ABOUT`."""
        own = learner.about
        return dict.fromkeys(ABOUT, "") | {
            "login": own.get("login", ""),
            "id": own.get("id") or own.get("canvas") or own.get("moodle") or "",
            "email": own.get("email", ""),
            "section": own.get("section", ""),
            "file": f"{learner.slug}.md",
            "commit": learner.commit,
            "committed": learner.committed.isoformat() if learner.committed else "",
            "until": learner.until.isoformat() if learner.until else "",
            "late": " ".join(f"{kata}:{days}" for kata, days in learner.late.items()),
            "graders": self.graders,
            "notes": "; ".join(learner.notes),
        }


def save(path: Path, text: str) -> None:
    """Raises: UsageError."""
    files.make_room(path, ADVICE)
    files.replace_file(path, text, ADVICE)


def table(graded: Graded) -> str:
    """A row for each learner; a cell is empty where there is no answer."""
    rows: list[list[object]] = [["learner", *ABOUT, *(kata.id for kata in graded.katas), "solved", "total"]]
    for learner in graded.learners:
        own = graded.points(learner)
        cells = [own.get(kata.id, "") for kata in graded.katas]
        solved = sum(one["state"] == "solved" for one in graded.documents[learner.slug])
        rows.append([learner.name, *graded.about(learner).values(), *cells, solved, sum(own.values())])
    return as_csv(rows)


def canvas(out: Path, graded: Graded) -> None:
    """The .csv that Canvas's gradebook imports: its five columns, and a row of the points possible."""
    titles = [graded.book.titles.get(column.name, column.name) for column in graded.columns]
    possible = [column.most for column in graded.columns]
    head: list[object] = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles]
    rows: list[list[object]] = [head, ["    Points Possible", "", "", "", "", *possible]]
    for learner in graded.learners:
        about = learner.about
        known = about.get("canvas") or about.get("id")
        login = about.get("login") or ("" if known else learner.name)
        who = [about.get("listed", learner.name), about.get("canvas", ""), about.get("id", ""), login]
        rows.append([*who, about.get("section", ""), *(graded.in_column(learner, one) for one in graded.columns)])
    save(out / "canvas.csv", as_csv(rows))


def moodle(out: Path, graded: Graded) -> None:
    """Moodle's worksheet with the grades filled in. All else goes back as it came: Moodle would take other comments."""
    (column,) = graded.columns
    found = {one.about["moodle"]: one for one in graded.learners if "moodle" in one.about}
    text = io.StringIO()
    sheet = csv.DictWriter(text, graded.book.head, lineterminator="\n")
    sheet.writeheader()
    for row in graded.book.rows:
        learner = found.get(number_of(row))
        grade = graded.in_column(learner, column) if learner else ""
        sheet.writerow(row if grade == "" else row | {"Grade": grade})
    save(out / "moodle.csv", text.getvalue())


def nbgrader(out: Path, graded: Graded) -> None:
    """The columns of `nbgrader export`, a row for each learner and column."""
    rows: list[list[object]] = [
        ["assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
         "late_submission_penalty", "score", "max_score"]
    ]  # fmt: skip
    for learner in graded.learners:
        own = graded.points(learner)
        scores = {one["kata"]: one["score"] for one in graded.documents[learner.slug] if one["kata"] in own}
        about = graded.about(learner)
        who = [about["until"], about["committed"], about["login"] or learner.name, "", "", about["email"]]
        for column in graded.columns:
            raw, score = (points_of(some, column.weights) for some in (scores, own))
            rows.append([column.name, *who, raw, round(raw - score, 2), score, column.most])
    save(out / "nbgrader.csv", as_csv(rows))


def gradescope(out: Path, graded: Graded) -> None:
    """A results.json for each learner, as Gradescope's autograders write it, and an autograder that does so there."""
    weights = {kata: weight for column in graded.columns for kata, weight in column.weights.items()}
    for learner in graded.learners:
        own = graded.points(learner)
        told = {one["kata"]: one for one in graded.documents[learner.slug]}
        tests = [
            {
                "name": kata,
                "score": points_of(own, {kata: weight}),
                "max_score": points_of({kata: POINTS}, {kata: weight}),
                "output": in_short(told[kata]) if kata in told else "no answer",
            }
            for kata, weight in weights.items()
        ]
        told_all = {"tests": tests} | ({"output": "\n".join(learner.notes)} if learner.notes else {})
        results.write(out / "gradescope" / learner.slug / "results.json", told_all)
    autograder.write(out / "gradescope" / "autograder.zip", graded.root, weights, ADVICE)


def in_short(document: dict[str, Any]) -> str:
    """Why an answer has not all points; nothing where it has."""
    if document["state"] == "todo":
        return "to do"
    first = next((one for one in document["tests"] if one["name"] == document["first_failure"]), None)
    failed = f"{first['name']}: {first['message']}" if first else document["first_failure"]
    why = str(document["message"] or document["diagnosis"] or failed or "")
    return f"the mathematics is right; left: {why}" if document["core"] and why else why


EXPORTERS = {"canvas": canvas, "gradescope": gradescope, "moodle": moodle, "nbgrader": nbgrader}
