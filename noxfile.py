"""The front door. All sessions share one environment, .venv, made on first use."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
PYPROJECT = ROOT / "pyproject.toml"
OLDEST, NEWEST = (3, 11), (3, 14)  # that torch has wheels for
NO_CPU_BUILD = "no index has torch's CPU build: the usual one for Linux is 2.8 GB; docs/install.md says how to avoid it"

# Tests of most rooms that take a minute together: no browser, no class, no terminal.
QUICK = (
    "author", "check", "checks", "contributing", "desk", "figures", "front", "house", "launcher", "matching", "modes",
    "parts", "planting", "properties", "prose", "prove", "references", "refusals", "scenarios", "since", "state",
    "tolerances", "twists", "worker",
)  # fmt: skip

nox.options.sessions = ["grade"]
nox.options.default_venv_backend = "none"
logging.getLogger("nox").addFilter(lambda record: record.msg != "uv binary not found.")  # pip will do


@nox.session
def grade(session: nox.Session) -> None:
    """Grade your katas: nox -s grade -- [KATA...] [--help]."""
    run(session, "grade", group="learn")


@nox.session
def watch(session: nox.Session) -> None:
    """Grade a kata on every save: nox -s watch -- [KATA]."""
    run(session, "watch", group="learn")


@nox.session
def read(session: nox.Session) -> None:
    """Show a kata's statement in the terminal: nox -s read -- KATA."""
    run(session, "read", group="learn")


@nox.session(name="run")
def run_file(session: nox.Session) -> None:
    """Run your own file, with a case's inputs at hand, or measure your tests: nox -s run -- KATA [FILE] [--help]."""
    run(session, "run", group="learn")


@nox.session
def hint(session: nox.Session) -> None:
    """Show one more hint: nox -s hint -- KATA."""
    run(session, "hint", group="learn")


@nox.session
def status(session: nox.Session) -> None:
    """Show how far you have come, what is due and what is next."""
    run(session, "status", group="learn")


@nox.session
def reset(session: nox.Session) -> None:
    """Start a kata anew; the attempt is kept: nox -s reset -- KATA."""
    run(session, "reset", group="learn")


@nox.session
def history(session: nox.Session) -> None:
    """List your attempts at a kata, or bring one back: nox -s history -- KATA [N] [--restore]."""
    run(session, "history", group="learn")


@nox.session
def review(session: nox.Session) -> None:
    """Rewrite a kata that is due today, in a file of its own; plan for a day: nox -s review -- [--help]."""
    run(session, "review", group="learn")


@nox.session
def interview(session: nox.Session) -> None:
    """Sit a timed mock interview: nox -s interview -- [--help]."""
    run(session, "interview", group="learn")


@nox.session
def debug(session: nox.Session) -> None:
    """Find the bugs that are planted in a right answer: nox -s debug -- [--help]."""
    run(session, "debug", group="learn")


@nox.session
def report(session: nox.Session) -> None:
    """Write one HTML page of all you did."""
    run(session, "report", group="learn")


@nox.session
def update(session: nox.Session) -> None:
    """Get the newest katas and graders into your clone; your answers stay: nox -s update."""
    run(session, "update", group="learn")


@nox.session
def web(session: nox.Session) -> None:
    """Practise in the browser, on the same files: nox -s web -- [KATA] [--port N] [--no-browser]."""
    run(session, "web", group="web")


@nox.session
def cohort(session: nox.Session) -> None:
    """Grade a whole class: nox -s cohort -- LEARNERS --out RESULTS [--help]."""
    run(session, "cohort", group="class")


@nox.session
def site(session: nox.Session) -> None:
    """Build the katas' pages, without solutions: nox -s site -- [--out FOLDER]."""
    run(session, "site", group="site")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the project's own tests, or those that take a minute: nox -s tests -- [quick] [pytest's arguments]."""
    environment(session, "author")
    chosen = session.posargs
    if chosen[:1] == ["quick"]:
        chosen = [*(f"tests/test_{name}.py" for name in QUICK), *chosen[1:]]
    side_by_side = ("--numprocesses", "auto", "--dist", "loadfile")
    session.run(str(PYTHON), "-m", "pytest", *side_by_side, *chosen, external=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style (ruff), types (mypy --strict), workflows (zizmor) and prose (proselint): nox -s lint -- [--fix]."""
    if session.posargs not in ([], ["--fix"]):
        session.error(f"lint takes --fix alone, which lets ruff mend what it can, got {session.posargs}")
    environment(session, "author")
    failed = []
    for tool, *arguments in (
        ["ruff", "check", *session.posargs, "."],
        ["ruff", "format", *["--check"] * (not session.posargs), "."],
        ["mypy"],
        ["zizmor", "--offline", "--quiet", ".github"],
        ["python", "-m", "graders.author.prose"],
    ):
        try:
            session.run(str(PYTHON.parent / tool), *arguments, external=True)
        except nox.command.CommandFailed:
            failed.append(f"{tool} {arguments[0]}" if tool == "ruff" else tool.replace("python", "prose"))
    if failed:
        session.error(f"something is left to mend, see above what they say: {', '.join(failed)}")


