"""A learner's own file, run as it is: no judge, no cage, a case's real inputs at hand."""

from __future__ import annotations

import contextlib
import functools
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pexpect
import pytest
import torch

from graders.catalogue import katas
from graders.desk import measured_tests
from graders.faults import ROOT
from graders.sandbox.launcher import new_launcher
from graders.worker import script
from katas import inputs
from tests.toys import REFERENCE, make_clone, run

MAIN = REFERENCE + '\n\nif __name__ == "__main__":\n    print("seen", scale(3.0))\n'


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    made = make_clone(tmp_path)
    (made / "katas" / "__init__.py").write_text((ROOT / "katas" / "__init__.py").read_text())
    return made


def answer(clone: Path, text: str) -> None:
    (clone / "katas/toys/scale/scale.py").write_text(text)


def test_own_file_runs_with_its_main_part(clone: Path) -> None:
    answer(clone, MAIN)
    ran = run(clone, "run", "scale")
    assert (ran.status, ran.out) == (0, "seen 6.0\n")
    answer(clone, REFERENCE)
    assert 'call them below `if __name__ == "__main__":`' in run(clone, "run", "scale").out
    answer(clone, "raise SystemExit(7)")
    assert run(clone, "run", "scale").status == 7


def test_another_file_imports_the_answer(clone: Path) -> None:
    answer(clone, REFERENCE)
    own = clone / "own.py"
    own.write_text("from scale import scale\nprint(scale(5.0))\n")
    assert run(clone, "run", "scale", str(own)).out == "10.0\n"
    assert "is not there" in run(clone, "run", "scale", str(clone / "none.py")).err


def test_a_case_is_called_from_a_file_that_stays(clone: Path) -> None:
    answer(clone, REFERENCE)
    ran = run(clone, "run", "scale", "--case", "factors")
    assert ran.status == 0, ran
    assert ran.out.count("tensor([") == 2
    scratch = clone / ".kata/run/scale_factors.py"
    scratch.write_text('from katas import inputs\nprint([given["factor"] for given in inputs("scale", "factors")])\n')
    assert "[0.5, -3.0]" in run(clone, "run", "scale", "--case", "factors").out
    assert "it has: three_by_five, factors, no_factor" in run(clone, "run", "scale", "--case", "nosuch").err


def test_breakpoints_work(clone: Path) -> None:
    answer(clone, MAIN.replace("    # --- solution", "    breakpoint()"))
    code = f"import pathlib; from graders.__main__ import main; main(['run', 'scale'], pathlib.Path({str(clone)!r}))"
    child = pexpect.spawn(sys.executable, ["-c", code], cwd=str(clone), encoding="utf-8", timeout=60)
    child.expect_exact("(Pdb)")
    child.sendline("p x")
    child.expect_exact("3.0")
    child.sendintr()
    child.expect_exact("(Pdb)")
    time.sleep(0.5)  # nobody ends it meanwhile
    child.sendline("c")
    child.expect_exact("seen 6.0")
    child.close()


def test_inputs_are_those_of_the_case() -> None:
    (given, *_) = inputs("layer_norm", "small_variance")
    assert list(given) == ["x", "normalized_shape", "weight", "bias"]
    assert given["x"].shape[-1] == 5


TESTS = """
from scale import scale


def test_values():
    assert scale(3.0) == 6
"""
CHECKS = (
    TESTS
    + """

def test_zero():
    try:
        scale(3.0, 0.0)
    except ValueError:
        return
    assert False, "0 should be refused"
"""
)


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        (CHECKS, 0, "your tests pass on a right answer, and catch 2 of 2 known mistakes\n"),
        (TESTS, 0, "your tests pass on a right answer, and catch 1 of 2 known mistakes\n"),
        ("pass\n", 0, "your tests pass on a right answer, and catch 0 of 2 known mistakes\n"),
        (TESTS.replace("6", "7"), 1, "your tests fail on a right answer\n"),
    ],
    ids=["all", "some", "none", "wrong"],
)
def test_own_tests_are_measured_by_known_mistakes(clone: Path, text: str, status: int, said: str) -> None:
    own = clone / "own_test.py"
    own.write_text(text)
    ran = run(clone, "run", "scale", str(own), "--tests")
    assert (ran.status, ran.out) == (status, said), ran


