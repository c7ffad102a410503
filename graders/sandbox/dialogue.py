"""One worker as the judge speaks to it: messages with a time limit, offences, how it ended, its clock."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import socket
import struct
import tempfile
import time
from typing import Any

from torch import Tensor

from graders.sandbox.cage import PROCESSOR_SECONDS
from graders.sandbox.launcher import Launcher
from graders.worker import serve as worker
from graders.worker import wire
from graders.worker.protocol import TurnRequest
from graders.worker.visible import visible

GRACE = 0.5  # seconds of a message beside the call in it
AT_WORK = 0.02  # of the clock's time: where the processor worked for less, the worker sleeps
PATIENCE = 6  # times its limit that a message may take by the clock
TOLD_BYTES = 1 << 18  # more than a socket holds, as a rule
WAITING = re.compile(rb'ranks\.py", line \d+ in wait\b')  # in the stack of a rank that waits for others
STACK_SECONDS = 5.0  # on a busy machine the worker may take a while to say where it is
GROWTH = 64  # times the bytes that were sent may come back, and
SPARE_BYTES = 16 << 20  # more: what is large may be made from little
LONGEST_NAME = 100  # characters of an offence
MOST_OFFENCES = 100  # of one call; a submission could tell of itself what it likes
OFFENCE = re.compile(rb"^! (.{1,400})\t(\d{0,6})$", re.MULTILINE)  # as removal.py tells it
START_SECONDS = 120  # a spawned worker imports torch first
CREDENTIALS = struct.Struct("3i") if hasattr(socket, "SO_PASSCRED") else None  # pid, uid, gid of a message's sender


class WorkerEnded(Exception):
    """The worker is gone; the message says how it ended, in words."""


class CallTimedOut(Exception):
    """The worker took too long; `line` is the line of the submission that it was on, if known."""

    def __init__(self, line: int | None) -> None:
        super().__init__(line)
        self.line = line


class Home:
    """Where a submission lives, or several known answers, or the references: a worker, while there is one."""

    worker: WorkerProcess | None = None

    def renew(self) -> None:
        """Ends a worker that has little left of the processor's time; the next message starts another."""
        try:
            if self.worker and self.worker.clock is not None and self.worker.seconds() > PROCESSOR_SECONDS / 2:
                self.close()
        except WorkerEnded:
            self.worker = None

    def close(self) -> None:
        if self.worker is not None:
            self.worker.stop()
            self.worker = None


