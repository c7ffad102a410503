"""What a class is read from and told by: names as learners make them, deadlines, platforms, one writer a format."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import unicodedata
import zipfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from graders.catalogue import katas
from graders.cohort import gradebook, writers
from graders.cohort import learners as reading
from graders.cohort.classes import all_learners
from graders.cohort.learners import Learner
from graders.cohort.repositories import Row, roster
from graders.cohort.similar import shape
from tests import classes
from tests.clusters import Shared
from tests.test_cohort import ANSWER, RENAMED, WRONG, a_class, cohort, points, read, table
from tests.toys import MODULE_REFERENCE, REFERENCE

# What names and messages are made of where somebody means harm, between ordinary letters.
HARMFUL = [
    "\r\n",
    "\t=1",
    "＝",
    "\x1b[2J",
    "\u202e",
    "\\",
    "[x](javascript:y)",
    "<b>",
    "`",
    "```",
    "&lt;",
    "| ",
    "- ",
    "1. ",
]
HARMFUL += [
    "http://e.org",
    "www.e.org",
    "@ann",
    "::error::",
    "{{ 1 }}",
    "'",
    '"',
    "#",
    "\x00",
    "\ud800",
    "*a*",
    "_a_",
    "  ",
]
MODULE_WRONG = MODULE_REFERENCE.replace("x.sum(-1)", "x.mean(-1)")
texts = st.lists(st.one_of(st.sampled_from(HARMFUL), st.text(max_size=4)), max_size=6).map("".join)


def steers(text: str) -> bool:
    """Whether something in it is more than a character that can be seen."""
    return any(unicodedata.category(one)[0] == "C" or one in "\u2028\u2029" for one in text)


@given(st.lists(st.lists(texts, min_size=2, max_size=2), min_size=1, max_size=3))
@settings(max_examples=300, deadline=None)
def test_a_csv_has_a_line_for_each_row_and_no_formula(rows: list[list[str]]) -> None:
    written = writers.as_csv(rows)
    assert written.count("\n") == len(rows)
    assert not steers(written.replace("\n", ""))
    for cells, row in zip(csv.reader(io.StringIO(written)), rows, strict=True):
        assert len(cells) == len(row)
        for one in cells:
            assert unicodedata.normalize("NFKC", one).strip()[:1] not in ("=", "+", "-", "@")


@given(texts)
@settings(max_examples=300, deadline=None)
def test_a_line_of_markdown_is_text_and_nothing_else(text: str) -> None:
    shown = writers.markdown(text)
    assert not steers(shown)
    for before, block in (("# ", "heading_open"), ("- ", "list_item_open"), ("", "paragraph_open")):
        tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(f"{before}{shown}\n\nafter")
        assert [one.type for one in tokens if one.type.endswith("_open")][:1] == (
            ["bullet_list_open"] if before == "- " else [block]
        ) or not shown
        inside = tokens[[one.type for one in tokens].index("inline")].children or []
        assert {one.type for one in inside} <= {"text", "text_special"}
        if shown:
            assert "".join(one.content for one in inside) == " ".join(writers.one_line(text).split())
    assert not re.search(r"(?i)(?<!\\)https?://|www\.", shown)  # which GitHub would link


@given(texts)
@settings(max_examples=200, deadline=None)
def test_a_fence_holds_its_text(text: str) -> None:
    (token,) = MarkdownIt().parse("\n".join(writers.fenced(text.replace("\r", "").replace("\x00", ""))))
    assert token.type == "fence"


class Tags(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@given(texts)
@settings(max_examples=200, deadline=None)
def test_html_has_the_tags_of_its_template_alone(text: str) -> None:
    template = Path(__file__).parent / "classes" / "line.html.jinja"
    found = Tags()
    found.feed(writers.html(template, name=writers.one_line(text)))
    assert found.tags == ["p", "a"]
    assert found.text.strip() == writers.one_line(text).strip()


@given(st.lists(texts, max_size=6))
@settings(max_examples=200, deadline=None)
def test_a_file_is_one_learners_whoever_joins_or_leaves(names: list[str]) -> None:
    def named(some: list[str]) -> dict[str, str]:
        made = [Learner(writers.one_line(name), place=f"{number}") for number, name in enumerate(dict.fromkeys(some))]
        reading.name_files(made)
        return {one.name: one.slug for one in made}

    everybody = named(names)
    assert len({slug.casefold() for slug in everybody.values()}) == len(everybody)
    assert all(re.fullmatch(r"[\w-]+(\.[0-9a-f]{8})?", slug) for slug in everybody.values())
    shown = [writers.one_line(name) for name in dict.fromkeys(names)]
    for name, slug in named(names[1:]).items():
        assert slug == everybody[name] or shown.count(name) > 1


def test_names_of_files_are_safe_and_stale_ones_go(toys: Path, shared: Shared) -> None:
    assert [reading.slug(name) for name in ("x", "zoë", "a-b", "学生")] == ["x", "zoë", "a-b", "学生"]
    for name in ("../x", "X", "Zoë", "=1+1", "", "a/b", "a b", "con", "-x", "x" * 99):
        assert re.fullmatch(r"[\w-]*[\w]\.[0-9a-f]{8}", reading.slug(name)), name
    folder = a_class(toys / "class", **{"a b": REFERENCE, "a-b": WRONG})
    assert cohort(toys, folder, *shared, "--export", "gradescope").status == 0
    feedback = toys / "out" / "feedback"
    assert {row["file"] for row in table(toys).values()} == {file.name for file in feedback.iterdir()}
    kept = (feedback / table(toys)["a-b"]["file"]).read_text(encoding="utf-8")
    (folder / "a b").rename(toys / "gone")
    assert cohort(toys, folder, *shared).status == 0
    assert [file.name for file in feedback.iterdir()] == ["a-b.md"]
    assert (feedback / "a-b.md").read_text(encoding="utf-8") == kept
    assert [file.name for file in (toys / "out" / "learners").iterdir()] == ["a-b.json"]
    assert [file.name for file in (toys / "out" / "gradescope").iterdir() if file.is_dir()] == ["a-b"]


@pytest.mark.parametrize(
    ("files", "taken", "note"),
    [
        (["scale (1).py"], "scale (1).py", "scale (1).py was taken for the answer to scale"),
        (["Scale.PY"], "Scale.PY", "Scale.PY was taken for the answer to scale"),
        (["scale-2.py"], "scale-2.py", "scale-2.py was taken for the answer to scale"),
        (["scale.py", "scale (1).py"], "scale.py", "scale.py was taken, and not scale (1).py"),
        (["scale (1).py", "scale (2).py"], "", "scale (1).py and scale (2).py may both be the answer to scale"),
        ([".work/scale.py"], "", "folders that begin with a dot are left out"),
    ],
)
def test_names_as_browsers_and_people_make_them(toys: Path, files: list[str], taken: str, note: str) -> None:
    for file in files:
        place = toys / "class" / "ann" / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(file)
    ann = read(toys / "class", toys)["ann"]
    assert ann.answers.get("scale", Learner("")) == (ann.answers["scale"] if taken else Learner(""))
    if taken:
        assert ann.answers["scale"].text == taken
    assert note in ann.notes[0]


def test_zips_of_windows_are_looked_through_and_hidden_learners_said(toys: Path, shared: Shared) -> None:
    folder = toys / "class"
    folder.mkdir()
    with zipfile.ZipFile(folder / "ann.zip", "w") as archive:
        entry = zipfile.ZipInfo("x")
        entry.filename = "fork\\katas\\toys\\scale\\scale.py"
        archive.writestr(entry, REFERENCE)
    a_class(folder, **{".bob": WRONG})
    assert read(folder, toys)["ann"].answers["scale"].text == REFERENCE
    ran = cohort(toys, folder, *shared)
    assert "1 left out, since their names begin with a dot: .bob" in ran.out


def git(repository: Path, *arguments: str, when: str = "") -> None:
    safe = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    times: Mapping[str, str] = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when} if when else {}
    subprocess.run(
        ["git", "-C", str(repository), *safe, *arguments], check=True, capture_output=True, env=os.environ | times
    )


def a_history(repository: Path, *commits: tuple[str, str]) -> Path:
    """Each is a time and the answer to `scale` as it stood then."""
    (repository / ANSWER).parent.mkdir(parents=True)
    git(repository, "init", "-q")
    for when, text in commits:
        (repository / ANSWER).write_text(text)
        git(repository, "add", ".")
        git(repository, "commit", "-qm", "one more", when=when)
    return repository


DUE = "2026-12-15T23:59:00+01:00"


def test_deadline_takes_what_was_there_then_and_late_ones_are_marked(toys: Path, shared: Shared) -> None:
    early, late, later = (f"2026-12-{day}T12:00:00+01:00" for day in ("14", "17", "19"))
    ann = a_history(toys / "ann", (early, WRONG), (late, REFERENCE))
    bob = a_history(toys / "bob", (later, REFERENCE))
    eve = a_history(toys / "eve", (early, REFERENCE), (late, f"{REFERENCE}# a remark\n"))
    roster = toys / "class.csv"
    rows = [f"ann,{ann},,", f"zoe,{ann},,3", f"max,{ann},2026-12-18T00:00Z,", f"bob,{bob},,", f"eve,{eve},,"]
    roster.write_text("\n".join(["learner,repository,until,extra_days", *rows]))
    ran = cohort(toys, roster, *shared, "--until", DUE)
    assert ran.status == 0, ran.err
    assert "1 learner with late answers, by committers' clocks, which can be set at will: bob" in ran.out
    told = table(toys)
    assert {name: int(row["scale"]) == 100 for name, row in told.items()} == {
        "ann": False, "zoe": True, "max": True, "bob": True, "eve": True,
    }  # fmt: skip
    assert {name: row["late"] for name, row in told.items() if row["late"]} == {"bob": "scale:4"}
    assert told["ann"]["committed"] == early
    assert told["zoe"]["until"] == (datetime.fromisoformat(DUE) + timedelta(days=3)).isoformat()
    ran = cohort(toys, roster, *shared, "--until", DUE, "--late", "10", "--export", "nbgrader")
    told = table(toys)
    assert {name: (row["scale"], row["late"]) for name, row in told.items()} == {
        "ann": ("80", "scale:2"), "zoe": ("100", ""), "max": ("100", ""), "bob": ("60", "scale:4"), "eve": ("100", ""),
    }  # fmt: skip
    card = (toys / "out" / "feedback" / "ann.md").read_text(encoding="utf-8")
    assert "Late by 2 days: of 100 points 80 count." in card
    assert f"commit {told['ann']['commit']} of {late}; graders {told['ann']['graders']}" in card
    with (toys / "out" / "nbgrader.csv").open(encoding="utf-8") as stream:
        row = next(one for one in csv.DictReader(stream) if (one["student_id"], one["assignment"]) == ("ann", "scale"))
    assert (row["raw_score"], row["late_submission_penalty"], row["score"]) == ("100", "20", "80")
    assert "read from the committers' clocks" in (toys / "out" / "index.html").read_text(encoding="utf-8")


def test_what_came_late_without_an_answer_was_read_as_well(toys: Path) -> None:
    repository = a_history(toys / "fay", ("2026-12-19T12:00:00+01:00", REFERENCE))
    git(repository, "rm", "-q", str(ANSWER))
    git(repository, "commit", "-q", "--amend", "--allow-empty", "-m", "nothing", when="2026-12-19T12:00:00+01:00")
    row = Row("fay", str(repository), until=DUE)
    (fay,) = [reading.of_repository(row, katas.all_katas(toys), toys / "clones")]
    assert fay.notes == [reading.NO_ANSWER, "nothing was committed in time: the newest commit was graded"]
    assert (fay.unread, fay.late, len(fay.commit)) == (False, {}, 10)


@pytest.mark.skipif(sys.platform != "linux", reason="names that other systems do not allow")
def test_no_learners_clock_or_name_of_a_folder_stops_the_class(toys: Path) -> None:
    def read_late(repository: Path, until: str = DUE) -> Learner:
        row = Row("gus", str(repository), until=until)
        return reading.of_repository(row, katas.all_katas(toys), toys / "clones", take_late=True)

    for number, folder in enumerate((b"a\tb", b"caf\xe9")):
        repository = a_history(toys / f"named{number}", ("2026-12-17T12:00:00+01:00", REFERENCE))
        (repository / "katas").rename(repository / os.fsdecode(folder))
        git(repository, "add", "--all")
        git(repository, "commit", "-q", "--amend", "-m", "moved", when="2026-12-17T12:00:00+01:00")
        assert read_late(repository).late == {"scale": 2}
    later, odd = (a_history(toys / f"at{when}", (when, REFERENCE)) for when in ("@253402300900 +0000", "@1 +9900"))
    assert read_late(later).late["scale"] > 365
    assert read_late(odd).late == {}
    assert {name: list(read_late(at, "").answers) for name, at in (("later", later), ("odd", odd))} == {
        "later": ["scale"], "odd": ["scale"],
    }  # fmt: skip


def test_answer_that_is_no_program_and_did_not_change_is_not_late(toys: Path) -> None:
    repository = a_history(toys / "hal", ("2026-12-14T12:00:00+01:00", "def scale(:\n"))
    (repository / "notes.txt").write_text("more")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "notes", when="2026-12-17T12:00:00+01:00")
    row = Row("hal", str(repository), until=DUE)
    assert reading.of_repository(row, katas.all_katas(toys), toys / "clones", take_late=True).late == {}


def test_repository_without_a_commit_says_so(toys: Path) -> None:
    repository = toys / "new"
    repository.mkdir()
    git(repository, "init", "-q")
    (note,) = reading.of_repository(Row("ida", str(repository)), katas.all_katas(toys), toys / "clones").notes
    assert note.endswith("it has no such commit; perhaps nothing was pushed, or `revision` should name a branch")


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such files")
def test_two_of_one_name_are_noted_once_and_no_pipe_is_opened(toys: Path) -> None:
    folder = a_class(toys / "class", ann=REFERENCE)
    with zipfile.ZipFile(folder / "ann.zip", "w") as archive:
        archive.writestr("scale.py", WRONG)
    os.mkfifo(folder / "leeann_4321_98765_scale.py")
    found = all_learners(folder, katas.all_katas(toys), toys / "clones")
    reading.name_files(found)
    assert [len(one.notes) for one in found if one.name == "ann"] == [1, 1]


@pytest.mark.parametrize(
    ("arguments", "line", "why"),
    [
        (["--until", "2026-12-15"], "ann,/x,,", "a time should have its zone"),
        (["--late", "101"], "ann,/x,,", "there should be 0 to 100 percent"),
        ([], "ann,/x,tomorrow,", "line 2 of"),
        ([], "ann,/x,,many", "extra_days a number"),
        ([], "ann,/x,2026-12-15T23:59Z,1e9", "line 2 of"),
        (["--until", DUE], "ann,/x,,3e6", "line 2 of"),
        ([], "ann,/x,,\n\n,,,\nbob,,,", "line 5 of"),
        ([], "Lee, Ann,/x,,", "line 2 of"),
        ([], '"Ann,/x,,\nbob,/y,,', "cannot be read (unexpected end of data)"),
        ([], "", "has no learners: it should have a line of each"),
    ],
)
def test_times_that_are_none_are_one_sentence(toys: Path, arguments: list[str], line: str, why: str) -> None:
    (toys / "class.csv").write_text(f"learner,repository,until,extra_days\n{line}")
    ran = cohort(toys, toys / "class.csv", *arguments)
    assert ran.status == 2
    assert why in ran.err.splitlines()[-1]


def test_roster_is_read_as_spreadsheets_write_it(tmp_path: Path) -> None:
    file = tmp_path / "class.csv"
    lines = [
        "Learner, Repository,Extra days,remarks",
        '"Lee, Ann", /x,2,',
        "",
        " Zoë  ,/y",
        ",,,",
        '"Lee, Ann",/x,,"a ""late"" one"',
    ]
    file.write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    assert roster(file) == [Row("Lee, Ann", "/x", extra_days="2"), Row("Zoë", "/y"), Row("Lee, Ann", "/x")]


def test_identity_goes_from_the_roster_into_the_exports(toys: Path, shared: Shared) -> None:
    ann = a_history(toys / "ann", (DUE, REFERENCE))
    roster = toys / "class.csv"
    roster.write_text(f"learner,repository,login,id,email,section\nAnn Lee,{ann},al1,s-77,ann@e.org,B\n")
    ran = cohort(toys, roster, *shared, "--export", "canvas", "--export", "nbgrader", "--late", "10")
    assert ran.status == 0
    assert "nobody has a deadline, so --late takes nothing" in ran.out
    row = table(toys)["Ann Lee"]
    assert [row[name] for name in ("login", "id", "email", "section")] == ["al1", "s-77", "ann@e.org", "B"]
    _, _, canvas = csv.reader(io.StringIO((toys / "out" / "canvas.csv").read_text(encoding="utf-8")))
    assert canvas[:5] == ["Ann Lee", "", "s-77", "al1", "B"]  # Canvas's own number is not ours to guess
    graded = next(csv.DictReader(io.StringIO((toys / "out" / "nbgrader.csv").read_text(encoding="utf-8"))))
    assert (graded["student_id"], graded["email"]) == ("al1", "ann@e.org")


CANVAS_BOOK = """Student,ID,SIS User ID,SIS Login ID,Section,scale (55)
    Points Possible,,,,,100
