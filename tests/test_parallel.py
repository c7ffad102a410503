"""Several judges find what one finds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from graders.author.forked import Ran
from graders.sandbox.launcher import forks
from tests.toys import GRADER, MODULE_REFERENCE, REFERENCE, run, run_within

pytestmark = pytest.mark.skipif(not forks(), reason="judges are forked, which is not done on this system")


def graded(toys: Path, workers: int, *more: str) -> tuple[Ran, dict[str, Any], str]:
    """What came out, the JSON without its times, the JUnit XML without its times."""
    files = ["--json", str(toys / "results.json"), "--junit", str(toys / "junit.xml")]
    ran = run(toys, "grade", "--workers", str(workers), *files, *more)
    document = json.loads((toys / "results.json").read_text(encoding="utf-8"))
    for result in document["results"]:
        result.pop("seconds")
        for test in result["tests"]:
            test.pop("seconds")
    junit = re.sub(r'(time|timestamp)="[^"]*"', "", (toys / "junit.xml").read_text(encoding="utf-8"))
    return ran, document, junit


def test_two_judges_find_what_one_finds(toys: Path) -> None:
    (toys / "katas/toys/affine/affine.py").write_text(MODULE_REFERENCE)
    (toys / "katas/toys/scale/scale.py").write_text(REFERENCE.replace("x / (1 / factor)", "x / factor"))
    (one, document, junit), (two, other, others_junit) = graded(toys, 1), graded(toys, 2)
    assert (one.status, one.err) == (two.status, two.err) == (1, "")
    assert document == other
    assert [result["state"] for result in document["results"]] == ["failing", "solved"]
    assert document["results"][0]["mistake"] == "inverse"
    assert sorted(junit.split("<")) == sorted(others_junit.split("<"))
    assert [line.split()[:2] for line in two.out.splitlines() if line[:4] in ("PASS", "FAIL")] == [
        ["FAIL", "scale"],
        ["PASS", "affine"],
    ]


@pytest.mark.parametrize("more", [("-k", "three"), ("-k", "wide"), ("-x",), ("--seed", "7")], ids=" ".join)
def test_they_heed_the_same_options(toys: Path, more: tuple[str, ...]) -> None:
    (toys / "katas/toys/affine/affine.py").write_text(MODULE_REFERENCE.replace("x.sum(-1)", "x.sum()"))
    (toys / "katas/toys/scale/scale.py").write_text(REFERENCE.replace("x / (1 / factor)", "x / factor"))
    (one, document, junit), (two, other, others_junit) = graded(toys, 1, *more), graded(toys, 2, *more)
    assert (one.status, one.err) == (two.status, two.err) == (1, "")
    assert document == other
    assert sorted(junit.split("<")) == sorted(others_junit.split("<"))


@pytest.mark.parametrize(("sound", "faulty"), [("import torch", "import no_such"), ("x * factor,", "x.no_such,")])
def test_they_report_the_same_fault_of_a_grader(toys: Path, sound: str, faulty: str) -> None:
    for name, text in (("affine", MODULE_REFERENCE), ("scale", REFERENCE)):
        (toys / f"katas/toys/{name}/{name}.py").write_text(text)
    (toys / "katas/toys/scale/grader.py").write_text(GRADER.replace(sound, faulty))
    (one, document, junit), (two, other, others_junit) = graded(toys, 1), graded(toys, 2)
    assert (one.status, one.err) == (two.status, two.err) == (3, "")
    assert document == other
    assert [result["state"] for result in document["results"]] == ["error", "solved"]
    assert "no_such" in json.dumps(document)
    assert junit.count("Traceback") == others_junit.count("Traceback")
    assert ("Traceback" in junit) == ("x.no_such" in faulty)


def test_judge_that_ends_early_is_a_fault_of_the_grader(toys: Path) -> None:
    (toys / "katas/toys/affine/affine.py").write_text(MODULE_REFERENCE)
    (toys / "katas/toys/scale/scale.py").write_text(REFERENCE)
    (toys / "katas/toys/scale/grader.py").write_text(
        f"{GRADER}\n\ndef test_ends(submission):\n    import os\n    os._exit(0)\n"
    )
    ran = run(toys, "grade", "--workers", "2")
    assert (ran.status, "PASS  affine" in ran.out) == (3, True)
    assert "a judge's process ended before its time" in ran.err


@pytest.mark.parametrize(
    ("workers", "said"), [("1", "the check did not end in 3 s"), ("2", "the judges have found nothing for 3 s")]
)
def test_grader_that_never_ends_is_given_up(toys: Path, workers: str, said: str) -> None:
    (toys / "katas/toys/affine/affine.py").write_text(MODULE_REFERENCE)
    (toys / "katas/toys/scale/scale.py").write_text(REFERENCE)
    (toys / "katas/toys/scale/grader.py").write_text(
        f"{GRADER}\n\ndef test_hangs(submission):\n    import time\n    time.sleep(600)\n"
    )
    impatient = "from graders.grade import parallel; parallel.TIMEOUT_SECONDS = 3; "
    ran = run_within((), impatient, toys, "grade", "--workers", workers)
    assert (ran.status, "PASS  affine" in ran.out) == (3, True)
    assert said in " ".join((ran.out + ran.err).split())


def test_number_of_judges_is_checked(toys: Path) -> None:
    ran = run(toys, "grade", "--workers", "0")
    assert ran.status == 2
    assert "there should be at least 1 worker, got 0" in ran.err
