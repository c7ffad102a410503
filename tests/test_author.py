"""The commands that write an author's files: `stub`, `statement`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from graders import __main__ as cli
from graders.catalogue.stub import stub_of
from tests.toys import ABOUT, REFERENCE

STUB = "katas/toys/scale/scale.py"
RENAMED = REFERENCE.replace("factor", "by")


def said(root: Path, capsys: pytest.CaptureFixture[str], *command: str, status: int = 0) -> list[str]:
    assert cli.main([*command], root) == status
    return capsys.readouterr().out.splitlines()


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


def test_statement_says_what_it_writes_anew(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (toys / "README.md").write_text("| topic | level 1 |\n\n")
    statement = toys / "katas/toys/scale/README.md"
    statement.write_text(ABOUT.format("scale", "toys", 1, "[]", 15) + "\n## What is graded\n\nnothing\n")
    first = "katas/toys/scale/README.md: what follows '## What is graded' is"
    main = "README.md: the table of all katas is"
    assert said(toys, capsys, "statement", "scale") == [f"{first} written anew", f"{main} written anew"]
    assert said(toys, capsys, "statement", "scale") == [f"{first} as it should be", f"{main} as it should be"]
