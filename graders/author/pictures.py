"""Draws the README's pictures from real runs: `.venv/bin/python -m graders.author.pictures [grade] [page] [debug]`."""

from __future__ import annotations

import difflib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urljoin

from playwright.sync_api import ViewportSize
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from graders.arguments import command_line
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.faults import ROOT

PICTURES = ROOT / "docs/pictures"
KATA, MISTAKE = "multi_head_attention", "scaled_by_embed_dim"
WIDTH = 80
TOP = '<svg preserveAspectRatio="xMidYMin"'  # where a frame stands that is less high
SECONDS, LONG = 3.5, 10.5  # that a frame is shown, and that all three take
STYLE = (
    ".f{animation:show 10.5s step-end infinite}@keyframes show{0%{opacity:1}33.3%,100%{opacity:0}}"
    "@media (prefers-reduced-motion:reduce){.f{animation:none}.f1,.f2{display:none}}"
)
PRACTISED = "self_attention"  # on the page; what a learner wrote there:
WRITTEN = """import math

import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim: int) -> None:
        super().__init__()
        self.W_q = nn.Linear(embed_dim, embed_dim)
        self.W_k = nn.Linear(embed_dim, embed_dim)
        self.W_v = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = (q / math.sqrt(x.shape[1])) @ k.mT
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
"""
SCREEN: ViewportSize = {"width": 1280, "height": 800}
LONGEST = 600_000  # milliseconds, for the bugs to be planted and the script to run
ERASED = re.compile(r"[^\n]*\n[^\n]*\x1b\[1A\x1b\[2K|[^\n]*\x1b\[2K|\x1b\[\?25[lh]")  # lines that show progress


def main() -> None:
    drawn = {"grade": grade, "page": page, "debug": debug}
    if unknown := set(sys.argv[1:]) - set(drawn):
        sys.exit(f"there are the pictures {', '.join(drawn)}, got {', '.join(sorted(unknown))}")
    for name in sys.argv[1:] or drawn:
        drawn[name]()


def grade() -> None:
    """A run that fails, the line that is mended, a run that passes: frames of one picture, which moves where it may."""
    kata = katas.find_one(KATA, ROOT)
    right = kata.reference_file.read_text(encoding="utf-8")
    wrong = next(one for one in kata.mistakes if one.name == MISTAKE).forms(right)[MISTAKE]
    edit = "".join(difflib.unified_diff(wrong.splitlines(True), right.splitlines(True), n=3)).partition("@@\n")[2]
    command = f"nox -s grade -- {KATA}"
    frames: list[tuple[str, Text | Syntax]] = [
        (command, run_of(kata, wrong)),
        (kata.answer_file.name, Syntax(edit.rstrip(), "diff", background_color="default")),
        (command, run_of(kata, right)),
    ]
    drawn = [svg_of(frame, title, number) for number, (title, frame) in enumerate(frames)]
    width, height = (max(float(one[side]) for one in drawn) for side in ("width", "height"))
    style = STYLE + "".join(f".f{number}{{animation-delay:{number * SECONDS - LONG}s}}" for number in range(len(drawn)))
    body = "".join(f'<g class="f f{number}">{one[0].replace("<svg", TOP, 1)}</g>' for number, one in enumerate(drawn))
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"><style>{style}</style>{body}</svg>'
    )
    (PICTURES / "grade.svg").write_text(picture, encoding="utf-8")


def run_of(kata: Kata, source: str) -> Text:
    with tempfile.TemporaryDirectory() as folder:
        printed = printed_of(Path(folder), kata, source, FORCE_COLOR="1", COLUMNS=str(WIDTH), TERM="xterm-256color")
    return Text.from_ansi(ERASED.sub("", printed).strip())


def svg_of(frame: Text | Syntax, title: str, number: int) -> re.Match[str]:
    """Of a terminal that shows it, with its width and height."""
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(frame)
    console.print()  # without a line below it, the last one loses its underscores
    found = re.search(
        r'<svg [^>]*viewBox="0 0 (?P<width>[\d.]+) (?P<height>[\d.]+)".*</svg>',
        console.export_svg(title=title, unique_id=f"frame{number}"),
        re.DOTALL,
    )
    assert found
    return found


def printed_of(folder: Path, kata: Kata, source: str, **variables: str) -> str:
    """What `nox -s grade -- KATA` prints of a learner's file, in a clone that is made in the folder."""
    for of in (kata.folder, kata.solutions):
        shutil.copytree(of, folder / of.relative_to(kata.root))
    (folder / kata.answer_file.relative_to(kata.root)).write_text(source, encoding="utf-8")
    command = [*command_line(folder), "grade", kata.id]
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "COLUMNS", "NO_COLOR")}
    variables = kept | {"PYTHONIOENCODING": "utf-8"} | variables
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, check=False).stdout.decode()


def page() -> None:
    """To practise on, after a run."""
    from graders.author.bench import measuring, web  # it needs Playwright

    kata = katas.find_one(PRACTISED, ROOT)
    with measuring.copied(ROOT) as copy, web.served(copy) as (_, address), web.chromium() as browser:
        (copy / kata.answer_file.relative_to(kata.root)).write_text(WRITTEN, encoding="utf-8")
        shown = browser.new_page(viewport=SCREEN)
        shown.goto(address)
        shown.goto(urljoin(address, f"/kata/{kata.id}"))
        shown.wait_for_selector(".cm-content[aria-label]")
        shown.keyboard.press("Control+Enter")
        shown.wait_for_selector(".like")
        shown.get_by_role("button", name="Stop").wait_for(state="hidden")  # or else the mistake is still looked for
        shown.locator(".card dt", has_text="smallest").wait_for()
        shown.screenshot(path=PICTURES / "web.png")


def debug() -> None:
    """A symptom round, after the first run of its script."""
    from graders.author.bench import measuring, web

    with measuring.copied(ROOT) as copy, web.served(copy) as (_, address), web.chromium() as browser:
        shown = browser.new_page(viewport=SCREEN)
        shown.goto(address)
        shown.goto(urljoin(address, "/debug"))
        shown.get_by_label("Symptom round").select_option("gpt")
        shown.get_by_label("Seed").fill("5")
        shown.get_by_role("button", name="Begin").click()
        shown.wait_for_selector(".cm-content[aria-label]", timeout=LONGEST)
        shown.get_by_role("button", name="run", exact=True).click()
        shown.locator(".log p", has_text="Symptom:").wait_for(timeout=LONGEST)
        shown.screenshot(path=PICTURES / "debug.png")


if __name__ == "__main__":
    main()
