"""`report --picture`: what a learner solved, by topic, as a picture for others: numbers, and no text of theirs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

from resvg_py import svg_to_bytes

from graders import pages
from graders.catalogue import katas
from graders.desk.state import State
from graders.desk.status import groups, overview
from graders.faults import UsageError
from graders.files import make_room, replace_file
from graders.report import tally


def main(file: Path, root: Path) -> int:
    kind = file.suffix.lower()
    if kind not in (".svg", ".png"):
        raise UsageError(f"a picture should end in .svg or .png, got {file}")
    state = State(root)
    desk = overview(state, katas.all_katas(root))
    days = [one.begins for one in tally.days(state.events(), list(desk.katas)) if one.attempts]
    state.close()
    topics = {
        topic: (sum(desk.progress[kata.id].solved > 0 for kata in group), len(group))
        for topic, group in groups(desk, False, list(desk.katas.values())).items()
    }
    template = pages.environment(Path(__file__).parent).get_template("picture.svg.jinja")
    make_room(file, "name another file with --picture")
    drawn = template.render(topics=topics, count=len(desk.katas), days=days, streak=streak(days))
    replace_file(file, drawn if kind == ".svg" else svg_to_bytes(svg_string=drawn, zoom=2))
    print(f"wrote {file}; open {file.resolve().as_uri()}")
    return 0


def streak(days: Sequence[date]) -> int:
    """Of these days, in their order, the most that follow each other without a gap."""
    starts = (day - timedelta(days=place) for place, day in enumerate(days))
    return max((len([*run]) for _, run in itertools.groupby(starts)), default=0)
