"""What a submission runs in, what is taken out of it, and what is counted."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from graders.catalogue import katas
from graders.catalogue.source import Source
from graders.faults import ROOT, CheckFailed
from graders.judge import process
from graders.judge.process import Job
from graders.judge.run import Options, Run, source_of
from graders.judge.warm import WarmJudge
from graders.sandbox import dialogue
from graders.sandbox.launcher import new_launcher
from graders.sandbox.messages import Request
from graders.sandbox.submission import Submission
from graders.worker import meter
from graders.worker.fortress import outside


def test_steps_run_in_order_until_one_raises() -> None:
    assert outside.run(functools.partial(max, 1, 2), functools.partial(min, 1, 2)) == ([2, 1], None)
    results, error = outside.run(functools.partial(abs, -3), functools.partial(int, "x"), functools.partial(abs, -4))
    assert results == [3]
    assert isinstance(error, ValueError)
    assert outside.run(sys.exit)[1].__class__ is SystemExit


def entered(context: Any) -> Any:
    context.__enter__()
    return context


LEFT_BEHIND: dict[str, Any] = {
    "gradients off": lambda: torch.set_grad_enabled(False),
    "inference": lambda: entered(torch.inference_mode()),
    "autocast": lambda: entered(torch.autocast("cpu")),
    "a mode of functions": lambda: entered(TorchFunctionMode()),
    "a mode of operators": lambda: entered(TorchDispatchMode()),  # type: ignore[no-untyped-call]
    "no functions of torch's": lambda: entered(torch._C.DisableTorchFunction()),
    "hooks of what is saved": lambda: entered(torch.autograd.graph.save_on_cpu()),
    "a trace": lambda: sys.settrace(lambda *_: None),
}
RAISED: dict[str, Any] = {"an exception": lambda: 1 / 0, "an exit": sys.exit}


@pytest.mark.parametrize("left", LEFT_BEHIND)
def test_a_thread_stays_unless_it_is_left_in_another_state(left: str) -> None:
    def now() -> tuple[int, list[Any]]:
        return threading.get_ident(), [state() for state in outside.STATE]

    first, second = (outside.run(now)[0][0] for _ in range(2))
    assert first == second
    assert first[1] == [*outside.STATE.values()]
    outside.run(LEFT_BEHIND[left])
    assert outside.THREAD == []
    assert outside.run(now)[0][0][1] == [*outside.STATE.values()]


@pytest.mark.parametrize("raised", RAISED)
def test_what_is_caught_ends_no_thread_and_no_step_after_it(raised: str) -> None:
    first = outside.run(threading.get_ident)[0]
    results, error = outside.run(functools.partial(abs, -3), outside.catching(RAISED[raised]), int)
    assert [results[0], results[2]] == [3, 0]
    assert isinstance(error, ZeroDivisionError | SystemExit)
    assert outside.run(threading.get_ident)[0] == first


def test_lines_of_ours_are_no_loop() -> None:
    ours = meter.in_short.__code__
    assert meter.longest_loop({(ours, ours.co_firstlineno + 1): 100}, "answer.py") == {"lines": 0, "line": 0}
    other = ours.replace(co_filename="/elsewhere/meter.py")
    assert meter.longest_loop({(other, ours.co_firstlineno + 1): 100}, "answer.py") == {"lines": 100, "line": 0}


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="root's workers become other users")
def test_workers_of_other_servers_are_other_users() -> None:
    """Threads are limited for each user: those of one run would end the workers of another."""
    launchers = [new_launcher() for _ in range(4)]  # two of which may draw the same once in 4,335 times
    workers = [dialogue.WorkerProcess(launcher, "x.py", 10) for launcher in launchers]
    try:
        for worker in workers:
            worker.meet()
        users = {os.stat(f"/proc/{worker.process}").st_uid for worker in workers}
    finally:
        for worker, launcher in zip(workers, launchers, strict=True):
            worker.stop()
            launcher.close()
    assert len(users) > 1


def operators(function: Any, *tensors: torch.Tensor) -> int:
    counter = meter.counter()
    counter.begin()
    function(*tensors)
    counter.end()
    return counter.figures()["operators"]


def test_what_one_operator_calls_is_not_counted() -> None:
    queries = torch.randn(16, 4, 8, 5)
    assert operators(lambda x: torch.einsum("ibhd,jbhd->ijbh", x, x), queries) == 1
    assert operators(lambda x: [head @ head.mT for head in x.unbind(2)], queries) == 1 + 2 * 8


def test_memory_of_pythons_table_of_names_is_not_the_calls() -> None:
    """One right answer in a hundred thousand calls pays for all names that were used before it."""

    def peak(work: Callable[[], object]) -> int:
        counter = meter.counter()
        counter.begin()
        kept = work()
        counter.end()
        del kept
        return counter.figures()["peak"]

    names = map(str, itertools.count(10**6))
    assert max(peak(lambda: deque(map(sys.intern, itertools.islice(names, 50_000)), 0)) for _ in range(4)) < 1 << 20
    assert peak(lambda: [*range(400_000)]) > 8 * 400_000


@pytest.mark.skipif(sys.platform != "linux", reason="the memory in use is read from /proc")
def test_counting_many_operators_takes_no_more_memory_than_counting_few() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    counter, x, before = meter.counter(), torch.randn(8), resident()
    counter.begin()
    sys.settrace(counter.trace)
    negated_often(x)
    sys.settrace(None)
    counter.end()
    figures = counter.figures()
    assert meter.MOST <= figures["operators"] <= meter.MOST + meter.OFTEN
    assert figures["peak"] == 2 * x.nbytes
    assert figures["written"] == 100_000 * x.nbytes
    assert resident() - before < 64 << 20  # 200 MB without


def test_a_counted_call_leaves_nothing_that_slows_the_next_one() -> None:
    counter, x = meter.counter(), torch.randn(8)
    counter.begin()
    sys.settrace(counter.trace)
    for _ in range(meter.OFTEN):
        negated_often(x, 2)
    sys.settrace(None)
    counter.end()
    vars(meter)["_enable_profiler_legacy"](meter.CONFIG)
    negated_often(x, 3)
    pushed = [event.name() for thread in meter.take() for event in thread if event.kind() == "push"]
    assert pushed == ["aten::neg"] * 3


def negated_often(x: torch.Tensor, times: int = 100_000) -> None:
    for _ in range(times):
        x = -x


@pytest.mark.parametrize("named", [contextlib.__file__, "<frozen importlib._bootstrap>", "/nowhere/at/all.py"])
def test_code_that_only_bears_the_name_of_a_library_is_not_installed(named: str) -> None:
    assert not meter.is_installed(compile("for i in range(9):\n    pass\n", named, "exec"))


def test_code_of_a_library_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    nested = contextlib.suppress.__exit__.__code__
    assert isinstance(nested, CodeType)
    assert meter.is_installed(nested)
    assert meter.is_installed(torch.nn.Linear.forward.__code__)
    monkeypatch.setattr(meter, "COMPILED", {})
    monkeypatch.setattr(meter, "cache_from_source", lambda file: file)  # as if that were of another text
    assert meter.is_installed(torch.nn.Linear.forward.__code__)
    assert not meter.is_installed(test_code_of_a_library_is_installed.__code__.replace(co_filename=torch.__file__))


OPERATORS = """
import os, torch
from graders.worker.fortress import removal, stock
removal.LEARNER.append(("nowhere.py", lambda told: os.write(1, told)))
removal.take_away(stock.take_stock(), ("log_softmax", "foreach"))
x = torch.ones(2, 3, requires_grad=True)
torch.softmax(x, -1).sum().backward()
for call in (lambda: x.log_softmax(-1), lambda: torch.nn.LogSoftmax(-1)(x),
             lambda: torch.ops.aten._log_softmax(x, 1, False), lambda: torch._refs.log_softmax(x, 1),
             lambda: torch.vmap(lambda row: row.log_softmax(0))(x),
             lambda: torch._foreach_add_([x.detach()], 1)):
    try:
        call()
    except RuntimeError as error:
        print("refused:", str(error).splitlines()[-1])
