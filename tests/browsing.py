"""What tests of pages ask a browser."""

from __future__ import annotations

import time
from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page


def unfolded(page: Page) -> Page:
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    return page


def violations(page: Page) -> list[tuple[str, str]]:
    """What axe finds, and where it stands."""
    return [(one["id"], one["nodes"][0]["html"]) for one in Axe().run(page).response["violations"]]


def wait_for(there: Any, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.02)
