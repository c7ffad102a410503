"""The report: `tally` counts, `charts` draws, `page` puts both into report.html.jinja, `picture` is for others."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    report = commands.add_parser(
        "report", help="one HTML page of all you did", description="Writes one HTML page, readable offline."
    )
    report.set_defaults(module="graders.report.page")
    report.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="write a picture of your progress instead, to share: an .svg or a .png",
    )
    report.add_argument("--output", type=Path, metavar="FILE", help="where; default: .kata/report.html")
