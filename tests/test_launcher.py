"""What starts workers outlives whatever they do, and is replaced where it ended all the same."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graders.sandbox.dialogue import WorkerEnded, WorkerProcess
from graders.sandbox.launcher import ForkServer, new_launcher
from graders.worker import wire

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is a server on Linux alone")
LOAD = {"op": "load", "path": "x.py", "source": "f = abs", "names": ["f"], "banned": (), "cuda": False}
ENDED = "was ended together with the process that had started it"


@pytest.fixture(params=["full", "limits"])
def launcher(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ForkServer]:
    if request.param == "limits":
        monkeypatch.setenv("GRADERS_ISOLATION", "limits")
    made = new_launcher()
    assert isinstance(made, ForkServer)
    yield made
    made.close()


def serves(launcher: ForkServer) -> bool:
    worker = WorkerProcess(launcher, "x.py", 10)
    try:
        return "names" in worker.ask(wire.pack(LOAD, []))[0]
    finally:
        worker.stop()


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


MEETING = """import socket
met, door = False, socket.socket(socket.AF_UNIX)
try:
    door.connect("\\0meeting")
    met = True
except OSError:
    door.bind("\\0meeting")
    door.listen()
if met:
    f = abs
"""


def test_two_workers_do_not_meet_by_a_name_without_a_file(launcher: ForkServer) -> None:
    if launcher.isolation != "full":
        pytest.skip("sockets are the user's there")
    workers = [WorkerProcess(launcher, "x.py", 10) for _ in range(2)]
    try:
        replies = [worker.ask(wire.pack({**LOAD, "source": MEETING}, []))[0] for worker in workers]
    finally:
        for worker in workers:
            worker.stop()
    assert [reply["names"] for reply in replies] == [{"f": None}] * 2


def test_a_worker_that_nobody_knows_is_not_stopped(launcher: ForkServer) -> None:
    for unknown in (1 << 20, launcher.servers << 32 | 1 << 20, launcher.servers << 32 | 1, 0):
        assert launcher.stop(unknown)
    assert serves(launcher)
    assert launcher.servers == 1


def test_a_worker_is_stopped_once_and_says_the_same_again(launcher: ForkServer) -> None:
    worker = WorkerProcess(launcher, "x.py", 10)
    worker.meet()
    said = worker.stop()
    assert said
    assert worker.stop() == said
    with pytest.raises(WorkerEnded, match=re.escape(said)):
        worker.ask(wire.pack(LOAD, []))
    assert serves(launcher)


def test_a_server_that_ended_is_replaced_and_nothing_stays_of_it(launcher: ForkServer) -> None:
    lost = WorkerProcess(launcher, "x.py", 10)
    lost.meet()
    for server in children_of(launcher.pid):
        os.kill(server, signal.SIGKILL)
    wait_until(lambda: not children_of(launcher.pid))
    assert serves(launcher)
    assert launcher.servers == 2
    with pytest.raises(WorkerEnded, match=ENDED):
        lost.ask(wire.pack(LOAD, []))
    assert lost.stop() == ENDED
    assert serves(launcher)
    wait_until(lambda: not Path(f"/proc/{lost.process}").exists())
    assert len(children_of(launcher.pid)) == 1


def test_an_answer_that_nobody_waited_for_is_no_answer_to_the_next(
    launcher: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert launcher.isolation

    def interrupted() -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(launcher, "reply", interrupted)
        with pytest.raises(KeyboardInterrupt):
            serves(launcher)
    assert serves(launcher)
