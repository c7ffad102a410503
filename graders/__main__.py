"""The command line: `python -m graders COMMAND`. Nox is its front door."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import difflib
import errno
import gc
import importlib
import io
import os
import sys
import traceback
from pathlib import Path
from typing import NoReturn

from graders import desk, katas

USAGE, FAULT, INTERRUPTED = 2, 3, 130
KATAS = "which katas, by name, topic or path; all of them by default"


def main(argv: list[str] | None = None, root: Path = katas.ROOT) -> int:
    """Exit status: 0 nothing failing, 1 something failing, 2 usage, 3 a grader's own fault, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    options, unknown = parser(root).parse_known_args(argv)
    if unknown:
        options.parser.error(unexpected(unknown[0], options.parser))
    try:
        gc.disable()  # what comes with torch is no garbage, and looking for some takes a tenth of its import
        try:
            module = importlib.import_module(options.module or f"graders.{options.command}")
        finally:
            gc.freeze()  # nor need the judge's collections look at it later
            gc.enable()
        status = int(module.main(options, root))
        print(end="", flush=True)
        return status
    except katas.Refused as error:
        return complain(str(error))
    except (KeyboardInterrupt, BrokenPipeError):
        return INTERRUPTED
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            return complain("no space is left where this writes: make some, and run it again")
        complain("this is a fault of the graders, not yours; please report what follows")
        traceback.print_exc()
        return FAULT


def leave(status: int) -> NoReturn:
    """Ends this process as it is: to take apart what torch brought takes a fifth of its import."""
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError):  # `main` has told of it
        print(end="", flush=True)
    os._exit(status)


def command(root: Path) -> list[str]:
    """What starts this command line in a process of its own, on the repository at `root`."""
    code = f"import pathlib, graders.__main__ as m; m.leave(m.main(root=pathlib.Path({str(root)!r})))"
    return [sys.executable, "-c", code]


def complain(sentence: str) -> int:
    print(f"error: {sentence}", file=sys.stderr)
    return USAGE


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


def parser(root: Path = katas.ROOT) -> argparse.ArgumentParser:
    made = Parser(prog="graders", description="Judges what you wrote by hand, honestly.")
    made.set_defaults(module=None)
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    grade = commands.add_parser("grade", help="grade the learner's files", description="Grades the learner's files.")
    grade.add_argument("katas", nargs="*", metavar="KATA", help=KATAS)
    grade.add_argument("--reference", action="store_true", help="grade the reference solutions instead")
    grade.add_argument(
        "--submission",
        action="append",
        default=[],
        metavar="FILE",
        type=Path,
        help="grade FILE as an answer to the one KATA named; repeatable",
    )
    grade.add_argument("--device", choices=("cpu", "cuda", "all"), help="default: cpu, and cuda too where there is one")
    grade.add_argument(
        "--seed",
        type=seed,
        metavar="N",
        help="what the inputs are made from; default: fixed, drawn in CI and with --submission",
    )
    grade.add_argument(
        "--isolation",
        choices=("auto", "strict"),
        default="auto",
        help="strict refuses to grade where submissions cannot be shut in fully; see SECURITY.md",
    )
    grade.add_argument(
        "--workers", type=workers, metavar="N", help="judge N katas at once; default: as many as there are processors"
    )
    grade.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    grade.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit XML")
    grade.add_argument("-k", metavar="EXPR", default="", help="only the checks whose names match, as in pytest")
    grade.add_argument("-x", action="store_true", help="stop each submission at its first failing check")
    grade.add_argument("--ci", action="store_true", help="exit 0 whatever the score; 3 on a grader's own fault")
    prove = commands.add_parser(
        "prove",
        help="prove the graders",
        description="Proves the graders: right answers pass, mistakes, mutants and cheats fail.",
    )
    prove.add_argument("katas", nargs="*", metavar="KATA", help=KATAS)
    prove.add_argument("--json", type=Path, metavar="FILE", help="write the kill rates as JSON")
    bench = commands.add_parser(
        "bench", help="measure the judge", description="Measures the judge against `import torch`, in one run."
    )
    bench.add_argument("--runs", type=int, default=5, metavar="N", help="repetitions of each command; default: 5")
    soak = commands.add_parser(
        "soak",
        help="grade again and again on a busy machine",
        description="Grades answers again and again beside a busy program; no verdict may differ.",
    )
    soak.add_argument("katas", nargs="*", metavar="KATA", help=KATAS)
    soak.add_argument("--references", type=int, default=300, metavar="N", help="rounds of references; default: 300")
    soak.add_argument(
        "--others", type=int, default=50, metavar="N", help="rounds of alternatives and slow mistakes; default: 50"
    )
    stub = commands.add_parser(
        "stub",
        help="write the stub of a kata",
        description="Writes a kata's stub from its reference, if there is none yet.",
    )
    stub.add_argument("katas", nargs="+", metavar="KATA", help="which katas, by name, topic or path")
    desk.add_commands(commands, root)
    for name, command in commands.choices.items():
        command.set_defaults(parser=command)
        command.prog = f"python -m graders {name}" if name == "stub" else f"nox -s {name} --"
    return made


def workers(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"there should be at least 1 worker, got {value}")
    return value


def seed(text: str) -> int:
    value = int(text)
    if not 0 <= value < 1 << 32:
        raise argparse.ArgumentTypeError(f"a seed should be from 0 to {2**32 - 1}, got {value}")
    return value


if __name__ == "__main__":
    leave(main())
