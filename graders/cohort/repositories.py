"""Learners' repositories: which there are, and how git fetches them.

Standard library only, since .github/classroom.py uses this where nothing is installed.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
from pathlib import Path

from graders.faults import UsageError

CLONE_SECONDS = 300
MIRRORED = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")


class Trouble(Exception):
    """A learner's tree cannot be read; the message is a sentence."""


def roster(file: Path) -> list[tuple[str, str, str]]:
    """Learner, repository and revision, of each line. Raises: UsageError."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{file} cannot be read ({error}); it should be a .csv in UTF-8") from None
    if not rows or not {"learner", "repository"} <= rows[0].keys():
        raise UsageError(f"{file} should begin with the line: learner,repository,revision")
    for number, row in enumerate(rows, start=2):
        if not row["learner"] or not row["repository"]:
            raise UsageError(f"line {number} of {file} should name a learner and a repository")
    return [(row["learner"], row["repository"], row.get("revision") or "HEAD") for row in rows]


def clone(repository: str, folder: Path) -> None:
    """Without a checkout, whole or not at all. Raises: Trouble."""
    if repository.startswith("-"):
        raise Trouble(f"{repository} is no address of a repository")
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # of a run that was killed
    git(None, "clone", "--bare", "--quiet", "--end-of-options", repository, str(part))
    part.rename(folder)


def fetch(repository: Path) -> None:
    """Makes a clone what its origin is now: branches renamed or removed, tags moved, another default branch.

    Raises: Trouble.
    """
    git(repository, "fetch", "--quiet", "--prune", "--force", "origin", *MIRRORED)
    told = git(repository, "ls-remote", "--symref", "origin", "HEAD").decode(errors="replace")
    if default := re.search(r"^ref: (refs/heads/\S+)\tHEAD$", told, re.MULTILINE):
        git(repository, "symbolic-ref", "HEAD", default[1])
    elif alone := re.search(r"^([0-9a-f]{40,64})\tHEAD$", told, re.MULTILINE):
        git(repository, "update-ref", "--no-deref", "HEAD", alone[1])


def git(clone: Path | None, *arguments: str) -> bytes:
    """What it prints. No hook, no prompt, and no helper that a repository could name. Raises: Trouble."""
    safe = ["-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "-c", "core.fsmonitor=false"]
    where = ["--git-dir", str(clone)] if clone else []
    environment = os.environ | {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", *safe, *where, *arguments], capture_output=True, env=environment, timeout=CLONE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Trouble(str(error)) from None
    if done.returncode:
        raise Trouble(next(iter(done.stderr.decode(errors="replace").splitlines()), "git failed"))
    return done.stdout