@nox.session
def prove(session: nox.Session) -> None:
    """Prove the graders: right answers pass, mistakes, mutants and cheats fail: nox -s prove -- [KATA...]."""
    run(session, "prove", group="author")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure the judge, the judging of a class, or the page: nox -s bench -- [cohort|web]."""
    run(session, "bench", group="author")


@nox.session
def soak(session: nox.Session) -> None:
    """Grade again and again on a busy machine, for hours: no verdict may differ: nox -s soak -- [KATA...] [--help]."""
    run(session, "soak", group="author")


def run(session: nox.Session, command: str, group: str) -> None:
    """Runs our command line; its exit status is the session's, its output is all there is."""
    environment(session, group)
    with subprocess.Popen([str(PYTHON), "-m", "graders", command, *session.posargs], cwd=ROOT) as process:
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())  # else it would run on without us
        while process.poll() is None:
            with contextlib.suppress(KeyboardInterrupt):  # it gets that too, and has something left to say
                process.wait()
    status = process.returncode
    if status < 0:
        name, status = signal.Signals(-status).name, 128 - status  # as a shell counts
        session.warn(f"{command} was ended by {name}; if the terminal no longer shows what you type, type: stty sane")
    if status:
        sys.exit(status)


def environment(session: nox.Session, group: str) -> None:
    """Makes .venv, or brings it up to date with pyproject.toml; at once where nothing changed."""
    digest = hashlib.sha256(PYPROJECT.read_bytes()).hexdigest()[:16]
    stamp = VENV / f".{group}-{digest}"
    if PYTHON.exists() and (stamp.exists() or (VENV / f".author-{digest}").exists()):  # the author's holds all
        return
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        needed = f"Python {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
        session.error(f"{needed} is needed, this is {sys.version.split()[0]}: run nox with one of these")
    has_torch = PYTHON.exists() and any(VENV.glob(".*-*"))
    if not has_torch and shutil.disk_usage(ROOT).free < 3 << 30:
        session.error("less than 3 GB of disk is free, torch takes 1.2 (with CUDA 5): make room, then run this again")
    session.log(f"preparing {VENV.name} ({group}); this happens once and takes a few minutes")
    wanted = nox.project.dependency_groups(nox.project.load_toml(PYPROJECT), group)
    options = cpu_build(session)
    try:
        if not PYTHON.exists():
            # Comes with nox. Debian, and so Colab, leaves out a part of Python that venv needs.
            subprocess.run([sys.executable, "-m", "virtualenv", "--quiet", "--clear", str(VENV)], check=True)
        if options is not None:
            torch = next(one for one in wanted if one.startswith("torch=="))
            why = install("--no-deps", *options, f"{torch}+cpu")
            if why and os.environ.get("KATAS_TORCH"):
                session.error(f"torch's CPU build could not be had: {why}")
            session.log(NO_CPU_BUILD if why else "took torch's CPU build; KATAS_TORCH=default takes the usual one")
        if why := install(*wanted):
            session.error(f"{VENV.name} could not be made: {why}")
        for old in VENV.glob(f".{group}-*"):
            old.unlink()
        stamp.touch()
    except (subprocess.CalledProcessError, OSError) as error:
        session.error(f"{VENV.name} could not be made: {error}; mend that, then run this again")


def cpu_build(session: nox.Session) -> list[str] | None:
    """Options to ask for torch's CPU build with; None where torch comes as all else does.

    The usual build for Linux has CUDA in it, that for other systems has not. uv knows where CPU builds are.
    """
    choice = os.environ.get("KATAS_TORCH", "")
    if "://" in choice:
        return ["--extra-index-url", choice]
    if choice not in ("", "default"):
        session.error(f"KATAS_TORCH should be default or the address of an index of CPU builds, got {choice!r}")
    gpu = any(Path("/dev").glob("nvidia*")) or shutil.which("nvidia-smi")
    if choice or gpu or sys.platform != "linux":
        return None
    return ["--torch-backend", "cpu"] if shutil.which("uv") else []


def install(*wanted: str) -> str:
    """By uv where there is one, which is faster, else by pip. Why it failed, in one sentence, if it did."""
    uv = shutil.which("uv")
    if uv:
        command = [uv, "pip", "install", "--python", str(PYTHON), *wanted]
    else:
        command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", *wanted]
    shown = None if sys.stdout.isatty() else subprocess.DEVNULL  # pip's progress
    done = subprocess.run(command, check=False, stdout=shown, stderr=subprocess.PIPE, text=True, errors="replace")
    return trouble(done.stderr, "uv" if uv else "pip") if done.returncode else ""


def trouble(stderr: str, tool: str) -> str:
    """What pip or uv died of, and what to do, in one sentence."""
    if "No space left on device" in stderr:
        return "the disk is full: make room (torch takes 1.2 GB, with CUDA 5), then run this again"
    unreachable = ("connection broken", "Connection", "timed out", "SSLError", "ProxyError", "Failed to fetch")
    if any(sign in stderr for sign in unreachable):
        return "the package index cannot be reached: check the network, then run this again"
    lines = [line for line in stderr.splitlines() if line.startswith(("ERROR:", "error:"))]
    return f"{tool} says {(lines or stderr.splitlines() or ['nothing'])[-1]!r}: mend that, then run this again"
