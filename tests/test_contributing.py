"""The worked example of CONTRIBUTING.md, done as the page says, is a kata that can be proved."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.faults import ROOT
from tests.toys import run

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\.venv/bin/python -m graders (\w+ square_distance.*)$", PAGE, re.MULTILINE)
STATEMENT = re.compile(r"````markdown\n(.*?)````", re.DOTALL)
# What the page describes without showing it.
ELSEWHERE = re.compile(r"left to do|or more, got [014]\b|README.md:\d+: `[^`]*` should give")


def test_worked_example_is_checked_and_proved(tmp_path: Path) -> None:
    like = katas.find_one("cosine_similarity")
    for folder in (like.folder, like.solutions):
        shutil.copytree(folder, tmp_path / folder.relative_to(ROOT))
    new, first_check, *written, last_check = [shlex.split(command) for command in COMMANDS]
    assert [new[0], first_check[0], last_check[0]] == ["new", "check", "check"]
    assert run(tmp_path, *new).status == 0
    assert run(tmp_path, *first_check).out.count("left to do") > 30
    kata = Kata(tmp_path, "similarity", "square_distance")
    fill_in(kata)
    for command in written:
        assert run(tmp_path, *command).status == 0
    left = run(tmp_path, *last_check).out.splitlines()
    assert left
    assert [sentence for sentence in left if not ELSEWHERE.search(sentence)] == []
    assert "grader.py" not in "".join(left)
    proved = run(tmp_path, "prove", kata.id)
    assert (proved.status, proved.err) == (0, ""), proved.out
    assert "proved" in proved.out


def fill_in(kata: Kata) -> None:
    """Puts what the page shows into the files, and takes out the alternatives, of which it shows none."""
    (statement,) = STATEMENT.findall(PAGE)
    programs = re.findall(r"```python\n(.*?)```", STATEMENT.sub("", PAGE), re.DOTALL)
    paths = kata.reference_file, kata.grader_file, kata.solutions / "mistakes.py"
    for path, program in zip(paths, programs, strict=True):
        path.write_text(program, encoding="utf-8")
    text = kata.statement.read_text(encoding="utf-8")
    for section in re.split(r"\n(?=## )", statement.rstrip()):
        before, heading, after = text.partition(section.partition("\n")[0] + "\n")
        assert heading
        end = re.search(r"\n(?=## |</?details>)", after)
        assert end
        text = f"{before}{section}\n{after[end.start() :]}"
    kata.statement.write_text(text, encoding="utf-8")
    (kata.solutions / "builtin.py").unlink()
    shutil.rmtree(kata.solutions / "alternatives")
