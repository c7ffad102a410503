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
from graders.faults import ROOT

KATA, MISTAKE = "multi_head_attention", "scaled_by_embed_dim"
PICTURE = ROOT / "docs/pictures/card.svg"
WIDTH = 80
ERASED = re.compile(r"[^\n]*\n[^\n]*\x1b\[1A\x1b\[2K|[^\n]*\x1b\[2K|\x1b\[\?25[lh]")  # lines that show progress


def main() -> None:
    kata = katas.find_one(KATA, ROOT)
    mistake = next(one for one in kata.mistakes if one.name == MISTAKE)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for of in (kata.folder, kata.solutions):
            shutil.copytree(of, root / of.relative_to(ROOT))
        answer = root / kata.answer_file.relative_to(ROOT)
        answer.write_text(mistake.forms(kata.reference_file.read_text(encoding="utf-8"))[MISTAKE], encoding="utf-8")
        variables = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
        command = [*command_line(root), "grade", KATA]
        printed = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, check=False).stdout.decode()
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text.from_ansi(ERASED.sub("", printed).strip()))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(console.export_svg(title=f"nox -s grade -- {KATA}"), encoding="utf-8")


if __name__ == "__main__":
    main()
