"""A learning platform's own list of the class: Canvas's gradebook, Moodle's grading worksheet or gradebook."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path

from graders.cohort.learners import Learner
from graders.cohort.repositories import IDENTITY
from graders.cohort.writers import one_line
from graders.faults import UsageError

ABSENT = "handed in nothing"
UNSURE = "several in the gradebook or in the class have this name, so no id was taken from the gradebook"
POSSIBLE = "Points Possible"  # the "student" of a line of Canvas's
NUMBERS = ("canvas", "moodle")  # the platform's own, in the names of a download
# What the platforms call what `Learner.about` has; `canvas` and `moodle` are the numbers in the names of a download.
COLUMNS = {
    "canvas": "ID",
    "moodle": "Identifier",
    "id": ("SIS User ID", "ID number"),
    "login": ("SIS Login ID", "Username"),
    "email": "Email address",
    "section": "Section",
}


@dataclass(frozen=True)
class Gradebook:
    """Who is in the class.

    Args:
        titles: by kata or assignment, what Canvas calls its column, such as `softmax (1234)`.
        head: the first line.
        rows: all other lines, by column.
    """

    people: list[Learner]
    titles: dict[str, str] = field(default_factory=dict)
    head: list[str] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)

    def most(self, column: str) -> str:
        """The points that can be had, as the platform writes them; empty where it does not."""
        title = self.titles.get(column, "Maximum Grade")
        possible = [row.get(title, "") for row in self.rows if title == "Maximum Grade" or POSSIBLE in name_of(row)]
        return next(filter(None, possible), "")


def read(file: Path) -> Gradebook:
    """Raises: UsageError."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            first = stream.readline()
            head, *lines = csv.reader([first, *stream], delimiter=max(",;\t", key=first.count))
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        raise UsageError(f"{file} cannot be read ({error}); it should be a gradebook as .csv in UTF-8") from None
    if not {"Student", "Full name", "First name", "FirstName"} & set(head):
        raise UsageError(
            f"{file} is no gradebook of Canvas's or Moodle's: its first line has no Student and no Full name"
        )
    rows = [dict(zip(head, line, strict=False)) for line in lines]
    people = [person(row) for row in rows if name_of(row) and POSSIBLE not in name_of(row)]
    titles = {found[1]: title for title in head if (found := re.fullmatch(r"(.+) \(\d+\)", title))}
    return Gradebook(people, titles, head, rows)


def name_of(row: dict[str, str]) -> str:
    parts = (row.get("First name") or row.get("FirstName", ""), row.get("Last name") or row.get("LastName", ""))
    return one_line((row.get("Student") or row.get("Full name") or " ".join(parts)).strip())


def number_of(row: dict[str, str]) -> str:
    """Moodle's: of Participant 4321, in whatever language."""
    return re.sub(r"\D", "", row.get("Identifier", ""))


def person(row: dict[str, str]) -> Learner:
    about = {}
    for name, columns in COLUMNS.items():
        cells = [row.get(column, "") for column in ([columns] if isinstance(columns, str) else columns)]
        value = one_line(next(filter(None, cells), "").strip())
        if name == "moodle":
            value = number_of(row)
        if value:
            about[name] = value
    return Learner(name_of(row), notes=[ABSENT], about=about)


def joined(learners: list[Learner], book: Gradebook) -> list[Learner]:
    """The learners with what the gradebook knows of them, and whoever is only there, with nothing handed in."""
    everyone = list(learners)
    surely = [sure(one, learners) for one in book.people]
    left = [learner for learner in learners if not any(learner in known for known in surely)]
    found = [known or by_name(one, left) for one, known in zip(book.people, surely, strict=True)]
    for one, known in zip(book.people, found, strict=True):
        if not known:
            everyone.append(one)
        elif len(known) == 1 and found.count(known) == 1:
            known[0].about = one.about | {name: value for name, value in known[0].about.items() if value}
            known[0].about["listed"] = one.name
        else:
            for learner in known:
                learner.notes += [UNSURE] * (UNSURE not in learner.notes)
    return everyone


def sure(one: Learner, learners: list[Learner]) -> list[Learner]:
    """By the platform's number, else by the login, else by the other columns."""
    for name in (*NUMBERS, *IDENTITY[:3]):
        value = one.about.get(name)
        found = [learner for learner in learners if value and learner.about.get(name) == value]
        if found:
            return found
    return []


def by_name(one: Learner, learners: list[Learner]) -> list[Learner]:
    """Without those who have another number."""
    names = {plain(one.name), plain(" ".join(reversed(one.name.split(",")))), plain(one.about.get("login", ""))}
    return [
        learner
        for learner in learners
        if plain(learner.name) in names - {""}
        and not any(name in learner.about and name in one.about for name in NUMBERS)
    ]


def plain(name: str) -> str:
    """As Canvas writes it before the files of a download."""
    return re.sub(r"[\W_]", "", name.casefold())
