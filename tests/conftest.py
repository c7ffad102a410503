from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from graders.faults import ROOT
from tests import clusters
from tests.clusters import Shared
from tests.toys import make_repository

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# As in whatever judges: threads that wait for a busy processor keep it busy, and a test took up to ten times as long.
torch.set_num_threads(1)
collect_ignore = ["pack"]  # else its graders would be collected, and would grade its stub
# Where the tests are a background job of a shell, Ctrl-C is ignored in them and in all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
# What a test takes a sample of is another one at each commit, which is in the test's name and brings it back.
# Here, since pytest-xdist's workers have the environment of the process that starts them.
COMMIT = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
os.environ.setdefault("KATAS_SAMPLE", COMMIT.stdout.strip() or "no commit")


@pytest.fixture
def toys(tmp_path: Path) -> Path:
    """A repository with two toy katas."""
    return make_repository(tmp_path)


@pytest.fixture(scope="session")
def shared() -> Iterator[Shared]:
    """To start Dask's scheduler and a worker for each class takes longer than to judge a small one."""
    with contextlib.ExitStack() as stack:
        address, _ = clusters.scheduler(stack)
        clusters.worker(stack, address)
        yield "--scheduler", address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not program:
        pytest.skip("no Chromium is installed")
    from playwright.sync_api import sync_playwright

    flags = "headless no-sandbox disable-gpu no-first-run disable-background-networking disable-component-update"
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=program, args=[f"--{flag}" for flag in (*flags.split(), "disable-sync")]
        )
        yield made
        made.close()
