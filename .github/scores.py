"""Turns results.json into a Markdown table, and into the files of the branch `scores`. Standard library only.

    scores.py RESULTS                   prints the table
    scores.py RESULTS COMMIT FOLDER     adds this push to FOLDER/history.csv, and makes from it README.md, badge.json
                                        and history.svg; where GITHUB_REPOSITORY says whose, a notebook for Colab also

RESULTS comes from a job that ran a learner's code, so nothing in it is trusted: names are checked against the katas
that exist, numbers are made numbers, and no other text is passed on. Nor is history.csv, which anybody with the right
to write may have edited: a line that this could not have written is left out.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STATES = ("solved", "failing", "todo", "error")
LONGEST = 50 << 20
HEAD = "date,commit,score,most,katas,run"
HEADS = ("", HEAD, HEAD.removesuffix(",run"))  # older lines have no number of the run
DATE = "%Y-%m-%dT%H:%M:%SZ"
LINE = re.compile(
    r"([\d-]{10}T[\d:]{8}Z),([0-9a-f]{40}),\d{1,6},(\d{1,6}),((?:[a-z]\w{0,63}=\d{1,3} ?)*)(?:,(\d{1,9}))?", re.ASCII
)
POINTS = re.compile(r"(\w+)=(\d+)", re.ASCII)
COLOURS = ((1, "brightgreen"), (0.75, "green"), (0.4, "yellow"), (0, "orange"))  # of the badge, from this share on
WIDTH, HEIGHT = 600, 160  # of what is drawn within the axes
MOST_DATES = 5
README = """# {solved} of {count} katas solved

{badge}![The best and the current score after each push](history.svg)

{showcase}{trying}<details>
<summary>All points</summary>

The table has the points of the newest push, and the best of all pushes. This fork's own workflow found them;
SECURITY.md says what they are worth.

{table}

