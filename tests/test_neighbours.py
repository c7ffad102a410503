"""No file costs another its result: each is followed by a right answer, all are judged in one run."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from graders.catalogue import katas
from graders.catalogue.source import Source
from graders.faults import GivenUp
from graders.judge.diagnosis import Diagnosis
from graders.judge.results import LONGEST_MESSAGE, exit_status
from graders.judge.run import source_of
from graders.judge.warm import WarmJudge
from graders.sandbox import submission as submissions
from graders.sandbox.dialogue import WorkerEnded
from graders.sandbox.launcher import new_launcher
from graders.sandbox.messages import Measured, Request
from graders.sandbox.submission import LIMIT_SECONDS
from tests.toys import REFERENCE, failures, judged, make_repository, written

HEAD = "import os, stat, time\n\n\ndef scale(x, factor=2.0):\n"
TELL = """
    for descriptor in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode) and not os.get_blocking(descriptor):
                os.write(descriptor, {told})
        except OSError:
            pass
"""
DIGITS = """b"\\n! x\\t" + b"9" * 5000 + b"\\n" """
NOISE = """(socket.socket(fileno=os.dup(descriptor)).setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20),
                b"\\n! \\xff\\xed\\xa0\\x80::error::\\t7\\n! \\t\\n" * 5000)[1]"""
FILES = {
    "tells_5000_digits_and_dies": HEAD + TELL.format(told=DIGITS) + "    os._exit(3)\n",
    "tells_5000_digits_on_import": HEAD + TELL.format(told=DIGITS) + "    return x\n\n\nscale(1)\n",
    "tells_of_lines_by_5000_digits": HEAD
    + TELL.format(told="""f'File "{__file__}", line {"9" * 4000} in f\\n'.encode()""")
    + "    time.sleep(1e6)\n",
    "sleeps_on_import_and_dies": "import time\ntime.sleep(3)\n" + HEAD + "    os._exit(0)\n",
    "returns_8900_keys": HEAD + "    return {f'key {i}\\n::error::' + 'x' * 80: i for i in range(8900)}\n",
    "returns_100_lines_of_commands": HEAD + "    return '::error::x\\n' * 100\n",
    "returns_a_text_of_15_megabytes": HEAD + "    return 'x' * 15_000_000\n",
    "tells_noise_in_a_larger_socket": "import socket\n" + HEAD + TELL.format(told=NOISE) + "    return x\n",
    "dies_of_memory_that_is_gone": HEAD
    + """    import torch
    with open("memory", "wb") as file:
        file.truncate(8192)
    gone = torch.from_file("memory", shared=True, size=1024, dtype=x.dtype)
    os.truncate("memory", 0)
    return gone[:3]
""",
    "passes_descriptors_to_the_judge": "import socket\n"
    + HEAD
    + """    for descriptor in range(3, 256):
        try:
            socket.send_fds(socket.socket(fileno=os.dup(descriptor)), [b"!" * 64], [0] * 50)
        except OSError:
            pass
    return x
""",
    "raises_a_text_that_lies": """
class Text(str):
    def __len__(self): return 3
    def __iter__(self): return iter(())
    def __getitem__(self, part): return Text("x" * 10_000_000)


class Wrong(ValueError):
    def __str__(self): return Text("\\n::error::y" * 500_000)


def scale(x, factor=2.0):
    raise Wrong