"Lee, Ann",4321,s-77,al1,B,
"Roy, Bob",4322,s-78,br2,B,
"Zed, Zoe",4323,s-79,zz3,A,
"""


def test_canvas_download_and_gradebook(toys: Path, shared: Shared) -> None:
    book, source = toys / "book.csv", toys / "submissions.zip"
    book.write_text(CANVAS_BOOK)
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("leeann_4321_98765_scale-1.py", REFERENCE)
        archive.writestr("roybob_LATE_4322_98766_scale.py", WRONG)
    ran = cohort(toys, source, *shared, "--gradebook", str(book), "--export", "canvas")
    assert ran.status == 0, ran.err
    head, possible, *rows = csv.reader(io.StringIO((toys / "out" / "canvas.csv").read_text(encoding="utf-8")))
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "scale (55)", "affine"]
    assert possible[0].strip() == "Points Possible"
    assert [row[:5] for row in rows] == [
        ["Lee, Ann", "4321", "s-77", "al1", "B"],
        ["Roy, Bob", "4322", "s-78", "br2", "B"],
        ["Zed, Zoe", "4323", "s-79", "zz3", "A"],
    ]
    assert (rows[0][5], rows[2][5]) == ("100", "")
    notes = (toys / "out" / "index.html").read_text(encoding="utf-8")
    assert "roybob: Canvas says that this was handed in late" in notes
    assert "Zed, Zoe: handed in nothing" in notes


@pytest.mark.parametrize(
    "book",
    [
        'Student;ID;SIS Login ID;softmax (101)\n    Points Possible;;;100\n"Lee; Ann";4000;lee;\n',
        "LastName,FirstName,ID,SIS Login ID,softmax (101)\n    Points Possible,,,,100\nLee,Ann,4000,lee,\n",
    ],
    ids=["semicolons", "two columns of names"],
)
def test_gradebook_in_the_forms_that_canvas_writes(book: str, tmp_path: Path) -> None:
    (tmp_path / "book.csv").write_text(book, encoding="utf-8")
    found = gradebook.read(tmp_path / "book.csv")
    assert [(gradebook.plain(one.name), one.about) for one in found.people] in (
        [("leeann", {"canvas": "4000", "login": "lee"})],
        [("annlee", {"canvas": "4000", "login": "lee"})],
    )
    assert found.titles == {"softmax": "softmax (101)"}


def test_two_of_one_name_in_the_gradebook_do_not_get_each_others_ids() -> None:
    def joined(learners: list[Learner], *numbers: str) -> list[tuple[str, dict[str, str], list[str]]]:
        people = [
            Learner("Lee, Ann", notes=[gradebook.ABSENT], about={"canvas": one, "id": f"s-{one}"}) for one in numbers
        ]
        return [(one.name, one.about, one.notes) for one in gradebook.joined(learners, gradebook.Gradebook(people, {}))]

    absent = ("Lee, Ann", {"canvas": "2", "id": "s-2"}, [gradebook.ABSENT])
    downloaded = {"canvas": "1"}
    own = downloaded | {"id": "s-1", "listed": "Lee, Ann"}
    assert joined([Learner("leeann", about=downloaded)], "2", "1") == [("leeann", own, []), absent]
    assert joined([Learner("leeann", about=downloaded)], "2") == [("leeann", downloaded, []), absent]
    assert joined([Learner("Ann Lee")], "1", "2") == [("Ann Lee", {}, [gradebook.UNSURE])]
    both = joined([Learner("Ann Lee"), Learner("ann-lee")], "1")
    assert both == [("Ann Lee", {}, [gradebook.UNSURE]), ("ann-lee", {}, [gradebook.UNSURE])]


@pytest.mark.parametrize("packed", [True, False], ids=["as_it_is", "unpacked"])
def test_moodle_download_and_worksheet(toys: Path, packed: bool, shared: Shared) -> None:
    files = {
        "Ann Lee_4321_assignsubmission_file_/scale.py": REFERENCE,
        "Ann Lee_4321_assignsubmission_onlinetext_/onlinetext.html": "<p>mine</p>",
        "Zoë Zed_4323_assignsubmission_file/scale (1).py": WRONG,
        "Bob Roy_4322_assignsubmission_file_scale.py": WRONG,
    }
    source = toys / ("class.zip" if packed else "class")
    if packed:
        with zipfile.ZipFile(source, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
    else:
        for name, text in files.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text, encoding="utf-8")
    (toys / "book.csv").write_text(
        "Identifier,Full name,ID number,Email address,Grade\nParticipant 4321,Ann Lee,s-77,ann@e.org,-\n"
        "Participant 4322,Bob Roy,s-78,bob@e.org,-\n",
        encoding="utf-8-sig",
    )
    ran = cohort(toys, source, *shared, "--gradebook", str(toys / "book.csv"), "--until", DUE)
    assert ran.status == 0, ran.err
    assert "--until and --late need a roster (.csv) of repositories" in ran.out
    told = table(toys)
    assert {name: (row["id"], row["email"]) for name, row in told.items()} == {
        "Ann Lee": ("s-77", "ann@e.org"),
        "Bob Roy": ("s-78", "bob@e.org"),
        "Zoë Zed": ("4323", ""),
    }
    assert points(toys)["Ann Lee"]["scale"] == "100"


HOMEWORK = "Homework 3=scale:0.5,affine:0.25"
WORKSHEET = """\ufeffIdentifier,Full name,Email address,Grade,Maximum Grade,"Last modified (grade)","Feedback comments"
Participant 4321,Ann Lee,ann@e.org,,75.00,-,"- well
begun"
Participant 4322,Bob Roy,bob@e.org,12.00,75.00,"Monday, 1 June 2026, 10:00 AM",=1
Participant 4323,Zoe Zed,zoe@e.org,,75.00,-,
"""


def downloaded(source: Path) -> Path:
    """Of Moodle's: Ann has solved one kata of two and a half of the other, Bob has no answer."""
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("Ann Lee_4321_assignsubmission_file_/scale.py", REFERENCE)
        archive.writestr("Ann Lee_4321_assignsubmission_file_/affine.py", MODULE_WRONG)
        archive.writestr("Zoe Zed_4323_assignsubmission_file_/affine.py", MODULE_REFERENCE)
    return source