"""


def test_what_is_banned_is_gone_and_the_rest_is_there() -> None:
    command = [sys.executable, "-W", "ignore", "-c", OPERATORS]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    refused = [line for line in ran.stdout.splitlines() if line.startswith("refused: ")]
    assert len(refused) == 6
    assert all(line.endswith("may not be called in this kata") for line in refused)
    assert "! log_softmax\t" in ran.stdout
    assert "! _foreach_add_\t" in ran.stdout


STOCK = """
import gc
from types import FunctionType
from graders.worker.fortress.stock import take_stock, words_of
functions = [found for _, named in take_stock().functions for found in named]
gc.unfreeze()
every = [one for one in gc.get_objects() if type(one) is FunctionType and (one.__module__ or "").startswith("torch.")]
print(len(functions), {*map(id, functions)} == {id(one) for one in every if [*words_of(one.__module__, [one])]})
"""


def test_stock_has_every_function_that_may_be_banned() -> None:
    ran = subprocess.run([sys.executable, "-c", STOCK], capture_output=True, text=True, cwd=ROOT, check=True)
    count, same = ran.stdout.split()
    assert int(count) > 10_000
    assert same == "True"


UNNEEDED = """
import os, numpy as np, torch
from graders.worker.fortress import removal, stock, unneeded
unneeded.take_away_unneeded(stock.take_stock())
removal.LEARNER.append(("nowhere.py", lambda told: os.write(1, told)))
x = torch.ones(2, 2)
traced = torch.jit.trace(lambda t: t + 1, x)
assert (traced(x) == 2).all()
for call in (lambda: torch.ops.mkldnn._linear_pointwise(x, x, None, "sigmoid", [], ""), lambda: torch.ops.prims.tanh(x),
             lambda: x.to_mkldnn(), lambda: x.numpy(), lambda: np.asarray(x), lambda: torch.profiler.profile().start(),
             lambda: torch.from_dlpack(x), lambda: torch.utils.dlpack.to_dlpack(x)):
    try:
        print(call())
    except RuntimeError as error:
        print("refused:", str(error).splitlines()[-1])
