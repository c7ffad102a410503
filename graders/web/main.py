"""`web`: serves the page to practise on, and judges what is written there."""

from __future__ import annotations

import argparse
import gc
import threading
import webbrowser
from pathlib import Path
from urllib.parse import urlsplit

from graders.catalogue import katas
from graders.desk import attempts
from graders.desk.state import State
from graders.faults import UsageError
from graders.judge.warm import WarmJudge
from graders.sandbox.launcher import Launcher, new_launcher
from graders.web.runner import Runner


def main(options: argparse.Namespace, root: Path) -> int:
    launcher = new_launcher()  # before any grader is imported, any thread is started and any token drawn
    judge = WarmJudge(launcher)
    try:
        chosen = katas.all_katas(root)
        first = katas.find_one(options.kata, root) if options.kata else None
        state = State(root)
        attempts.bring_all_home(state, chosen)
        for note in state.notes:
            print(f"note: {note}")
        state.close()
        serve(Runner(judge, root), launcher, f"kata/{first.id}" if first else "", options, root)
    except KeyboardInterrupt:  # this is how it ends
        print()
    finally:
        judge.close()
        launcher.close()
    return 0


def serve(runner: Runner, launcher: Launcher, page: str, options: argparse.Namespace, root: Path) -> None:
    """Until Ctrl-C. Raises: UsageError."""
    gc.disable()  # what is imported is no garbage
    try:
        from graders.web import pages, server, sittings
    except ModuleNotFoundError as error:
        raise UsageError(f"{error.name} is not installed: start the page by  nox -s web") from None
    gc.freeze()  # nor need the judge's collections look at it later
    gc.enable()
    at, place = server.listening(root, options.port)
    held = [sittings.Held(kind, launcher, runner.turn, root) for kind in sittings.KINDS]
    app = pages.application(runner, held, root, urlsplit(options.root_path).path.rstrip("/"))
    with at, server.serving(app, at, place, options.root_path):
        outside = urlsplit(options.root_path)
        base = (
            f"{outside.scheme or 'http'}://{outside.netloc or f'{server.HOST}:{place.port}'}{outside.path.rstrip('/')}"
        )
        address = f"{base}/{page}?token={place.token}"
        print(f"{address}\nopens your katas in a browser on this machine; Ctrl-C ends it", flush=True)
        if not options.no_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        try:
            runner.serve()
        finally:
            for one in held:
                one.close()