def test_own_tests_are_measured_without_a_fork(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows and macOS."""
    monkeypatch.setattr(measured_tests, "DRIVER", f"import os\ndel os.fork\n{measured_tests.DRIVER}")
    own = clone / "own_test.py"
    own.write_text(TESTS)
    with contextlib.closing(new_launcher()) as launcher:
        monkeypatch.setenv("GRADERS_START_METHOD", "spawn")
        measured = measured_tests.measure(launcher, katas.find_one("scale", clone), own)
    assert (measured.right, measured.caught, measured.known) == (True, 1, 2)


@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_late_script_says_where_it_was_where_ctrl_c_reaches_it_alone(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(script, "sys", SimpleNamespace(platform=platform, executable=sys.executable))
    request = {"files": {"late.py": "import time\ntime.sleep(60)\n"}, "main": "late.py", "limit": 1.0, "width": 80}
    with (tmp_path / "log").open("w+b") as log:
        popen = functools.partial(subprocess.Popen, stdout=log, stderr=log)
        monkeypatch.setattr(subprocess, "Popen", popen)
        reply = script.run(request, log.fileno())  # type: ignore[arg-type]
    assert reply["status"] is None
    assert ("line 2, in <module>" in reply["text"]) == (platform == "linux")


def test_tests_begin_with_a_file_to_start_from(clone: Path) -> None:
    assert "wrote .kata/run/scale_test.py: put your tests in" in run(clone, "run", "scale", "--tests").out
    assert run(clone, "run", "scale", "--tests").out == "your tests fail on a right answer\n"
    gone = run(clone, "run", "scale", "none.py", "--tests")
    assert (gone.status, gone.err) == (2, "error: none.py is not there; name your file of tests\n")
    (clone / "folder").mkdir()
    folder = run(clone, "run", "scale", str(clone / "folder"))
    assert (folder.status, "is no file; name your file, or a case with --case" in folder.err) == (2, True)
    both = run(clone, "run", "scale", "--tests", "--case", "factors")
    assert "choose one of the two" in both.err


@pytest.fixture
def ring(clone: Path) -> Path:
    """A clone with the kata of ranks, and its reference as the answer."""
    folder = clone / "katas/distributed"
    shutil.copytree(ROOT / "katas/distributed/ring_all_reduce", folder / "ring_all_reduce")
    shutil.copy(ROOT / "katas/distributed/gloo.py", folder)
    shutil.copy(ROOT / "solutions/distributed/ring_all_reduce/ring_all_reduce.py", folder / "ring_all_reduce")
    return clone


def test_a_case_is_run_on_ranks_and_its_messages_are_shown(ring: Path) -> None:
    ran = run(ring, "run", "ring_all_reduce", "--case", "sum_of_two_ranks", "--messages")
    assert ran.status == 0, ran
    assert "step 1: rank 0 → 1, " in ran.out
    assert "{'rank 0': tensor([" in ran.out
    answer = ring / "katas/distributed/ring_all_reduce/ring_all_reduce.py"
    answer.write_text(answer.read_text().replace("comm.send(total", "(total"))
    stuck = run(ring, "run", "ring_all_reduce", "--case", "sum_of_two_ranks")
    assert stuck.status == 1
    assert (
        "--ranks counts the processes that --backend gloo starts"
        in run(ring, "run", "ring_all_reduce", "--ranks", "4").err
    )


def test_ranks_are_processes_over_gloo(ring: Path) -> None:
    if not torch.distributed.is_gloo_available() or "lo" not in [name for _, name in socket.if_nameindex()]:
        pytest.skip("gloo needs a loopback device named lo, and there is none")
    ran = run(ring, "run", "ring_all_reduce", "--backend", "gloo", "--ranks", "4")
    assert (ran.status, ran.out.count("as in the simulation")) == (0, 4), ran
    none = run(ring, "run", "ring_all_reduce", "--backend", "gloo", "--ranks", "7")
    assert "ring_all_reduce has no case with 7 ranks: it has 1, 2, 3, 4, 8" in none.err
    none = run(ring, "run", "ring_all_reduce", "--backend", "gloo", "--ranks", "0")
    assert "ring_all_reduce has no case with 0 ranks: it has 1, 2, 3, 4, 8" in none.err