"""


def test_what_no_kata_needs_is_gone_and_told_of() -> None:
    command = [sys.executable, "-W", "ignore", "-c", UNNEEDED]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert ran.stdout.count("refused: ") == ran.stdout.count("! ") == 8


LATE = """
import os, sys, torch
from graders.worker.fortress import removal, stock
removal.LEARNER.append(("nowhere.py", lambda told: os.write(1, told)))
removal.take_away(stock.take_stock(), ("softmax",))
torch.nn.__path__.append(sys.argv[1])
from torch.nn import late_one
print(late_one.hardmax(3), late_one.Other.softmax(3))
for call in (late_one.softmax, late_one.softmax.__wrapped__, late_one.Module().softmax, late_one.Module._softmax_2):
    try:
        print(call(3))
    except RuntimeError as error:
        print("refused:", error)
"""
LATE_ONE = """
import functools
from collections import Counter
def wrapped(function):
    return functools.wraps(function)(lambda x: function(x))
@wrapped
def softmax(x): return x
def hardmax(x): return x
class Module:
    def softmax(self, x): return x
    @staticmethod
    def _softmax_2(x): return x
Module.itself = Module
class Other:
    softmax = hardmax
    __module__ = "elsewhere"
"""


def test_what_is_banned_refuses_in_modules_of_torch_imported_later(tmp_path: Path) -> None:
    (tmp_path / "late_one.py").write_text(LATE_ONE)
    command = [sys.executable, "-W", "ignore", "-c", LATE, str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    lines = [line for line in ran.stdout.splitlines() if line and line[0] != "!"]
    names = ["softmax", "softmax", "softmax", "_softmax_2"]
    assert lines == ["3 3", *[f"refused: {name} may not be called in this kata" for name in names]]


KNOWN = {
    "one": "def scale(x):\n    return x * 1\n",
    "two": "factor = 2\n\n\ndef scale(x):\n    return x * factor\n",
    "not_read": "raise KeyError\n",
    "ends": "import os\n\n\ndef scale(x):\n    os._exit(3)\n",
    "late_library": "def scale(x):\n    import cupy\n\n    return cupy.asarray(x)\n",
}


def test_known_answers_that_share_a_worker_answer_as_if_alone() -> None:
    def told(home: dialogue.Home | None) -> list[Any]:
        known = {name: Submission(Source(text, "x.py"), ["scale"], launcher, (), home) for name, text in KNOWN.items()}
        said: list[Any] = []
        for value in (1.0, 3.0):
            request = Request("scale", ("scale",), {"x": torch.tensor(value)}, 1)
            for name, one in known.items():
                try:
                    reply = one.ask(request)
                    said.append((name, reply.result, reply.raised, reply.banned_calls, reply.died))
                except CheckFailed as failed:
                    said.append((name, str(failed)))
        for one in known.values():
            one.close()
        return said

    launcher = new_launcher()
    try:
        together, alone = told(dialogue.Home()), told(None)
    finally:
        launcher.close()
    assert together == alone
    assert [one[1] for one in alone if one[0] == "two"] == [torch.tensor(2.0), torch.tensor(6.0)]
    assert [bool(one[3]) for one in alone if "library" in one[0]] == [True] * 2


KEEPS = """
import torch


class Layer(torch.nn.Module):
    def __init__(self, size, more):
        super().__init__()
        self.kinds = f"{type(size).__name__} and {type(more).__name__}"

    def forward(self):
        return self.kinds
