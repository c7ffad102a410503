"""Pages to practise on, in the browser: katas on the files that `watch` judges, interviews, debug rounds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent  # of the templates, the style and the script


def port(text: str) -> int:
    value = int(text)
    if not 0 <= value < 1 << 16:
        raise argparse.ArgumentTypeError(f"a port should be from 0 to {(1 << 16) - 1}, got {value}")
    return value


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    web = commands.add_parser(
        "web",
        help="practise in the browser",
        description="Serves pages of katas, interviews and debug rounds to this machine alone, until Ctrl-C.",
    )
    web.set_defaults(module="graders.web.main")
    web.add_argument("kata", nargs="?", metavar="KATA", help="which kata to open; default: the map of all katas")
    web.add_argument(
        "--port",
        type=port,
        metavar="N",
        help="which port; default: the last one used (at first 8421), or a free one if that is taken",
    )
    web.add_argument("--no-browser", action="store_true", help="only print the address")
    web.add_argument(
        "--root-path",
        default="",
        metavar="PREFIX",
        help="where a proxy shows the page, such as /user/ada/proxy/8421, or the whole address with its host",
    )