class WorkerProcess:
    """One worker process with a scratch folder of its own."""

    def __init__(self, launcher: Launcher, path: str, limit: float) -> None:
        """`path` names the submission, or all of them, `limit` is the seconds that each message may take."""
        self.launcher = launcher
        self.path = path
        self.limit = limit
        self.most = PATIENCE * limit  # seconds of the clock that the message under way may take at all
        self.scratch = tempfile.TemporaryDirectory(prefix="kata-", ignore_cleanup_errors=True)
        self.key = secrets.token_bytes(wire.KEY)
        self.number = 0  # of messages that it sent
        self.read: list[object] = []  # the submissions that it has read
        self.turn: object = None  # that it was asked about last
        self.offences: dict[str, int | None] = {}  # during the last message, with their lines
        self.connection, theirs = socket.socketpair()
        if CREDENTIALS:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.how = ""  # it ended
        self.met = False
        self.clock: int | None = None  # of the processor's time that it takes
        self.asked = 0.0, 0.0  # when, by the clock and by the processor's time
        self.back = 0.0  # when this process should be here again to see whether there is a reply
        self.process: int | None = None  # as it is called here, where the launcher may know it by another number
        self.told, telling = socket.socketpair()
        for end in (self.told, telling):
            end.setblocking(False)  # who fills it tells no more, and holds up nobody
        try:
            with theirs, telling:
                self.pid = launcher.start(theirs, telling, self.scratch.name)
        except BaseException:
            self.give_back()
            raise

    def seconds(self) -> float:
        """The processor's time that it took so far, a clock's where the system does not tell. Raises: WorkerEnded."""
        try:
            return time.monotonic() if self.clock is None else time.clock_gettime(self.clock)
        except OSError:
            raise WorkerEnded(self.stop()) from None

    def meet(self) -> None:
        """Waits for its first sign of life, sent before it has seen any of the submission, and finds its clock."""
        self.met = True
        self.connection.settimeout(START_SECONDS)
        self.connection.sendall(self.key)
        if not CREDENTIALS:
            self.connection.recv(len(worker.READY))
            self.process = self.pid
            return
        _, sent, _, _ = self.connection.recvmsg(len(worker.READY), socket.CMSG_SPACE(CREDENTIALS.size))
        for _, _, content in sent:
            self.process = CREDENTIALS.unpack(content)[0]
            clock = ~self.process << 3 | 2  # as Linux numbers the clocks of processes
            with contextlib.suppress(OSError):
                time.clock_gettime(clock)
                self.clock = clock

    def ask(self, message: bytes, of: object = None) -> tuple[Any, list[Tensor]]:
        """`of` is the submission that is asked, and the first message of each has it read.

        Raises: CallTimedOut, WorkerEnded; the worker is stopped then, and cannot be asked again.
        """
        self.offences = {}
        try:
            if not self.met:
                self.meet()
            self.asked = time.monotonic(), self.seconds()
            self.back = self.asked[0]
            self.turn_to(of)
            wire.send(self.connection, message, self.remaining)
            self.number += 1
            sender = wire.Sender(self.key, self.number, GROWTH * len(message) + SPARE_BYTES)
            header, tensors = wire.receive(self.connection, self.remaining, sender)
            if not isinstance(header, dict):
                raise wire.Malformed("no reply")
            self.note_offences(self.telling())
            return header, tensors
        except TimeoutError:
            line = self.line_it_was_on()
            self.stop()
            raise CallTimedOut(line) from None
        except wire.Malformed as error:
            self.stop()
            raise WorkerEnded(f"sent what the judge cannot read: {error}") from None
        except (wire.Closed, OSError):  # the second on its first message: before that it may have ended, too
            raise WorkerEnded(self.stop()) from None

    def remaining(self) -> float:
        """Seconds of the clock that the message under way may still take, once they are over of the processor.

        So nobody fails for the others who use a busy machine, and who sleeps is not waited for. Where this process was
        stopped meanwhile, as by Ctrl-Z, the time begins anew: a reply may have been there all along.

        Raises: TimeoutError, WorkerEnded.
        """
        now = time.monotonic()
        if now > self.back + GRACE:
            self.asked = now, self.seconds()
        passed = now - self.asked[0]
        left = min(self.limit + GRACE, self.most) - passed
        if left <= 0:
            used = self.seconds() - self.asked[1]
            if used > AT_WORK * passed:
                left = min(self.limit + GRACE - used, min(PATIENCE * self.limit, self.most) - passed)
        if left <= 0:
            raise TimeoutError
        self.back = now + left
        return left

    def turn_to(self, submission: object) -> None:
        if submission not in self.read:
            self.read.append(submission)
        elif submission is not self.turn:
            header: TurnRequest = {"op": "turn", "to": self.read.index(submission)}
            wire.send(self.connection, wire.pack(header, []), self.remaining)
        self.turn = submission

    def note_offences(self, told: bytes) -> None:
        """What the submission called although it may not: it can be neither unsaid nor forgotten."""
        for name, line in OFFENCE.findall(told):
            if len(self.offences) >= MOST_OFFENCES:
                return
            words = visible(name.decode(errors="replace"), LONGEST_NAME)
            self.offences[words] = int(line) if line else self.offences.get(words)

    def telling(self) -> bytes:
        """What it told beside its replies, since this was last asked."""
        try:
            return self.told.recv(TOLD_BYTES)
        except OSError:  # nothing, or its other end was closed
            return b""

    def line_it_was_on(self) -> int | None:
        frame = re.compile(rf'File "{re.escape(self.path)}", line (\d{{1,6}}) in'.encode())
        if worker.STACK_SIGNAL and self.process:
            with contextlib.suppress(OSError):
                os.kill(self.process, worker.STACK_SIGNAL)
                seen = b""
                deadline = time.monotonic() + STACK_SECONDS
                while time.monotonic() < deadline:
                    seen = (seen + self.telling())[-TOLD_BYTES:]
                    self.note_offences(seen)
                    for thread in seen.split(b"\nThread "):
                        if not WAITING.search(thread) and (found := frame.search(thread)):
                            return int(found[1])
                    os.kill(self.process, 0)  # it may be ended meanwhile, by whoever waits no longer
                    time.sleep(0.01)
        return None

    def stop(self) -> str:
        """Ends it, and says how it ended; once more, the same. It raises nothing, whatever the submission has left."""
        if not self.how:
            self.connection.close()
            self.how = self.launcher.stop(self.pid)
            self.note_offences(self.telling())
            self.give_back()
        return self.how

    def give_back(self) -> None:
        self.connection.close()
        self.told.close()
        with contextlib.suppress(OSError, RecursionError):  # folders in folders, as many as there is room for
            self.scratch.cleanup()
