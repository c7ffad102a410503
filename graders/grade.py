"""`grade`: one pytest run over the graders with our reporter, then the documents and the exit status."""

from __future__ import annotations

import argparse
import gc
import os
import secrets
import sys
from pathlib import Path

import pytest
import torch

from graders import __main__ as cli
from graders import katas, processes, results
from graders.card import Reporter
from graders.parallel import Parallel
from graders.plugin import DEFAULT_SEED, Options, Run


def main(options: argparse.Namespace, root: Path) -> int:
    chosen = katas.find(options.katas, root)
    if options.submission and len(chosen) != 1:
        return cli.complain(f"--submission needs exactly one KATA, got {len(chosen) if options.katas else 'none'}")
    for path in (options.json, options.junit):
        if path:
            with results.writable(path, "a"):  # before the work, not after it
                pass
    if options.submission and options.reference:
        return cli.complain("--submission and --reference exclude each other; name one of them")
    # Before there is a seed, and before CUDA is touched: neither survives a fork.
    launchers = [processes.launcher() for _ in range(judges(options, len(chosen)))]
    launcher = launchers[0]
    if options.isolation == "strict" and launcher.isolation != "full":
        for one in launchers:
            one.close()
        return cli.complain(
            f"isolation is {launcher.isolation!r} here, not 'full'; see SECURITY.md, or drop --isolation strict"
        )
    if options.device == "cuda" and not torch.cuda.is_available():
        return cli.complain("there is no CUDA device here; grade with --device cpu")
    if options.device == "all" and not torch.cuda.is_available():
        print("no CUDA device here: graded on the CPU alone", file=sys.stderr)
    seed = options.seed
    if seed is None:
        seed = secrets.randbelow(1 << 31) if os.environ.get("CI") else DEFAULT_SEED
    reporter = Reporter(seed, costs=len(chosen) == 1 and len(options.submission) <= 1)
    if seed != DEFAULT_SEED:
        reporter.say(f"seed {seed}")
    devices = devices_for(options.device)
    asked = Options(options.reference, [path.absolute() for path in options.submission], seed, devices, options.x)
    run = Run(asked, reporter, launcher)
    torch.set_num_threads(1)
    gc.freeze()  # what torch brought stays: no collection need look at it again
    reporter.start()
    try:
        status = pytest.main(arguments(chosen, options, root), plugins=[Named(run), Parallel(run, launchers)])
    finally:
        reporter.stop()
        for one in launchers[1:]:
            one.close()
    if status == pytest.ExitCode.NO_TESTS_COLLECTED and options.k:
        return cli.complain(f"no check matches -k {options.k!r}")
    if status in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR):
        return cli.USAGE if status == pytest.ExitCode.USAGE_ERROR else cli.FAULT
    reporter.summary(run.results, learner=not (options.reference or options.submission))
    if launcher.isolation != "full":
        reporter.say(f"isolation: {launcher.isolation}; submissions cannot be shut in fully here, see SECURITY.md")
    if options.json:
        results.write(options.json, results.document(run.results, seed, devices, launcher.isolation))
    if status == pytest.ExitCode.INTERRUPTED:
        return cli.INTERRUPTED
    verdict = results.exit_status(run.results)
    return 0 if options.ci and verdict == 1 else verdict


def judges(options: argparse.Namespace, katas: int) -> int:
    """How many judge at once; one where there may be a GPU, since who has asked CUDA for it cannot be forked."""
    if not processes.forks() or (options.device != "cpu" and any(Path("/dev").glob("nvidia[0-9]*"))):
        return 1
    return min(options.workers or os.cpu_count() or 1, katas)


class Named:
    """Registers the run under the name that the plugin looks for."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.register(self.run, "grading_run")


def devices_for(wanted: str | None) -> list[str]:
    if wanted in ("cpu", "cuda"):
        return [wanted]
    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


def arguments(chosen: list[katas.Kata], options: argparse.Namespace, root: Path) -> list[str]:
    """Pytest's command line: our plugin and pytest-timeout, and nothing from a conftest.py beside a submission."""
    made = [str(kata.folder) for kata in chosen]
    made += [
        "--rootdir",
        str(root),
        "--noconftest",
        "-p",
        "graders.plugin",
        "-p",
        "no:terminal",
        "-s",
        "-p",
        "no:cacheprovider",
    ]
    made += [
        "-p",
        "no:faulthandler",
        "-p",
        "no:logging",
        "-p",
        "no:unraisableexception",
        "-o",
        "filterwarnings=default",
        "-o",
        "addopts=",
    ]
    if options.k:
        made += ["-k", options.k]
    if options.junit:
        made += ["--junitxml", str(options.junit.absolute())]
    return made
