"""A submission as the judge sees it: a source text, and a worker that answers requests with plain data."""

from __future__ import annotations

import difflib
import functools
import re
import time
from typing import Any

from graders.catalogue.source import Source, defined_in, lines_of
from graders.faults import CheckFailed, GivenUp
from graders.sandbox.cage import FILE_SIZE, MEMORY
from graders.sandbox.dialogue import CallTimedOut, Home, WorkerEnded, WorkerProcess
from graders.sandbox.launcher import Launcher
from graders.sandbox.messages import NO_ANSWER, Raised, Reply, Request, names_of, printed_of, raised_of, reply_of
from graders.worker import wire
from graders.worker.protocol import LoadRequest
from graders.worker.visible import visible

LIMIT_SECONDS = 10.0  # for one call; checks take milliseconds, so this is only ever met by a hang
COUNTING = 2  # times as long a call may take whose operators and lines are counted
WHOLE_SECONDS = 120.0  # of the processor, for all imports and calls together; the slowest reference takes 2
CUDA_SECONDS = 60.0  # that a GPU's first use may take a worker beside the import
SHARED = 2  # clock seconds count as one where the processor worked for less: others may use it, and some sleep
MOST_HANGS = MOST_DEATHS = 3  # in a row, after which the rest is not asked
MOST_LINES = 10_000  # printed in one call: one that trains, or is made of thousands, has an honest line for each
MOST_BYTES = 1 << 29  # of tensors in all replies, which are kept until the diagnosis
DEBUGGER = re.compile(r"\b((breakpoint|set_trace|post_mortem)\(|pdb\.)")
NO_TERMINAL = (
    "and there is none while an answer is graded: take out the line that waits, or run the file by `nox -s run`"
)
RELATIVE = "attempted relative import"
ONE_FILE = "; an answer is one file, and imports only what is installed"
FULL = re.compile(r"\[Errno (27|28)\] ")  # the file is too large, or the scratch folder is full
NOT_TESTED = "not tested, since "  # as it is told of what was not asked
NEAR = 0.5  # cos_sim is 0.58 of cosine_similarity


