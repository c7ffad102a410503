"""GPUs: what needs one skips where there is none, and what must hold without one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from graders.author.forked import Ran
from graders.faults import ROOT
from graders.judge.card import card_of
from graders.judge.left import left_over
from graders.judge.reporter import Reporter
from graders.judge.results import Outcome, Result
from graders.sandbox.messages import Request
from tests.toys import REFERENCE, failures, grade, run, run_within

with_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
without_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
PRETEND = "import torch; torch.cuda.is_available = lambda: True\n"
BLIND = 'import os\nassert os.environ["CUDA_VISIBLE_DEVICES"] == ""\n'


@without_gpu
def test_a_gpu_that_a_worker_cannot_use_is_told(toys: Path) -> None:
    ran = run_within((), PRETEND, toys, "grade", "scale", "--reference", "--device", "cuda", COLUMNS="500")
    assert ran.status == 1
    assert "CUDA does not start in a worker on this machine (" in ran.out
    assert "grade with --device cpu" in ran.out


def test_an_answer_that_is_graded_on_the_cpu_sees_no_gpu(toys: Path) -> None:
    """To count them, torch loads a library by ctypes, which no answer may."""
    found = grade(toys, "scale", {"blind": BLIND + REFERENCE}, "--device", "cpu", CUDA_VISIBLE_DEVICES="0")
    assert failures(found["blind"]) == {}


def test_where_a_result_is_matters_only_beside_tensors() -> None:
    assert not Request("f", ("f",), {"length": 3}, 1).has_tensors
    assert Request("f", ("f",), {"x": torch.zeros(3)}, 1).has_tensors
    assert Request("F", ("F",), None, 0, parameters={"weight": torch.zeros(3)}).has_tensors


def test_what_fails_on_the_gpu_alone_is_said_to() -> None:
    right = [Outcome("shapes/one", "shapes", "pass", 1, core=True)]
    fails = Outcome("shapes/one/cuda", "shapes", "fail", 0, "the call: should return, got RuntimeError: devices differ")
    result = Result("scale", "toys", "scale.py", outcomes=[*right, fails], planned=2)
    assert str(Reporter(0).headline(card_of(result))).endswith("right on the CPU; 1 check to go")
    assert left_over(result) == [("on a GPU", "one: the call: should return, got RuntimeError: devices differ")]


@with_gpu
def test_references_are_solved_on_the_gpu() -> None:
    ran: Ran = run(ROOT, "grade", "--reference", "--device", "cuda")
    assert ran.status == 0, ran.out


@with_gpu
def test_a_constant_on_the_cpu_fails_on_the_gpu_alone(toys: Path) -> None:
    wrong = "import torch\n" + REFERENCE.replace("return ", "return torch.zeros(x.shape, dtype=x.dtype) + ")
    found = grade(toys, "scale", {"wrong": wrong}, "--device", "all")["wrong"]
    assert found["score"] == 100
    assert all(name.endswith("/cuda") for name in failures(found))
    assert found["state"] == "failing"
