"""The worked example of CONTRIBUTING.md is a kata that can be proved."""

from __future__ import annotations

import re
from pathlib import Path

from graders.catalogue import katas
from graders.faults import ROOT
from tests.toys import run


def test_worked_example_is_proved(tmp_path: Path) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    statement = re.search(r"````markdown\n(.*?)````", text, re.DOTALL)
    assert statement
    reference, grader, mistakes = re.findall(r"```python\n(.*?)```", text.replace(statement[0], ""), re.DOTALL)
    kata = katas.Kata(tmp_path, "similarity", "square_distance")
    for path, source in (
        (kata.statement, statement[1]),
        (kata.reference_file, reference),
        (kata.grader_file, grader),
        (kata.solutions / "mistakes.py", mistakes),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    assert run(tmp_path, "stub", kata.id).status == 0
    proved = run(tmp_path, "prove", kata.id)
    assert (proved.status, proved.err) == (0, ""), proved.out
    assert "proved" in proved.out