class Submission:
    """One file under judgement. `ask` starts a worker when it needs one, and remembers every answer."""

    def __init__(
        self,
        source: Source,
        names: list[str],
        launcher: Launcher,
        banned: tuple[str, ...] = (),
        home: Home | None = None,
    ) -> None:
        """`home` is one of known answers, or of references: all that live in it could change each other."""
        self.source = source
        self.names = names
        self.banned = banned
        self.launcher = launcher
        self.home = home or Home()
        self.limit = LIMIT_SECONDS  # for one message
        self.found: dict[str, dict[str, Any] | None] | None = None
        self.replies: dict[bytes, tuple[Request, Reply]] = {}  # by the request's message
        self.imported: dict[str, int | None] = {}  # what it called while it was imported although it may not
        self.hangs = self.deaths = 0  # in a row, of calls that should return
        self.unrefused = 0  # calls in a row that should be refused, and hang, end their process or fill its memory
        self.most_hangs = MOST_HANGS
        self.seconds = 0.0
        self.bytes = 0
        self.unloadable = f"{source.shown} {source.unreadable}" if source.unreadable else ""
        self.calling: tuple[Request | None, float] | None = None  # what is waited for, or the import, and since when
        # Looks at the whole source, for seconds where it is long: once.
        self.lacks = functools.cache(self._lacks)
        self.mention = functools.cache(self._mention)

    def load(self) -> dict[str, dict[str, Any] | None]:
        """Imports it in a fresh worker, if none is up, and returns what was found under each name.

        Raises: CheckFailed of kind "error" where it cannot be imported; as `refuse_more`.
        """
        if self.unloadable:
            raise CheckFailed(self.unloadable, "error")
        worker = self.home.worker
        if worker is None or self not in worker.read:
            self.refuse_more()
            limit = self.limit = LIMIT_SECONDS / 2**self.hangs
            worker = self.home.worker = worker or WorkerProcess(self.launcher, self.source.shown, limit)
            worker.limit, worker.most = limit + CUDA_SECONDS * self.launcher.cuda, self.left
            header: LoadRequest = {
                "op": "load",
                "path": self.source.shown,
                "source": self.source.text,
                "names": self.names,
                "banned": self.banned,
                "cuda": self.launcher.cuda,
            }
            start = time.monotonic()
            self.calling = None, start
            try:
                reply, _ = worker.ask(wire.pack(header, []), self)
                self.imported = worker.offences
                raised = raised_of(reply)
                if raised:
                    self.unloadable = f"{self.source.shown} cannot be imported: {self.explain(raised)}"
                elif (lines := printed_of(reply)[1]) > MOST_LINES:
                    self.unloadable = f"{self.source.shown} prints {lines:,} lines when imported; remove the prints"
                else:
                    self.found = names_of(reply, self.names)
            except CallTimedOut as late:
                self.home.worker = None
                self.unloadable = f"{self.source.shown} did not finish importing in {limit:g} s{self.at(late.line)}"
            except WorkerEnded as death:
                self.home.worker = None
                self.unloadable = f"{self.source.shown} {death} while it was imported"
            except NO_ANSWER:
                self.unloadable = (
                    f"{self.source.shown} returned something that cannot be read as a result when it was imported"
                )
            self.calling = None
            self.seconds += (time.monotonic() - start) / SHARED
            if self.unloadable:
                self.close()
                raise CheckFailed(self.unloadable, "error")
        assert self.found is not None
        return self.found

    @property
    def left(self) -> float:
        """Seconds of the clock that its imports and calls may still take."""
        return SHARED * (WHOLE_SECONDS - self.seconds)

    def refuse_more(self, refusable: bool = False) -> None:
        """Raises: GivenUp where it took too much already: one file should not keep the others waiting.

        What bad arguments do costs only calls with bad arguments; whoever hangs in good ones is not asked about them.
        """
        if refusable and self.unrefused >= self.most_hangs:
            raise GivenUp(f"{NOT_TESTED}{self.most_hangs} calls in a row that should be refused gave no answer")
        if self.hangs >= self.most_hangs:
            raise GivenUp(f"{NOT_TESTED}{self.most_hangs} calls in a row did not return", "timeout")
        if self.deaths >= MOST_DEATHS:
            raise GivenUp(f"{NOT_TESTED}{MOST_DEATHS} calls in a row ended without a result")
        if self.seconds >= WHOLE_SECONDS:
            raise GivenUp(f"{NOT_TESTED}the calls before took more than {WHOLE_SECONDS:.0f} s in all", "timeout")
        if self.bytes >= MOST_BYTES:
            raise GivenUp(f"{NOT_TESTED}the calls before returned {self.bytes >> 20:,} MiB in all")

    def ask(self, request: Request) -> Reply:
        """Raises: CheckFailed, of kind "error" where the submission cannot be imported; as `refuse_more`."""
        known = self.replies.get(request.message)
        if known:
            return known[1]
        self.refuse_more(request.refusable)
        found = self.load()
        for name in request.answers:
            if found.get(name) is None:
                raise CheckFailed(self.lacks(name))
        assert self.home.worker is not None
        limit = self.limit * (COUNTING if request.measured == "cost" else 1)
        limit /= 2**self.unrefused if request.refusable else 1
        worker, start, took = self.home.worker, time.monotonic(), 0.0
        worker.limit, worker.most = limit, self.left
        self.calling = request, start

        def banned_calls() -> tuple[tuple[str, int | None], ...]:
            return tuple((self.imported | worker.offences).items())

        try:
            header, tensors = worker.ask(request.message, self)
            took = worker.seconds() - worker.asked[1] if request.device == "cpu" else time.monotonic() - start
            self.bytes += sum(tensor.nbytes for tensor in tensors)
            reply = reply_of(header, tensors, took, banned_calls(), request.or_index)
        except CallTimedOut as late:
            self.home.worker = None
            over = self.left < time.monotonic() - start
            when = f"before its calls had taken {WHOLE_SECONDS:.0f} s in all" if over else f"in {limit:g} s"
            why = f"did not return {when}{self.at(late.line)}"
            reply = Reply(died=why, timed_out=True, banned_calls=banned_calls())
        except WorkerEnded as death:
            self.home.worker = None
            reply = Reply(died=str(death), banned_calls=banned_calls())
        except NO_ANSWER:
            self.close()
            reply = Reply(died="returned something that cannot be read as a result", banned_calls=banned_calls())
        self.calling = None
        self.seconds += max(took, (time.monotonic() - start) / SHARED)
        self.replies[request.message] = (request, reply)
        if request.refusable:
            self.unrefused = self.unrefused + 1 if reply.died or reply.cut_short else 0
        elif reply.died:
            self.hangs += reply.timed_out
            self.deaths += not reply.timed_out
        else:
            self.hangs = self.deaths = 0
        return reply

    def no_return(self, raised: Raised) -> str:
        """Why there is no result; the sentence goes on from what was called."""
        why = self.explain(raised)
        return why if raised.type == "ParameterMismatch" else f"should return, got {why}"

    def explain(self, raised: Raised) -> str:
        message = " ".join(raised.message.split())  # a line of its own could be taken for one of ours
        if raised.type in ("ParameterMismatch", "GradientOverwritten"):
            return message
        if raised.type in ("Deadlock", "RankError"):
            return f"{message}{self.at(raised.line)}"
        if raised.type == "CudaUnusable":
            return f"CUDA does not start in a worker on this machine ({message}); grade with --device cpu"
        if raised.type == "SystemExit":
            return f"sys.exit({message}){self.at(raised.line)}"
        if raised.out_of_memory:
            wanted = "more" if raised.wanted is None else f"{raised.wanted / 2**30:,.1f} GiB in one go"
            most = f"{MEMORY >> 30} GiB in all"
            return f"out of memory: your code asked for {wanted}, and may use {most}{self.at(raised.line)}"
        if raised.type == "EOFError" or DEBUGGER.search(self.line(raised.line)):
            return f"a wait for a terminal, {NO_TERMINAL}{self.at(raised.line)}"
        if FULL.match(raised.message):
            return f"more than {FILE_SIZE >> 20} MiB printed or written; remove the prints{self.at(raised.line)}"
        only = ONE_FILE if raised.type == "ModuleNotFoundError" or message.startswith(RELATIVE) else ""
        return f"{raised.type}{': ' * bool(message)}{message}{only}{self.at(raised.line)}"

    def at(self, line: int | None) -> str:
        """(line 12: `return x / y`)"""
        text = self.line(line)
        return f" (line {line}: `{visible(text)}`)" if text else ""

    def line(self, number: int | None) -> str:
        """Its text, if there is such a line."""
        lines = lines_of(self.source.text)
        return lines[number - 1].strip() if number is not None and 0 < number <= len(lines) else ""

    def _mention(self, call: str) -> int | None:
        """The first line with a banned name that the call's begins with: `cdist` where it was aten::_cdist_forward."""
        called = ["", *re.findall(r"\w+", call)][-1].lstrip("_")
        for number, line in enumerate(lines_of(self.source.text), start=1):
            names = [name.lstrip("_") for name in re.findall(r"(?<!def )\b\w+", line.partition("#")[0])]
            if any(called.startswith(name) and name.startswith(self.banned) for name in names):
                return number
        return None

    def _lacks(self, name: str) -> str:
        """That it does not define the name, and what it may have been meant to be called."""
        found = {other.lower(): other for other in defined_in(self.source.text) if other != name}
        near = difflib.get_close_matches(name.lower(), found, n=1, cutoff=NEAR)
        hint = f"; rename {found[near[0]]}?" if near and "." not in name else ""
        return f"{name}: should be defined in {self.source.shown}, got no such name{hint}"

    def close(self) -> None:
        self.home.close()
