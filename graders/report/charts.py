"""Charts as inline SVG: pygal does the geometry, the page's style sheet the looks, so that they follow its theme."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import pygal  # type: ignore[import-untyped]
from markupsafe import Markup
from pygal.etree import etree  # type: ignore[import-untyped]
from pygal.style import Style  # type: ignore[import-untyped]

from graders.report.tally import Span

# Text keeps its size, so there is a drawing for each width of screen; the style sheet shows one of them.
# Its width, its height, and the most labels of its axis of time.
SIZES = {"wide": (928, 260, 8), "middle": (640, 240, 6), "narrow": (320, 210, 3)}
DISTANCES = (1, 2, 7, 14, 28, 56, 91, 182)  # days between two labels
YEAR = 365
STEPS = (1, 2, 3, 5)
MOST_TICKS = 4
CHEAPEST = -3  # as a power of two: what costs less still stands at that end of its axis
MOST_DOUBLINGS = 4  # that have a label each


def points_over_time(found: Sequence[Span], most: int) -> Markup:
    """A line that steps up on the days on which a best score rose, with a dot where a kata was solved."""
    first = found[0].begins
    places = [(day.begins - first).days for day in found]
    corners = [(0, 0)]
    for place, day in zip(places, found, strict=True):
        corners += [(place, corners[-1][1]), (place, day.points)]
    dots = [
        {"value": (place, day.points), "tooltip": f"{words(day.begins)}: solved {', '.join(day.solved)}"}
        for place, day in zip(places, found, strict=True)
        if day.solved
    ]
    title = f"Points from {words(first)} to {words(found[-1].begins)} {found[-1].begins:%Y}"
    told = f"The best scores of all katas, added up, rise to {found[-1].points} of {most}. The table below has them."

    labels = ticks(found[-1].points)

    def drawn(size: str) -> Markup:
        chart = pygal.XY(xrange=(0, places[-1]), range=(0, labels[-1]), **settings(size))
        chart.x_labels = dates(first, places[-1], SIZES[size][2])
        chart.y_labels = labels
        chart.add("area", corners, show_dots=False, fill=True)
        chart.add("line", corners, show_dots=False)
        chart.add("solved", dots, stroke=False)
        return finished(chart, f"points-{size}", size, title, told)

    return Markup("\n").join(map(drawn, SIZES))


def settings(size: str) -> dict[str, Any]:
    width, height, _ = SIZES[size]
    return {
        "width": width,
        "height": height,
        "explicit_size": True,
        "margin": 4,
        "margin_top": 10,
        "margin_right": 26,  # half a label
        "dots_size": 4,
        "show_legend": False,
        "show_x_guides": False,
        "truncate_label": -1,
        "style": Style(label_font_size=13, major_label_font_size=13),
        "disable_xml_declaration": True,
    }


def ticks(most: int) -> list[int]:
    """Round numbers from 0 to `most` or just beyond it."""
    step = next(
        step * 10**power for power in range(9) for step in STEPS if step * 10**power * MOST_TICKS >= max(most, 1)
    )
    return [step * i for i in range(-(-max(most, 1) // step) + 1)]


def dates(first: date, days: int, most: int) -> list[dict[str, Any]]:
    """Labels at equal distances."""
    step = next(step for step in itertools.chain(DISTANCES, itertools.count(364, 364)) if days // step < most)
    form = words if days < YEAR else month
    return [{"value": at, "label": form(first + timedelta(days=at))} for at in range(0, days + 1, step)]


def words(day: date) -> str:
    return f"{day.day} {day:%b}"


def month(day: date) -> str:
    return f"{day:%b} {day:%Y}"


def finished(chart: Any, name: str, size: str, title: str, told: str) -> Markup:
    """Leaves only shapes and words, and says what they show."""
    root = chart.render_tree()
    for parent in list(root.iter()):
        for child in list(parent):
            if needless(parent, child):
                parent.remove(child)
    for tag, text in (("desc", told), ("title", title)):
        node = etree.Element(tag, id=f"{name}-{tag}")
        node.text = text
        root.insert(0, node)
    root.attrib.update({"id": name, "class": f"chart {size}", "role": "img"})
    root.attrib.update({"aria-labelledby": f"{name}-title", "aria-describedby": f"{name}-desc"})
    drawn = etree.tostring(root, encoding="unicode")
    return Markup(re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.1f}", drawn))


def needless(parent: Any, child: Any) -> bool:
    """Scripts, styles and comments with the date; titles that say a position."""
    if not isinstance(child.tag, str) or child.tag in ("defs", "desc"):
        return True
    tip = parent.get("class") in ("dots", "bar")
    return (child.tag == "title" and not tip) or "tooltip-overlay" in child.get("class", "")


def place(ratio: float, ratios: Sequence[float]) -> float:
    """Where a ratio stands, in per cent, on an axis of doublings that has room for all of them."""
    low, high = ends(ratios)
    return round(100 * (max(math.log2(ratio) if ratio else low, low) - low) / (high - low), 1)


def doublings(ratios: Sequence[float]) -> list[tuple[float, str]]:
    """The labels of that axis, and where they stand."""
    low, high = ends(ratios)
    every = 1 + (high - low) // (MOST_DOUBLINGS + 1)
    texts = {-3: "⅛", -2: "¼", -1: "½"}
    powers = [power for power in range(low, high + 1) if power % every == 0]
    return [(place(2.0**power, ratios), texts.get(power, str(2 ** max(power, 0)))) for power in powers]


def ends(ratios: Sequence[float]) -> tuple[int, int]:
    """The least and the greatest power of two on the axis; half and double are always on it."""
    powers = [math.log2(ratio) for ratio in ratios if ratio]
    return max(CHEAPEST, math.floor(min([-1, *powers]))), math.ceil(max([1, *powers]))
