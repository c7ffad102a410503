"""Draws the README's picture of a card from a real run: `.venv/bin/python -m graders.author.pictures`."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from graders.arguments import command_line
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.faults import ROOT

KATA, MISTAKE = "multi_head_attention", "scaled_by_embed_dim"
PICTURE = ROOT / "docs/pictures/card.svg"
WIDTH = 80
ERASED = re.compile(r"[^\n]*\n[^\n]*\x1b\[1A\x1b\[2K|[^\n]*\x1b\[2K|\x1b\[\?25[lh]")  # lines that show progress


def main() -> None:
    kata = katas.find_one(KATA, ROOT)
    mistake = next(one for one in kata.mistakes if one.name == MISTAKE)
    wrong = mistake.forms(kata.reference_file.read_text(encoding="utf-8"))[MISTAKE]
    with tempfile.TemporaryDirectory() as folder:
        printed = printed_of(Path(folder), kata, wrong, FORCE_COLOR="1", COLUMNS=str(WIDTH), TERM="xterm-256color")
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text.from_ansi(ERASED.sub("", printed).strip()))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(console.export_svg(title=f"nox -s grade -- {KATA}"), encoding="utf-8")


def printed_of(folder: Path, kata: Kata, source: str, **variables: str) -> str:
    """What `nox -s grade -- KATA` prints of a learner's file, in a clone that is made in the folder."""
    for of in (kata.folder, kata.solutions):
        shutil.copytree(of, folder / of.relative_to(kata.root))
    (folder / kata.answer_file.relative_to(kata.root)).write_text(source, encoding="utf-8")
    command = [*command_line(folder), "grade", kata.id]
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "COLUMNS", "NO_COLOR")}
    variables = kept | {"PYTHONIOENCODING": "utf-8"} | variables
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, check=False).stdout.decode()


if __name__ == "__main__":
    main()