</details>"""
BADGE = "[![katas, best](https://img.shields.io/endpoint?url={raw}/{whose}/scores/badge.json)]({home}/{whose})\n\n"
TRYING = """Try these katas without installing anything: [the first one in
Colab]({colab}/{whose}/blob/scores/{notebook}), or all of them in [a Codespace](https://codespaces.new/{whose}).

"""
FIRST = "docs/first_kata.ipynb"
SITES = {
    "home": "https://github.com",
    "raw": "https://raw.githubusercontent.com",
    "colab": "https://colab.research.google.com/github",
    "notebook": Path(FIRST).name,
}
FORK = "https://github.com/YOU/YOUR-FORK"  # as it stands in the notebook

Row = tuple[str, str, int]  # a kata, its state and its points, of 100


@dataclass(frozen=True)
class Push:
    """A line of history.csv: the points of each kata that had any, so that the best of each can be told later."""

    date: str
    commit: str
    most: int
    points: dict[str, int]
    run: int  # GitHub counts the runs of the workflow as they begin; 0 where it was not written down

    @property
    def line(self) -> str:
        katas = " ".join(f"{kata}={points}" for kata, points in self.points.items())
        run = f",{self.run}" * bool(self.run)
        return f"{self.date},{self.commit},{sum(self.points.values())},{self.most},{katas}{run}"


def main(arguments: list[str]) -> int:
    """Exit status: 2 where the file is no results document."""
    results, *published = arguments
    try:
        rows = read(Path(results))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        print(f"error: no results document: {type(error).__name__}", file=sys.stderr)  # the rest may quote the file
        return 2
    if published:
        commit, folder = published
        publish(rows, commit, Path(folder))
    else:
        print(table(rows))
    return 0


def read(path: Path) -> list[Row]:
    """Of each kata of this repository that the document speaks of."""
    if path.stat().st_size > LONGEST:
        raise ValueError("too long")
    katas = existing_katas()
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    rows = []
    for result in document["results"]:
        name, state = result["kata"], result["state"]
        if name in katas and state in STATES:
            del katas[name]
            if type(result["score"]) is not int:
                raise ValueError("no score")
            rows.append((name, state, max(0, min(100, result["score"]))))
    return rows


def existing_katas() -> dict[str, str]:
    """Name -> topic."""
    return {one.name: one.parent.name for one in ROOT.glob("katas/*/*") if one.is_dir()}


def publish(rows: list[Row], commit: str, folder: Path) -> None:
    """Graded again with the same outcome, a commit gets no second line after its first; with another, it does.

    Runs end in any order: an older push that is published late takes its place before the newer ones.
    """
    history, run = read_history(folder / "history.csv"), int(os.environ.get("GITHUB_RUN_NUMBER", "0"))
    pushed = os.environ.get("PUSHED", "")  # in seconds, where a push began the run
    date = (datetime.fromtimestamp(int(pushed), UTC) if pushed.isdecimal() else datetime.now(UTC)).strftime(DATE)
    push = Push(date, commit, 100 * len(rows), {name: points for name, _, points in sorted(rows) if points}, run)
    newer = [*itertools.takewhile(lambda one: one.run > run > 0, reversed(history))][::-1]
    older = history[: len(history) - len(newer)]
    if not older or (older[-1].commit, older[-1].points) != (commit, push.points):
        older.append(push)
    history = older + newer
    if newer:
        points = newer[-1].points
        states = {0: "todo", 100: "solved"}  # of others the line does not say more
        rows = [(name, states.get(points.get(name, 0), "failing"), points.get(name, 0)) for name, *_ in rows]
    katas = existing_katas()  # a kata that is gone keeps its points in the file, and counts no more
    best = {name: max(one.points.get(name, 0) for one in history) for name in katas}
    ungraded = sorted(katas.keys() - {name for name, *_ in rows})
    rows = rows + [(name, "not graded", 0) for name in ungraded if best[name]]
    most, reached = 100 * len(rows), sum(best.values())
    colour = next(colour for share, colour in COLOURS if reached >= share * most) if most else "lightgrey"
    badge = {"schemaVersion": 1, "label": "katas, best", "message": f"{reached}/{most}", "color": colour}
    whose = os.environ.get("GITHUB_REPOSITORY", "")
    for name, text in {
        "history.csv": "\n".join([HEAD, *(one.line for one in history)]),
        "history.svg": drawing(history, set(katas), most),
        "badge.json": json.dumps(badge),
        "README.md": README.format(
            count=len(katas),
            table=table(rows, best),
            badge=BADGE.format(whose=whose, **SITES) if whose else "",
            trying=TRYING.format(whose=whose, **SITES) if whose else "",
            **solved(history, katas, whose),
        ),
        **notebook(whose),
    }.items():
        (folder / name).write_text(text + "\n", encoding="utf-8")


def solved(history: list[Push], katas: dict[str, str], whose: str) -> dict[str, Any]:
    """How many katas were ever solved, and a table of them, the newest first."""
    days = {name: push.date[:10] for push in reversed(history) for name, score in push.points.items() if score == 100}
    names = sorted((name for name in days if name in katas), key=lambda name: (days[name], name), reverse=True)
    lines = ["| solved | topic | on |", "| --- | --- | --- |"]
    for name in names:
        link = f"[{name}]({SITES['home']}/{whose}/tree/main/katas/{katas[name]}/{name})" if whose else name
        lines.append(f"| {link} | {katas[name]} | {days[name]} |")
    return {"solved": len(names), "showcase": "\n".join([*lines, "", ""]) if names else ""}


def notebook(whose: str) -> dict[str, str]:
    """The first kata's, with the address of the fork, which Colab could not know."""
    first = ROOT / FIRST
    if not (whose and first.exists()):
        return {}
    return {first.name: first.read_text(encoding="utf-8").replace(FORK, f"{SITES['home']}/{whose}").rstrip()}


def read_history(path: Path) -> list[Push]:
    """Without the lines that cannot be read: it says how many these are."""
    if not path.exists():
        return []
    lines = [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    found = [LINE.fullmatch(line) for line in lines if line not in HEADS]
    if None in found:
        print(f"left out lines of history.csv that cannot be read: {found.count(None)}", file=sys.stderr)
    return [
        Push(date, commit, int(most), {name: min(100, int(n)) for name, n in POINTS.findall(katas)}, int(run or 0))
        for date, commit, most, katas, run in (one.groups() for one in found if one)
    ]


def table(rows: list[Row], best: dict[str, int] | None = None) -> str:
    """With a column of the best points of each kata, where they are known."""
    lines = ["| kata | verdict | score |", "| --- | --- | ---: |"]
    lines += [f"| {name} | {state} | {points}/100 |" for name, state, points in rows]
    most = 100 * len(rows)
    lines.append(f"| **all** | | **{sum(points for *_, points in rows)}/{most}** |")
    if best is not None:
        column = ["best", "---:", *(f"{best[name]}/100" for name, *_ in rows), f"**{sum(best.values())}/{most}**"]
        lines = [f"{line} {cell} |" for line, cell in zip(lines, column, strict=True)]
    return "\n".join(lines)


def drawing(history: list[Push], katas: set[str], most: int) -> str:
    """An SVG with a step for each push. By hand: a library would have to be installed beside a token that can write."""
    current, best, so_far = [], [], dict.fromkeys(katas, 0)
    for push in history:
        so_far = {name: max(points, push.points.get(name, 0)) for name, points in so_far.items()}
        current.append(sum(points for name, points in push.points.items() if name in katas))
        best.append(sum(so_far.values()))
    step, last = WIDTH / len(history), len(history) - 1

    def path(scores: list[int]) -> str:
        return f"M0 {y(scores[0])}" + "".join(f"V{y(score)}H{(n + 1) * step:.1f}" for n, score in enumerate(scores))

    def y(score: float) -> str:
        return f"{HEIGHT * (1 - score / max(most, 1)):.1f}"

    grid = [
        f'<path d="M0 {y(score)}H{WIDTH}"/><text class="end" x="-8" y="{y(score)}" dy="4">{score}</text>'
        for score in (0, most // 2, most)
    ]
    dates = [
        f'<text class="middle" x="{(n + 0.5) * step:.1f}" y="{HEIGHT + 20}">{history[n].date[:10]}</text>'
        for n in sorted({round(k * last / (MOST_DATES - 1)) for k in range(MOST_DATES)})
    ]
    return SVG.format(
        title=f"Best {best[-1]} and current {current[-1]} of {most} points after push {len(history)}",
        since=history[0].date[:10],
        until=history[-1].date[:10],
        marks="\n".join(grid + dates),
        best=path(best),
        current=path(current),
        reached=best[-1],
        now=current[-1],
        most=most,
    )


SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="-60 -40 720 240" role="img" aria-labelledby="title desc">
<title id="title">{title}</title>
<desc id="desc">A step for each push, from {since} to {until}: the katas' best points, and those at that push.</desc>
<style>
svg {{ --paper: #fbfaf7; --ink: #1f1e1b; --quiet: #5b5850; --rule: #ddd8cc; --accent: #1d5b79; }}
@media (prefers-color-scheme: dark) {{
svg {{ --paper: #15181a; --ink: #e9e6de; --quiet: #aaa69b; --rule: #363b3e; --accent: #8cc5e0; }} }}
text {{ font: 12px system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif; fill: var(--quiet); }}
.middle {{ text-anchor: middle; }} .end {{ text-anchor: end; }} .paper {{ fill: var(--paper); }}
path {{ fill: none; stroke: var(--rule); }}
.best {{ stroke: var(--accent); stroke-width: 2.5; }} .current {{ stroke: var(--ink); stroke-dasharray: 4 3; }}
</style>
<rect class="paper" x="-60" y="-40" width="720" height="240"/>
{marks}
<path class="best" d="{best}"/>
<path class="current" d="{current}"/>
<path class="best" d="M0 -22h24"/><text x="30" y="-18">best {reached}</text>
<path class="current" d="M120 -22h24"/><text x="150" y="-18">current {now}</text>
<text x="240" y="-18">of {most} points</text>
</svg>"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
