"""A teacher's own katas, `--katas FOLDER`: the example pack and new ones, through the same doors as ours."""

from __future__ import annotations

import json
import shutil
import sys
import sysconfig
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import pexpect
import pytest

from graders.arguments import command_line
from graders.catalogue import katas
from graders.catalogue.stub import stub_for
from graders.faults import PACK, ROOT
from tests.clusters import Shared
from tests.test_web import serving
from tests.toys import end, grade, run

EXAMPLE = ROOT / "tests/pack"
ANSWER = "katas/margins/hinge_loss/hinge_loss.py"
REFERENCE = (EXAMPLE / "solutions/margins/hinge_loss/hinge_loss.py").read_text(encoding="utf-8")
WRONG = REFERENCE.replace(".clamp(min=0)", "")
PEEKS = "import os\n\n\ndef scale(x, factor=2.0):\n    raise KeyError(str(os.listdir({!r})))\n"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return shutil.copytree(EXAMPLE, tmp_path / "course")


def kept() -> list[tuple[Path, int]]:
    """What learners did in the engine's own repository."""
    return [(file, file.stat().st_mtime_ns) for file in sorted((ROOT / ".kata").rglob("*"))]


def test_example_is_none_of_ours_and_is_proved(pack: Path) -> None:
    (kata,) = katas.all_katas(pack)
    assert kata.id not in {ours.id for ours in katas.all_katas()}
    assert stub_for(kata) == kata.answer_file.read_text() == kata.kept_stub.read_text()
    ran = run(ROOT, "prove", "--katas", str(pack))
    assert (ran.status, ran.out.splitlines()[-1].split()[-1]) == (0, "proved")
    ran = run(ROOT, "check", "--katas", str(pack))
    assert ran.status == 1
    assert "solutions/margins/hinge_loss/alternatives should have 4 right answers or more, got 1\n" in ran.out


def test_a_packs_answers_are_graded_and_what_a_learner_did_stays_in_the_pack(pack: Path) -> None:
    before = kept()
    (pack / ANSWER).write_text(WRONG)
    ran = run(ROOT, "grade", "--katas", str(pack))
    assert ran.status == 1
    assert "looks like  scores beyond the margin lower the loss; stop at 0" in ran.out
    (pack / ANSWER).write_text(REFERENCE)
    assert run(ROOT, "grade", "hinge_loss", "--katas", str(pack)).status == 0
    listed = run(ROOT, "history", "--katas", str(pack), "hinge_loss").out
    assert [row.split()[4] for row in listed.splitlines()[1:3]] == ["31", "100"]
    assert "hinge_loss  solved" in run(ROOT, "status", "--kat", str(pack)).out
    assert kept() == before


def test_the_path_of_a_submission_leads_there_from_where_the_command_was_typed(pack: Path) -> None:
    (pack / "wrong.py").write_text(WRONG)
    file = pack / "found.json"
    arguments = ("hinge_loss", "--submission", str(pack / "wrong.py"), "--json", str(file))
    assert run(ROOT, "grade", "--katas", str(pack), *arguments).status == 1
    (found,) = json.loads(file.read_text())["results"]
    assert (ROOT / found["source"]).resolve() == (pack / "wrong.py").resolve()


@pytest.mark.parametrize(
    ("folder", "kata", "status", "sentence"),
    [
        ("course/katas", "hinge_loss", 2, "course/katas has no katas/TOPIC/KATA/grader.py: name the folder of a pack"),
        ("curse", "hinge_loss", 2, "curse is no folder: name the folder of a pack; docs/packs.md says how to begin"),
        ("course", "softmax", 2, "there is no kata called 'softmax'; there are: hinge_loss"),
        ("course", "hinge_loss", 3, "cannot be imported: NameError: name 'nonsense' is not defined; mend that, or"),
    ],
)
def test_what_is_wrong_with_a_pack_is_one_sentence(
    pack: Path, folder: str, kata: str, status: int, sentence: str
) -> None:
    if status == 3:
        (pack / ANSWER).with_name("grader.py").write_text("nonsense")
    ran = run(ROOT, "run", "--katas", str(pack.parent / folder), kata, "--case", "twenty")
    assert (ran.status, ran.out) == (status, "")
    assert sentence in ran.err
    assert (ran.err.startswith("error: "), ran.err.count("\n")) == (True, 1)


