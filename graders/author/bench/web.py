"""The page to practise on, timed in a real browser: the first page, the map, a run beside a save in `watch`."""

from __future__ import annotations

import argparse
import contextlib
import shutil
import statistics
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urljoin

import psutil  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, sync_playwright

from graders.arguments import command_line
from graders.author.bench.measuring import TIMES, USUAL, Figure, copied, sample, tell, watching
from graders.catalogue.katas import Kata
from graders.faults import ROOT, UsageError

SAMPLE, SAVES = 5, 5  # katas along the path, and saves of each
IDLE_SECONDS = 10
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def figures(root: Path, options: argparse.Namespace, torch: float) -> Iterator[Figure]:
    """Raises: UsageError where there is no browser."""
    program()  # before minutes are spent
    tell("first page")
    first = statistics.median(first_seconds(root) for _ in range(options.runs))
    yield "first page after the command", first / torch, TIMES, 2.0
    with copied(root) as copy, served(copy) as (process, address), chromium() as browser:
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector(".map")
        more = [seconds_more(page, address, copy, kata) for kata in sample(root, SAMPLE)]
        yield "from Run to the card, more than watch takes", statistics.median(more) / torch, TIMES, 0.3
        drawn = statistics.median(map_milliseconds(page, address) for _ in range(options.runs))
        yield "the map in the browser", drawn, "ms", 300
        tell("web: try")
        page.goto(urljoin(address, "/kata/softmax"))
        page.wait_for_selector(".cm-content[aria-label]")
        page.evaluate("katas.pane('try')")
        yield "from Try it to both values", statistics.median(try_seconds(page) for _ in range(SAVES)), "s", 0.5
        yield "idle with a page open", idle_percent(page, address, process.pid), "% of a core", 1.0


def program() -> str:
    """The browser's. Raises: UsageError where there is none."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if not found:
        raise UsageError(f"no browser is installed that could be driven; install one of {', '.join(CHROMIUM)}")
    return found


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Raises: UsageError where there is none."""
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=program(), args=["--headless", "--no-sandbox"])


@contextlib.contextmanager
def served(root: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server's process, and the address that it prints."""
    command = [*command_line(root), "web", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=USUAL) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def first_seconds(root: Path) -> float:
    """From the command to the first page's HTML, by one request as a browser makes it."""
    with copied(root) as copy:
        began = time.perf_counter()
        with served(copy) as (_, address):
            client = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
            with client.open(address) as page:
                page.read()
            return time.perf_counter() - began


def map_milliseconds(page: Page, address: str) -> float:
    """From the click on a link to the rows, for somebody who was there before."""
    page.goto(urljoin(address, "/"), wait_until="commit")
    page.wait_for_selector(".map .kata")
    return float(page.evaluate("performance.now()"))


def seconds_more(page: Page, address: str, root: Path, kata: Kata) -> float:
    """From Run to the card, less what `watch` takes for the same save: in turn, as slow spells should hit both."""
    tell(f"web: {kata.id}")
    text = kata.reference_file.read_text(encoding="utf-8")
    (root / kata.answer_file.relative_to(kata.root)).write_text(text, encoding="utf-8")
    page.goto(urljoin(address, f"/kata/{kata.id}"))
    page.wait_for_selector(".cm-content[aria-label]")
    run_seconds(page, "")  # imports the grader
    with watching(kata) as saved:
        lines = [f"# {number}\n" for number in range(SAVES)]
        return statistics.median(run_seconds(page, line) - saved(text + line) for line in lines)


def run_seconds(page: Page, line: str) -> float:
    """From Run to the card, with another line at the end."""
    before = page.evaluate("document.querySelector('[data-at]')?.dataset.at || ''")
    page.click(".cm-content")
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(line)
    began = time.perf_counter()
    page.keyboard.press("Control+Enter")
    changed = "before => (document.querySelector('[data-at]')?.dataset.at || '') !== before"
    page.wait_for_function(changed, arg=before, timeout=120_000)
    return time.perf_counter() - began


def try_seconds(page: Page) -> float:
    """From the button to what came of the statement's example."""
    page.get_by_role("button", name="The example").click()
    page.wait_for_selector(".tried", state="detached")
    began = time.perf_counter()
    page.click("#try")
    page.wait_for_selector(".tried")
    return time.perf_counter() - began


def idle_percent(page: Page, address: str, pid: int) -> float:
    tell("web: idle")
    page.goto(urljoin(address, "/kata/softmax"))
    time.sleep(3)
    server = psutil.Process(pid)
    before = server.cpu_times()
    time.sleep(IDLE_SECONDS)
    after = server.cpu_times()
    return float(100 * (after.user + after.system - before.user - before.system) / IDLE_SECONDS)