def test_an_assignment_of_several_katas_is_one_column(toys: Path, shared: Shared) -> None:
    book = toys / "book.csv"
    book.write_text(WORKSHEET, encoding="utf-8")
    exports = [part for name in ("canvas", "moodle", "gradescope", "nbgrader") for part in ("--export", name)]
    more = ("--gradebook", str(book), "--assignment", HOMEWORK, *exports)
    ran = cohort(toys, downloaded(toys / "class.zip"), *shared, *more)
    assert ran.status == 0, ran.err
    assert "in the gradebook" not in ran.out
    out, told = toys / "out", points(toys)
    wrong = int(told["Ann Lee"]["affine"])
    assert 0 < wrong < 100
    ann = 50 + round(wrong / 4, 2)

    head, possible, *rows = csv.reader(io.StringIO((out / "canvas.csv").read_text(encoding="utf-8")))
    assert (head[5:], possible[5:]) == (["Homework 3"], ["75"])
    assert {row[0]: row[5] for row in rows} == {"Ann Lee": f"{ann:g}", "Bob Roy": "", "Zoe Zed": "25"}
    graded = list(csv.DictReader(io.StringIO((out / "nbgrader.csv").read_text(encoding="utf-8"))))
    assert {(one["assignment"], one["max_score"]) for one in graded} == {("Homework 3", "75")}
    assert {one["student_id"]: one["score"] for one in graded} == {
        "Ann Lee": f"{ann:g}",
        "Bob Roy": "0",
        "Zoe Zed": "25",
    }
    tests = json.loads((out / "gradescope" / f"{reading.slug('Ann Lee')}" / "results.json").read_text())["tests"]
    assert [(one["name"], one["max_score"]) for one in tests] == [("scale", 50), ("affine", 25)]
    assert sum(one["score"] for one in tests) == ann
    with zipfile.ZipFile(out / "gradescope" / "autograder.zip") as archive:
        assert "--assignment all=scale:0.5,affine:0.25" in archive.read("run_autograder").decode()

    before, after = (
        list(csv.DictReader(text.splitlines(keepends=True)))
        for text in (WORKSHEET.lstrip("\ufeff"), (out / "moodle.csv").read_text(encoding="utf-8"))
    )
    assert [row.pop("Grade") for row in after] == [f"{ann:g}", "12.00", "25"]
    assert [row.pop("Grade") for row in before] == ["", "12.00", ""]
    assert after == before  # comments as well, which Moodle takes over where they differ


