"""The command line: `python -m graders COMMAND`. Nox is its front door."""

from __future__ import annotations

import os
import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
    # What follows takes a moment, in which Ctrl-C would show where it was.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))

import argparse
import atexit
import contextlib
import difflib
import errno
import gc
import importlib
import io
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from graders import author, cohort, debugging, desk, grade, interview, report, web
from graders.faults import FAULT, INTERRUPTED, PACK, ROOT, GraderError, UsageError, complain
from graders.judge.spelling import HANDLER

for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
    if getattr(sys, name) is None:  # closed: else the next file that is opened would stand in its place
        setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
        os.set_inheritable(getattr(sys, name).fileno(), True)

NO_PACK = ("bench", "site", "update")  # these are about the repository itself
HEEDED = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN  # else it is a shell's background job


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    """Exit status: 0 nothing failing, 1 something failing, 2 usage, 3 a grader's own fault, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)
    try:
        root = chosen_root(sys.argv[1:] if argv is None else argv, root)
        options, unknown = parser(root).parse_known_args(argv)
        if unknown:
            options.parser.error(unexpected(unknown[0], options.parser))
        with importing():
            module = importlib.import_module(options.module)
        status = int(module.main(options, root))
        print(end="", flush=True)
        return status
    except UsageError as error:
        return complain(str(error))
    except GraderError as error:
        complain(f"{error}; mend that, or tell whoever wrote the kata")
        return FAULT
    except (KeyboardInterrupt, BrokenPipeError):
        return INTERRUPTED
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            return complain("no disk space is left: make room, then run this again")
        complain("this is a fault of the graders, not yours; please report what follows")
        traceback.print_exc()
        return FAULT


def chosen_root(words: list[str], root: Path) -> Path:
    """The pack that `--katas` or else the environment names, and without one the repository.

    The environment then names it to all that this process starts. Read before the commands' own parsers are made, since
    some of their choices are the katas' topics. Raises: UsageError.
    """
    command = words[0] if words else ""
    if command in NO_PACK:
        return root
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=command != "cohort")  # which has --kata
    early.add_argument("--katas", nargs="?", default=os.environ.get(PACK) if root == ROOT else None)
    named = early.parse_known_args(words if command != "interview" else [])[0].katas
    if not named:
        return root
    pack = Path(named).resolve()
    if command != "new" and not any(pack.glob("katas/*/*/grader.py")):
        lacks = "has no katas/TOPIC/KATA/grader.py" if pack.is_dir() else "is no folder"
        raise UsageError(f"{named} {lacks}: name the folder of a pack; docs/packs.md says how to begin one")
    os.environ[PACK] = str(pack)
    return pack


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """While torch is imported.

    Ctrl-C ends the process then: as an exception it would be lost where C++ code imports numpy.
    """
    if HEEDED:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    gc.disable()  # what comes with torch is no garbage, and looking for some takes a tenth of its import
    try:
        yield
    finally:
        gc.freeze()  # nor need the judge's collections look at it later
        gc.enable()
        if HEEDED:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def leave(status: int) -> NoReturn:
    """Ends this process as it is: to take apart what torch brought takes a fifth of its import."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is told
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError):  # `main` has told of it
        print(end="", flush=True)
    os._exit(status)


class Parser(argparse.ArgumentParser):
    """Its errors read like all others."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(complain(message))


def unexpected(word: str, parser: argparse.ArgumentParser) -> str:
    """Why a word of the command line is refused, and what it may have been meant to be."""
    if not word.startswith("-"):
        return f"there is one argument too many: {word!r}"
    options = [option for action in parser._actions for option in action.option_strings]
    near = difflib.get_close_matches(word.partition("=")[0], options, n=1)
    hint = f"did you mean {near[0]}?" if near else f"{parser.prog} --help lists what there is"
    return f"there is no option {word}; {hint}"


def parser(root: Path = ROOT) -> argparse.ArgumentParser:
    made = Parser(prog="graders", description="Judges what you wrote by hand, honestly.")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    grade.add_commands(commands)
    cohort.add_commands(commands)
    author.add_commands(commands)
    desk.add_commands(commands)
    interview.add_commands(commands, root)
    debugging.add_commands(commands, root)
    report.add_commands(commands)
    web.add_commands(commands)
    for name, command in commands.choices.items():
        command.set_defaults(parser=command)
        if name not in (*NO_PACK, "interview"):  # whose --katas says how many
            command.add_argument("--katas", dest="pack", metavar="FOLDER", help="take FOLDER's katas, not ours: a pack")
        command.prog = f"python -m graders {name}" if name in author.UNDER_PYTHON else f"nox -s {name} --"
    return made


if __name__ == "__main__":
    leave(main())