""",
    "has_names_of_kilobytes": "exec('def scale(' + ', '.join('p' * 30_000 + str(i) for i in range(100)) + '): pass')\n",
    "returns_numbers_at_the_limit": HEAD
    + "    return [2**63 - 1, 1 - 2**63, -(2**63), 10**400, 1e308, float('nan')]\n",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = make_repository(tmp_path_factory.mktemp("neighbours"))
    texts = dict(one for name in FILES for one in ((name, FILES[name]), (f"{name}+", REFERENCE)))
    found = dict(zip(texts, judged(root, "scale", written(root, texts), limit=4.0), strict=True))
    assert len(json.dumps(found)) < 300_000
    return found


@pytest.mark.parametrize("name", FILES)
def test_the_right_answer_behind_it_is_solved(name: str, results: dict[str, Any]) -> None:
    assert failures(results[f"{name}+"]) == {}
    assert results[name]["state"] in ("failing", "error")
    assert len(results[name]["tests"]) == len(results[f"{name}+"]["tests"])
    assert all(len(message or "") <= LONGEST_MESSAGE for message in failures(results[name]).values())


def test_three_deaths_in_a_row_are_the_last(results: dict[str, Any]) -> None:
    said = list(failures(results["sleeps_on_import_and_dies"]).values())
    assert said.count("the call: ended its process with exit status 0") >= 1
    assert "not tested, since 3 calls in a row ended without a result" in said
    assert results["sleeps_on_import_and_dies"]["seconds"] < 60


def test_imports_count_as_calls_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that dies in every other call is imported as often."""
    now, imports = [0.0], []

    class Sleeper:
        asked, offences = (0.0, 0.0), dict[str, int]()

        def __init__(self, *_: object) -> None:
            self.read: list[object] = []

        def seconds(self) -> float:
            return 0.0

        def ask(self, message: bytes, of: object) -> Any:
            if of not in self.read:
                self.read.append(of)
                imports.append(now[0])
                now[0] += LIMIT_SECONDS - 1
                return {"names": {"f": None}, "printed": {"text": "", "lines": 0}}, []
            raise WorkerEnded("ended")

        def stop(self) -> str:
            return ""

    monkeypatch.setattr(submissions, "WorkerProcess", Sleeper)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    launcher: Any = SimpleNamespace(cuda=False)  # nothing is started
    sleeper = submissions.Submission(Source("", "x.py"), ["f"], launcher)
    with contextlib.suppress(GivenUp):
        while True:
            sleeper.load()
            sleeper.home.worker = None
    assert now[0] < submissions.SHARED * submissions.WHOLE_SECONDS + LIMIT_SECONDS
    assert len(imports) > 10


def test_a_call_whose_operators_are_counted_may_take_twice_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = list[float]()

    class Recorder:
        asked, offences, limit = (0.0, 0.0), dict[str, int](), 0.0

        def __init__(self, *_: object) -> None:
            self.read = list[object]()

        def ask(self, message: bytes, of: object) -> Any:
            if of in self.read:
                limits.append(self.limit)
                raise WorkerEnded("ended")
            self.read.append(of)
            return {"printed": {"text": "", "lines": 0}}, []

    monkeypatch.setattr(submissions, "WorkerProcess", Recorder)
    monkeypatch.setattr(submissions, "names_of", lambda *_: {"f": SimpleNamespace()})
    launcher: Any = SimpleNamespace(cuda=False)  # nothing is started
    one = submissions.Submission(Source("", "x.py"), ["f"], launcher)
    kinds: tuple[Measured, ...] = ("", "cost")
    for measured in kinds:
        one.ask(Request("f", ("f",), {"n": 1}, 0, measured=measured))
    assert limits == [LIMIT_SECONDS, 2 * LIMIT_SECONDS]


@pytest.mark.parametrize("line", ["time.sleep(60)", "while True: pass"])
def test_no_call_takes_more_than_its_file_has_left(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "WHOLE_SECONDS", 1.0)
    launcher = new_launcher()
    one = submissions.Submission(Source(f"import time\n\ndef f(n):\n    {line}\n", "x.py"), ["f"], launcher)
    start = time.monotonic()
    try:
        died = one.ask(Request("f", ("f",), {"n": 1}, 1)).died
    finally:
        one.close()
        launcher.close()
    assert died == f"did not return before its calls had taken 1 s in all (line 4: `{line}`)"
    assert time.monotonic() - start < LIMIT_SECONDS


def test_a_fault_of_ours_ends_at_the_file_that_met_it(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OverflowError("too large")

    (toys / "wrong.py").write_text(REFERENCE.replace("x / (1 / factor)", "x / factor"))
    (toys / "right.py").write_text(REFERENCE)
    launcher = new_launcher()
    judge = WarmJudge(launcher)
    try:
        assert launcher.isolation
        monkeypatch.setattr(Diagnosis, "mistakes_in", fail)
        kata = katas.find(["scale"], toys)[0]
        wrong, right = (judge.grade(kata, source_of(kata, toys / f"{name}.py")) for name in ("wrong", "right"))
    finally:
        judge.close()
        launcher.close()
    assert (wrong.complete, wrong.state, right.state) == (True, "error", "solved")
    assert wrong.first_failure
    assert wrong.first_failure.message == "the judge itself failed: OverflowError: too large"
    assert exit_status([wrong, right]) == 3
    json.dumps(wrong.document())