def test_points_that_a_gradebook_takes_otherwise_are_told(toys: Path, shared: Shared) -> None:
    book, source = toys / "book.csv", downloaded(toys / "class.zip")
    book.write_text(WORKSHEET, encoding="utf-8")
    ran = cohort(toys, source, *shared, "--gradebook", str(book), "--export", "moodle", "--kata", "scale")
    assert "scale has 100 points here, and 75.00 in the gradebook" in ran.out
    sheet = io.StringIO((toys / "out" / "moodle.csv").read_text(encoding="utf-8"))
    assert [row["Grade"] for row in csv.DictReader(sheet)] == ["100", "12.00", ""]
    book.write_text(
        "Student;ID;Homework 3 (5);scale (6)\n    Points Possible;;200;100\nLee, Ann;4321;;\n", encoding="utf-8"
    )
    ran = cohort(
        toys, source, *shared, "--gradebook", str(book), "--export", "canvas", "--assignment", "Homework 3=scale,affine"
    )
    assert ran.status == 0, ran.err
    assert "in the gradebook" not in ran.out
    assert (toys / "out" / "canvas.csv").read_text().splitlines()[0].endswith(",Section,Homework 3 (5)")


def test_kata_limits_what_is_exported(toys: Path, shared: Shared) -> None:
    source = downloaded(toys / "class.zip")
    assert cohort(toys, source, *shared).status == 0
    assert cohort(toys, source, *shared, "--kata", "affine", "--export", "canvas", "--export", "gradescope").status == 0
    assert points(toys)["Ann Lee"]["scale"] == "100"  # grades.csv keeps it
    assert (toys / "out" / "canvas.csv").read_text().splitlines()[0].endswith(",Section,affine")
    tests = json.loads((toys / "out" / "gradescope" / reading.slug("Ann Lee") / "results.json").read_text())["tests"]
    assert [one["name"] for one in tests] == ["affine"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--assignment", "scale"], "an assignment should be like 'Homework 3=softmax,kmeans:0.5', got 'scale'"),
        (["--assignment", "one=scale:much"], "an assignment should be like"),
        (["--assignment", "one=scale:-1"], "an assignment should be like"),
        (["--assignment", "one=nowhere"], "there is no kata called 'nowhere'"),
        (["--assignment", "one=scale,affine", "--kata", "affine"], "one has scale, which --kata leaves out"),
        (["--assignment", "a=scale", "--assignment", "b=affine", "--export", "gradescope"], "files of one assignment"),
        (["--export", "moodle", "--kata", "scale"], "--export moodle needs Moodle's grading worksheet"),
        (["--export", "moodle", "--gradebook", "book.csv"], "Moodle's worksheet has one column of grades"),
    ],
)
def test_assignments_that_cannot_be_exported_are_one_sentence(toys: Path, arguments: list[str], why: str) -> None:
    (toys / "book.csv").write_text(WORKSHEET, encoding="utf-8")
    given = [str(toys / one) if one == "book.csv" else one for one in arguments]
    ran = cohort(toys, downloaded(toys / "class.zip"), *given)
    assert ran.status == 2
    assert why in ran.err.splitlines()[-1]
    assert not (toys / "out" / "grades.csv").exists()


