"""Writes a kata's stub from its reference, and beside it the copy that is kept for forks without solutions."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.stub import stub_for
from graders.files import replace_file


def main(options: argparse.Namespace, root: Path) -> int:
    """Writes the stubs. Exit status: 1 where a learner's file holds somebody's work, which is left alone."""
    status = 0
    for kata in katas.find(options.katas, root):
        shown = kata.answer_file.relative_to(root)
        if write(kata):
            print(f"wrote {shown}")
        else:
            print(f"{shown} holds somebody's work, so it is left alone; remove it first to start anew")
            status = 1
    return status


def write(kata: Kata) -> bool:
    """Whether the learner's file was written, and not only the copy. Raises: UsageError, GraderError."""
    stub, free = stub_for(kata), not is_work(kata)
    if free:
        replace_file(kata.answer_file, stub)
    replace_file(kata.kept_stub, stub)
    return free


def is_work(kata: Kata) -> bool:
    """Whether the learner's file is neither the stub nor, word for word, one that was made of an older reference."""
    if not kata.answer_file.exists():
        return False
    kept = kata.kept_stub.read_text(encoding="utf-8") if kata.kept_stub.exists() else ""
    found = kata.answer_file.read_text(encoding="utf-8", errors="replace")
    return found not in (stub_for(kata), kept, committed(kata.kept_stub))


def committed(file: Path) -> str:
    """The text of a file at git's HEAD; empty where there is none."""
    command = ["git", "show", f"HEAD:./{file.name}"]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, encoding="utf-8", check=False)
    return done.stdout if done.returncode == 0 else ""
