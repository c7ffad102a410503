"""`grade`: looks at what was asked for, has servers for workers started, and lets a session run."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from graders import __main__ as cli
from graders import katas, processes, results


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
    from graders import session  # it imports pytest, while the servers build their cages

    return session.main(options, root, chosen, launchers)


def judges(options: argparse.Namespace, katas: int) -> int:
    """How many judge at once; one where there may be a GPU, since who has asked CUDA for it cannot be forked."""
    if not processes.forks() or (options.device != "cpu" and any(Path("/dev").glob("nvidia[0-9]*"))):
        return 1
    return min(options.workers or os.cpu_count() or 1, katas)