"""


def test_a_constructor_gets_tuples_as_tuples_and_lists_as_lists() -> None:
    launcher = new_launcher()
    layer = Submission(Source(KEEPS, "x.py"), ["Layer"], launcher, (), None)
    try:
        reply = layer.ask(Request("Layer", ("Layer",), {}, 0, constructor_arguments={"size": (6, 9), "more": [1, 2]}))
    finally:
        layer.close()
        launcher.close()
    assert (reply.result, reply.raised) == ("tuple and list", None)


class Counting:
    """A launcher that counts the workers that it starts."""

    processor = None
    cuda = False
    ready = True

    def __init__(self) -> None:
        self.launcher = new_launcher()
        self.isolation = self.launcher.isolation
        self.stop, self.close = self.launcher.stop, self.launcher.close
        self.started = 0

    def start(self, connection: socket.socket, telling: socket.socket, scratch: str) -> int:
        self.started += 1
        return self.launcher.start(connection, telling, scratch)


def test_references_share_a_worker_until_its_time_is_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = Counting()
    run = Run(Options(reference=True), launcher)
    started = []
    try:
        for name in ("perplexity", "f1_score", "info_nce_gradient"):
            kata = katas.find_one(name, ROOT)
            for submission, check in run.prepare(kata, source_of(kata, kata.reference_file)):
                submission.run_check(check)
            run.release(kata.id)
            started.append(launcher.started)
            if name == "f1_score":
                monkeypatch.setattr(dialogue, "PROCESSOR_SECONDS", 0)
    finally:
        run.close()
    assert [result.state for result in run.results] == ["solved"] * 3
    assert started == [2, 3, 5]  # one for each submission, and one for the references


def test_references_of_the_katas_that_a_process_judges_share_a_worker() -> None:
    launcher, told = Counting(), list[Any]()
    jobs = [Job(name, Options(reference=True), whole=True) for name in ("perplexity", "f1_score")]
    try:
        process.serve(jobs, told.append, ROOT, launcher)
    finally:
        launcher.close()
    assert [found.result.state for found in told] == ["solved"] * 2
    assert launcher.started == 3


def test_known_mistakes_share_a_worker_that_stays_for_the_next_answer(tmp_path: Path) -> None:
    launcher = Counting()
    judge = WarmJudge(launcher)
    kata = katas.find_one("perplexity", ROOT)
    reference = kata.reference_file.read_text(encoding="utf-8")
    answer = tmp_path / "perplexity.py"
    started, named = [], []
    try:
        for mistake in [one for one in kata.mistakes if not one.slow][:3]:
            answer.write_text(mistake.forms(reference)[mistake.name] + "\n# a learner's\n", encoding="utf-8")
            named.append((judge.grade(kata, source_of(kata, answer)).mistake, mistake.name))
            started.append(launcher.started)
    finally:
        judge.close()
        launcher.close()
    assert all(got == name for got, name in named), named
    assert [later - before for before, later in itertools.pairwise(started)] == [1, 1]  # of the answer itself


LARGE_PAGES = """
import re
from pathlib import Path
from graders.sandbox.machine import use_large_pages

kept = [str(number) for number in range(1_000_000)]
use_large_pages()
large = re.search(r"AnonHugePages: +(\\d+)", Path("/proc/self/smaps_rollup").read_text())
print(sum(map(int, kept)), large[1])
"""


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="only Linux tells how large its pages are")
def test_what_was_moved_to_large_pages_is_what_it_was() -> None:
    ran = subprocess.run([sys.executable, "-c", LARGE_PAGES], cwd=ROOT, capture_output=True, text=True, check=True)
    total, kilobytes = ran.stdout.split()
    assert int(total) == 499_999_500_000
    if kilobytes == "0":
        pytest.skip("this system has no large pages, or cannot move memory to them")


TRAINS = """
import sys, torch

weight = torch.ones(2, requires_grad=True)
(3 * weight).backward(torch.ones(2))
torch.optim.SGD([weight], lr=0.25).step()
QUICK = "sympy" not in sys.modules and weight.tolist() == [0.25, 0.25]
import torch._dynamo
THERE = torch._dynamo.config.suppress_errors is False and torch._dynamo is sys.modules["torch._dynamo"]
torch.compile(lambda x: x + 1, backend="eager")
def f(quick=QUICK, there=THERE):
    return quick
"""
TRAINED = f"""
from graders.catalogue.source import Source
from graders.sandbox.launcher import new_launcher
from graders.sandbox.submission import Submission

launcher = new_launcher()
submission = Submission(Source({TRAINS!r}, "answer.py"), ["f"], launcher)
for parameter in submission.load()["f"]["parameters"]:
    print(parameter["default"])
submission.close()
launcher.close()
"""


def test_an_optimizer_and_a_backward_with_gradients_import_nothing_and_who_wants_more_of_it_gets_it() -> None:
    ran = subprocess.run([sys.executable, "-c", TRAINED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", "True"], ran.stderr
