"""The commands that write an author's files: `new`, `stub`, `statement`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graders import __main__ as cli
from graders.author import check
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.stub import stub_of
from graders.faults import ROOT
from tests.toys import ABOUT, REFERENCE

OURS = 'lint.isort.known-first-party=["graders"]'
STUB = "katas/toys/scale/scale.py"
RENAMED = REFERENCE.replace("factor", "by")


def said(root: Path, capsys: pytest.CaptureFixture[str], *command: str, status: int = 0) -> list[str]:
    assert cli.main([*command], root) == status
    return capsys.readouterr().out.splitlines()


# A function, a class, a module with parameters, several answers, numbers alone.
LIKE = ("layer_norm", "batch_norm", "multi_head_attention", "moco", "lr_schedule")
TO_FILL_IN = re.compile(r"left to do|or more, got|`[^`]*` should give|a Mistake should have slow|a Budget should")


@pytest.mark.parametrize("other", LIKE)
def test_new_kata_lacks_only_what_an_author_fills_in(
    tmp_path: Path, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    like = katas.find_one(other)
    for folder in (like.folder, like.solutions):
        shutil.copytree(folder, tmp_path / folder.relative_to(ROOT))
    *written, left = said(tmp_path, capsys, "new", "brand_new", "--like", other)
    assert left == "what is left to do is listed by: python -m graders check brand_new"
    kata = Kata(tmp_path, like.topic, "brand_new")
    files = [path for folder in (kata.folder, kata.solutions) for path in folder.rglob("*.*") if path.suffix != ".pyc"]
    texts = {path: path.read_text() for path in files}
    assert len(texts) - 2 == len(written) == 11 + (like.solutions / "builtin.py").exists()
    assert len(texts[kata.statement]) < len(like.statement.read_text()) / 2
    solved = re.findall(r"# --- solution\n(.*?)# --- end", like.reference_file.read_text(), re.DOTALL)
    taken = {line.strip() for body in solved for line in body.splitlines() if len(line.strip()) > 20}
    taken |= {f'"{case.name}"' for answer in like.grader.answers for case in answer.cases} | {like.about.title}
    assert taken
    assert not [(path, one) for path, text in texts.items() for one in taken if one in text]
    lacks = check.lacks(kata)
    assert len(lacks) > 30
    assert [one for one in lacks if not TO_FILL_IN.search(one)] == []
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for command in (["check", "--ignore=F401", f"--config={OURS}"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--quiet", "."]
        done = subprocess.run(ruff, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["affine", "--like", "scale"], "katas/toys/affine is there already; choose another name"),
        (["toys", "--like", "scale"], "katas/toys is there already; choose another name"),
        (["rms-norm", "--like", "scale"], "a kata's name should be words in small letters joined by _, as layer_norm, "
            "got 'rms-norm'"),
        (["RMSNorm", "--like", "scale"], "a kata's name should be words in small letters"),
        (["class", "--like", "scale"], "a kata's name should be words in small letters"),
        (["scaled", "--like", "scale", "--topic", "../toys"], "a topic's name should be words in small letters"),
        (["scaled", "--like", "scale", "--signature", "scaled"], "a signature should be like"),
        (["scaled", "--like", "scale", "--signature", "scaled(x"], "a signature should be like"),
        (["scaled", "--like", "scail"], "there is no kata called 'scail'; did you mean scale?"),
        (["scaled", "--like", "toys"], "toys is a topic of 2 katas; name one: scale, affine"),
    ],
)  # fmt: skip
def test_what_cannot_be_new_is_refused_in_a_sentence(
    toys: Path, capsys: pytest.CaptureFixture[str], command: list[str], sentence: str
) -> None:
    before = sorted(toys.rglob("*"))
    assert cli.main(["new", *command], toys) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: {sentence}")
    assert told.count("\n") == 1
    assert [path for path in sorted(toys.rglob("*")) if "__pycache__" not in path.parts] == before


def test_new_kata_may_have_a_signature_of_its_own(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    signature = "shift(x, by, eps=1e-6, way='up')"
    said(toys, capsys, "new", "shift", "--like", "scale", "--signature", signature)
    kata = Kata(toys, "toys", "shift")
    head = 'def shift(x: Tensor, by: Tensor, eps: float = 1e-6, way: str = "up") -> Tensor:'
    assert head in kata.reference_file.read_text()
    assert "    eps: float = 1e-6,\n" in kata.statement.read_text()
    assert [one for one in check.lacks(kata) if not TO_FILL_IN.search(one)] == []


def test_proof_of_a_kata_that_is_not_filled_in_says_so_once(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(toys, capsys, "new", "brand_new", "--like", "scale")
    kata = katas.find_one("brand_new", toys)
    left = len([one for one in check.lacks(kata) if "left to do" in one])
    faults = [one for one in said(toys, capsys, "prove", "brand_new", status=1) if one.startswith("FAULT")]
    assert faults == [
        "FAULT  brand_new: the grader's case five_by_seven failed: NotImplementedError",
        f"FAULT  brand_new: {left} places are left to fill in; python -m graders check brand_new lists them",
    ]


def test_new_kata_may_begin_a_topic(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(toys / "solutions/toys/affine")
    said(toys, capsys, "new", "shift", "--like", "scale", "--topic", "moves")
    assert "topic: moves\n" in (toys / "katas/moves/shift/README.md").read_text()
    assert cli.main(["new", "affine_again", "--like", "affine"], toys) == 2
    assert "solutions/toys/affine/affine.py is missing" in capsys.readouterr().err


def test_stub_is_written_anew_while_nobody_has_worked_on_it(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stub, reference = toys / STUB, toys / "solutions/toys/scale/scale.py"
    assert said(toys, capsys, "stub", "scale") == [f"wrote {STUB}"]
    reference.write_text(RENAMED)
    assert said(toys, capsys, "stub", "scale") == [f"wrote {STUB}"]
    assert stub.read_text() == stub.with_name(".stub.py").read_text() == stub_of(RENAMED)
    stub.write_text(RENAMED)
    left = [f"{STUB} holds somebody's work, so it is left alone; remove it first to start anew"]
    assert said(toys, capsys, "stub", "scale", status=1) == left
    assert stub.read_text() == RENAMED
    stub.unlink()
    assert said(toys, capsys, "stub", "scale") == [f"wrote {STUB}"]


def test_stub_that_git_knows_is_nobodys_work(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(toys, capsys, "stub", "scale")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "toys"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *command], cwd=toys, check=True)
    old = (toys / STUB).read_text()
    (toys / "solutions/toys/scale/scale.py").write_text(RENAMED)
    said(toys, capsys, "stub", "scale")
    (toys / STUB).write_text(old)
    assert said(toys, capsys, "stub", "scale") == [f"wrote {STUB}"]


def test_statement_of_too_many_checks_is_one_sentence(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grader = toys / "katas/toys/scale/grader.py"
    more = 'cases=(*(Case(f"more_{n}", lambda draw: {"x": draw.normal(2, 2)}) for n in range(40)), '
    grader.write_text(grader.read_text().replace("cases=(", more, 1))
    assert cli.main(["statement", "scale"], toys) == 2
    assert capsys.readouterr().err.startswith("error: katas/toys/scale/grader.py should be mended first: ")


def test_statement_says_what_it_writes_anew(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (toys / "README.md").write_text("- `none`: one\n\n")
    statement = toys / "katas/toys/scale/README.md"
    statement.write_text(ABOUT.format("scale", "toys", 1, "[]", 15) + "\n## What is graded\n\nnothing\n")
    first = "katas/toys/scale/README.md: what follows '## What is graded' is"
    main = "README.md: the list of all katas, and the address, is"
    assert said(toys, capsys, "statement", "scale") == [f"{first} written anew", f"{main} written anew"]
    assert said(toys, capsys, "statement", "scale") == [f"{first} as it should be", f"{main} as it should be"]
    whole = statement.read_text()
    statement.write_text(whole.partition("## What is graded")[0])
    assert said(toys, capsys, "statement", "scale")[0] == f"{first} written anew"
    assert "<summary>What is graded</summary>\n\n## What is graded\n\n| category |" in statement.read_text()


def test_main_readme_clones_from_the_address_of_pyproject(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme, unknown = toys / "README.md", "$ git clone ADDRESS katas && cd katas      # the address is under"
    readme.write_text((ROOT / "README.md").read_text(encoding="utf-8"))
    said(toys, capsys, "statement", "scale")
    assert f"\n{unknown}" in readme.read_text(encoding="utf-8")
    for whose in ("ada", "eve"):
        home = f"https://github.com/{whose}/katas"
        (toys / "pyproject.toml").write_text(f'[project]\nname = "katas"\nurls.Repository = "{home}"\n')
        said(toys, capsys, "statement", "scale")
        assert f"\n$ git clone {home} katas && cd katas\n" in readme.read_text(encoding="utf-8")
    (toys / "pyproject.toml").write_text('[project]\nname = "katas"\n')
    assert any("or the address, is an old one" in line for line in check.in_common(toys))