def test_equal_ones_are_named_with_the_file_and_alike_ones_stand_side_by_side(toys: Path, shared: Shared) -> None:
    longer = "\n".join(f"    y{n} = x * {n} if factor > {n} else x / {n + 1} - {n}" for n in range(1, 9))
    copied = WRONG.replace('    """x times factor."""\n', f'    """x times factor."""\n{longer}\n')
    mended = re.sub(r"\by(\d)", r"other\1", copied).replace("x / factor", "x / (1 / factor)")
    answers = {"ann": RENAMED, "bob": copied, "cid": mended, "dan": WRONG}
    folder = a_class(toys / "class", **answers)
    a_class(toys / "last year", zoe=WRONG)
    assert cohort(toys, folder, *shared, "--earlier", str(toys / "last year")).status == 0
    page = (toys / "out" / "index.html").read_text(encoding="utf-8")
    assert "<li><code>scale</code>: ann; equal to <code>solutions/toys/scale/scale.py</code></li>" in page
    assert (
        f"<li><code>scale</code>: dan; equal to <code>zoe: {ANSWER.as_posix()} (an earlier class)</code></li>" in page
    )
    assert re.search(r"<summary><code>scale</code>: bob and cid, \d+ %</summary>", page)
    assert page.count("<details>") == 1
    assert "<td>    y3 = x * 3" in page
    assert "<td>    other3 = x * 3" in page


