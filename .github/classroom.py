"""What classroom.yml does beside grading. Standard library only: nothing is installed where a token is.

    classroom.py collect ROSTER FOLDER     fetches each repository into FOLDER, and writes a roster of what it fetched
    classroom.py publish RESULTS FOLDER    writes into FOLDER what the branch shows of what `cohort` found

RESULTS comes from a job that ran learners' code, so nothing in it is trusted: points are made numbers, names are shown
letter by letter, and of other files only texts that are named like feedback are copied, one for each learner at most.
"""

from __future__ import annotations

import csv
import itertools
import re
import sys
import tempfile
import unicodedata
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from graders.cohort import repositories
from graders.faults import UsageError, complain

LONGEST = 1 << 20  # of a learner's feedback, in characters
LARGEST = 5 << 20  # of grades.csv, in bytes
LONGEST_NAME = 200
FEEDBACK = re.compile(r"[\w-]{1,100}(\.[0-9a-f]{8})?")  # the name of its file


def main(arguments: list[str]) -> int:
    """Exit status: 2 where the roster or the table cannot be used."""
    step, source, folder = arguments
    try:
        {"collect": collect, "publish": publish}[step](Path(source), Path(folder))
    except UsageError as error:
        return complain(str(error))
    return 0


def collect(roster: Path, folder: Path) -> None:
    """Where one cannot be fetched its address stays in the roster, so that `cohort` says so beside the learner."""
    folder.mkdir()
    rows = []
    for number, row in enumerate(repositories.roster(roster), start=1):
        bundle = folder / f"{number}.bundle"
        try:
            with tempfile.TemporaryDirectory() as clone:
                repositories.clone(row.repository, Path(clone, "clone"))
                repositories.git(
                    Path(clone, "clone"), "bundle", "create", "--quiet", str(bundle.absolute()), "--all", "HEAD"
                )
            rows.append(replace(row, repository=bundle.as_posix()))
        except repositories.Trouble as trouble:
            print(f"{row.repository} of {row.learner} cannot be had: {trouble}")
            rows.append(row)
    with (folder / "roster.csv").open("w", encoding="utf-8", newline="") as stream:
        columns = [field.name for field in fields(repositories.Row)]
        csv.writer(stream).writerows([columns, *(astuple(row) for row in rows)])


def publish(results: Path, folder: Path) -> None:
    """The points, a shorter table of them, and the feedback."""
    try:
        about, katas, found = read(results / "grades.csv")
    except (OSError, ValueError, csv.Error) as error:
        raise UsageError(f"grades.csv is no table of points: {type(error).__name__}") from None
    with (folder / "grades.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["learner", *about, *katas, "solved", "total"])
        writer.writerows(
            [one.name, *one.about, *one.points, one.solved, sum(filter(None, one.points))] for one in found
        )
    lines = ["| learner | points | solved | answers |", "| --- | ---: | ---: | ---: |"]
    for line in found:
        answers = [one for one in line.points if one is not None]
        lines.append(f"| {shown(line.name)} | {sum(answers)} | {line.solved} | {len(answers)} |")
    count = f"{len(katas)} kata{'s' * (len(katas) != 1)}"
    said = f"{count}, 100 points each. grades.csv has each kata's points, and feedback/ has the cards."
    (folder / "README.md").write_text("\n".join(["# Grades", "", said, "", *lines, ""]), encoding="utf-8")
    (folder / "feedback").mkdir()
    named = (file for file in sorted((results / "feedback").glob("*.md")) if FEEDBACK.fullmatch(file.stem))
    texts = (file for file in named if file.is_file() and not file.is_symlink())
    for file in itertools.islice(texts, len(found)):
        with file.open(encoding="utf-8", errors="replace") as stream:
            (folder / "feedback" / file.name).write_text(stream.read(LONGEST), encoding="utf-8")


@dataclass(frozen=True)
class Line:
    """What is believed of a learner's line of grades.csv: points are None where there is no answer."""

    name: str
    about: list[str]
    points: list[int | None]  # what counts of them
    solved: int


def read(grades: Path) -> tuple[list[str], list[str], list[Line]]:
    """What is known of each learner, the katas, and the lines. Raises: ValueError, csv.Error."""
    if grades.stat().st_size > LARGEST:
        raise ValueError
    with grades.open(encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    first, *columns, solved, last = head
    about = [column for column in columns if column in repositories.ABOUT]
    katas = columns[len(about) :]
    named = all(re.fullmatch(r"[a-z][a-z0-9_]{0,63}", kata) for kata in katas)
    in_order = columns == [*about, *katas] and (first, solved, last) == ("learner", "solved", "total")
    if not named or not in_order or any(len(row) != len(head) for row in rows):
        raise ValueError
    lines = []
    for name, *cells, solved, _ in rows:
        known, scores = map(plain, cells[: len(about)]), map(points, cells[len(about) :])
        lines.append(Line(plain(name), [*known], [*scores], max(0, min(len(katas), int(solved)))))
    return about, katas, lines


def points(cell: str) -> int | None:
    return max(0, min(100, int(cell))) if cell else None


def plain(name: str) -> str:
    """One line that no spreadsheet takes for a formula."""
    text = "".join(one if one.isprintable() else " " for one in name[:LONGEST_NAME]).strip()
    return f"'{text}" if unicodedata.normalize("NFKC", text)[:1] in ("=", "+", "-", "@") else text


def shown(name: str) -> str:
    """In Markdown, with nothing in it that is more than a character."""
    return "".join(one if one.isalnum() or one == " " else f"&#{ord(one)};" for one in name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
