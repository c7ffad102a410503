"""Which katas `prove` takes: those of a change, those of a shard."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

import pytest

from graders.author import shard
from graders.author.prove import chosen_katas
from graders.faults import UsageError
from tests.toys import make_repository


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Both toys, committed."""
    root = make_repository(tmp_path)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "toys"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *command], cwd=root, check=True)
    return root


def chosen(root: Path, changed: str | None = "HEAD", part: tuple[int, int] = (1, 1)) -> list[str]:
    options = argparse.Namespace(katas=[], changed=changed, shard=part)
    return [kata.id for kata in chosen_katas(options, root)]


def test_change_in_a_kata_proves_that_kata_alone(history: Path) -> None:
    assert chosen(history) == []
    (history / "solutions/toys/affine/affine.py").write_text("# another reference")
    assert chosen(history) == ["affine"]
    (history / "tests/hostile/scale").mkdir(parents=True)
    (history / "tests/hostile/scale/new.py").write_text("# a cheat that git does not know yet")
    assert chosen(history) == ["scale", "affine"]


def test_change_in_the_engine_proves_all_and_one_in_a_text_none(history: Path) -> None:
    (history / "README.md").write_text("a text")
    assert chosen(history) == []
    (history / "graders").mkdir()
    (history / "graders/new.py").write_text("")
    assert chosen(history) == ["scale", "affine"]


@pytest.mark.parametrize("reference", ["nowhere", "--output=written"])
def test_unknown_reference_is_refused_in_one_line(history: Path, reference: str) -> None:
    with pytest.raises(UsageError, match=r"git does not know it \([^\n]*\)$"):
        chosen(history, reference)
    assert not (history / "written").exists()


def test_shards_share_the_katas(history: Path) -> None:
    assert [chosen(history, None, (number, 2)) for number in (1, 2)] == [["scale"], ["affine"]]
    assert shard("2/3") == (2, 3)
    for wrong in ("0/2", "3/2", "1", "a/b"):
        with pytest.raises(argparse.ArgumentTypeError, match="like 1/4"):
            shard(wrong)