def test_a_file_that_is_run_gets_the_inputs_of_the_packs_case(pack: Path) -> None:
    (pack / ANSWER).write_text(REFERENCE)
    ran = run(ROOT, "run", "--katas", str(pack), "hinge_loss", "--case", "twenty")
    assert (ran.status, ran.err) == (0, "")
    assert (pack / ".kata/run/hinge_loss_twenty.py").exists()


def test_class_is_graded_by_a_pack(pack: Path, shared: Shared) -> None:
    for name, source in (("ada", REFERENCE), ("bob", WRONG), ("eve", (pack / ANSWER).read_text())):
        file = pack.parent / "class" / name / ANSWER
        file.parent.mkdir(parents=True)
        file.write_text(source)
    out = pack.parent / "out"
    named = (str(pack.parent / "class"), "--out", str(out), "--seed", "1", *shared)
    ran = run(ROOT, "cohort", "--katas", str(pack), *named)
    assert ran.status == 0, ran
    head, *rows = [line.split(",") for line in (out / "grades.csv").read_text().splitlines()]
    assert {row[0]: row[head.index("hinge_loss")] for row in rows} == {"ada": "100", "bob": "31", "eve": "0"}


def test_page_has_the_packs_katas_and_the_rules_of_all(pack: Path) -> None:
    client = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    with serving(ROOT, "--port", "0", "--katas", str(pack)) as served:
        shown = client.open(served.address).read().decode()
        assert "Hinge loss" in shown
        assert "Softmax" not in shown
        assert "What every kata asks" in client.open(served.address.replace("/?", "/rules?")).read().decode()
    assert (pack / ".kata/web.json").exists()


def test_pack_is_watched(pack: Path) -> None:
    (pack / ANSWER).write_text(WRONG)
    command = [*command_line(ROOT)[1:], "watch", "--katas", str(pack)]
    child = pexpect.spawn(sys.executable, command, cwd=str(ROOT), encoding="utf-8", timeout=60)
    try:
        child.expect("looks like  scores beyond the margin")
        (pack / ANSWER).write_text(REFERENCE)
        child.expect("1 core, 1 solved of 1")
    finally:
        end(child)


def test_new_pack_begins_with_a_kata_like_one_of_ours(tmp_path: Path) -> None:
    pack = str(tmp_path / "fresh")
    made = run(ROOT, "new", "--katas", pack, "far_scores", "--like", "cosine_similarity", "--topic", "margins")
    assert made.status == 0, made
    assert [kata.id for kata in katas.all_katas(tmp_path / "fresh")] == ["far_scores"]
    assert "README.md:11: left to do" in run(ROOT, "check", "--katas", pack).out
    assert run(ROOT, "new", "--katas", pack, "near_scores", "--like", "far_scores").status == 0
    assert run(ROOT, "statement", "--katas", pack).out.count("is as it should be") == 2
    assert not list(ROOT.glob("*/*/far_scores"))


def test_environment_stands_for_the_option_where_an_interview_counts_katas(pack: Path) -> None:
    said = {PACK: str(pack)}
    assert "no kata has an interview.md here" in run(ROOT, "interview", "--katas", "1", **said).err
    assert run(ROOT, "grade", **said).out.count("TODO") == 1


def test_pack_among_the_files_that_submissions_read_is_hidden_from_them(toys: Path) -> None:
    inside = str(Path(sysconfig.get_paths()["stdlib"], "email"))
    for environment, seen in (({}, "__init__.py"), ({PACK: inside}, "[]")):
        result = grade(toys, "scale", {"peeks": PEEKS.format(inside)}, "--device", "cpu", **environment)["peeks"]
        assert seen in str([test["message"] for test in result["tests"]])