def test_another_builtin_is_another_program() -> None:
    one, renamed = "def f(x):\n    return sum(x)", "def g(y):\n    return sum(y)"
    assert shape(one) == shape(renamed) != shape(one.replace("sum", "max"))


def test_autograder_of_gradescope_writes_what_gradescope_reads(toys: Path, shared: Shared) -> None:
    """In a folder like Gradescope's; its image, and so setup.sh, is not made here."""
    folder = a_class(toys / "class", ann=REFERENCE)
    assert cohort(toys, folder, *shared, "--export", "gradescope", "--kata", "scale").status == 0
    base = toys / "autograder"
    with zipfile.ZipFile(toys / "out" / "gradescope" / "autograder.zip") as archive:
        names = archive.namelist()
        archive.extractall(base / "source")
        assert archive.getinfo("run_autograder").external_attr >> 16 & 0o111
    assert {"setup.sh", "run_autograder", "katas/noxfile.py", "katas/pyproject.toml"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or ".git/" in name]
    (base / "source" / "katas" / ".venv").symlink_to(sys.prefix)
    (base / "submission").mkdir()
    (base / "submission" / "Scale.py").write_text(WRONG)
    subprocess.run(["bash", "-n", str(base / "source" / "setup.sh")], check=True)
    run = ["bash", str(base / "source" / "run_autograder")]
    done = subprocess.run(run, env=os.environ | {"AUTOGRADER": str(base)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads((base / "results" / "results.json").read_text(encoding="utf-8"))
    (test,) = told["tests"]
    assert (test["name"], test["max_score"], test["score"] < 100) == ("scale", 100, True)
    assert "the factor divides; multiply by it" in test["output"]
    assert told["output"] == "Scale.py was taken for the answer to scale"


@pytest.mark.skipif(sys.platform != "linux", reason="names that other systems do not allow")
def test_class_of_38_with_its_faults(toys: Path, shared: Shared) -> None:
    expected = classes.make(toys / "class")
    assert len(expected) == 38
    once = ("--kata", "scale", "--seed", "1")
    ran = cohort(toys, toys / "class", *shared, "--export", "canvas", "--export", "gradescope", *once)
    assert ran.status == 1, ran.err
    assert not steers("".join(ran.out.splitlines()))
    assert "38 learners, 33 answers" in ran.out
    assert "3 learners not read, or not wholly, see their notes: damaged, link, two" in ran.out
    told, out = table(toys), toys / "out"
    page = Page((out / "index.html").read_text(encoding="utf-8"))
    assert {one for one in page.tags if one in ("b", "script", "img")} == set()
    assert len(told) == 38
    for entry, found in expected.items():
        name = writers.one_line(re.sub(r"\.(zip|tgz)$", "", entry))
        row = told.get(name) or told[f"'{name}"]
        assert row["scale"] == (str(found) if isinstance(found, int) else ""), entry
        feedback = (out / "feedback" / row["file"]).read_text(encoding="utf-8")
        assert not steers(feedback.replace("\n", "")), entry
        if isinstance(found, str):
            assert found in feedback.replace("\\", ""), entry
    for file in [out / "grades.csv", out / "canvas.csv"]:
        text = file.read_text(encoding="utf-8")
        assert not steers(text.replace("\n", ""))
        rows = list(csv.reader(io.StringIO(text)))
        assert len({len(row) for row in rows}) == 1
        assert len(rows) == text.count("\n")
    again = cohort(toys, toys / "class", *shared, *once)
    assert "0 to be judged" in again.out
    assert table(toys) == told


class Page(Tags):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.feed(text)
