"""What keeps `.venv` from being made is said in one sentence. Each time nox runs in a copy that has no environment."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graders.faults import ROOT

OFFLINE = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "1"}


def nox(folder: Path, *, noxfile: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    for name in ("noxfile.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    if noxfile:
        text = (folder / "noxfile.py").read_text()
        (folder / "noxfile.py").write_text(text + noxfile)
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "NOX", "VIRTUAL"))}
    command = [sys.executable, "-m", "nox", "-s", "grade"]
    return subprocess.run(command, cwd=folder, env=outside | environment, capture_output=True, text=True, check=False)


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    said = [line for line in done.stderr.splitlines() if "Session grade aborted: " in line]
    assert len(said) == 1
    return said[0].partition("Session grade aborted: ")[2].partition(" (took")[0]


def test_no_network(tmp_path: Path) -> None:
    done = nox(tmp_path, **OFFLINE, PIP_INDEX_URL="http://127.0.0.1:9/simple")
    wanted = "the package index cannot be reached: check the network, then run this again"
    assert sentence(done).rstrip(".") == f".venv could not be made: {wanted}"
    assert "Retrying" not in done.stderr


def test_what_pip_says_is_passed_on(tmp_path: Path) -> None:
    done = nox(tmp_path, **OFFLINE, PIP_NO_INDEX="1")
    assert "pip says 'ERROR: No matching distribution found for torch" in sentence(done)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ("\nOLDEST = (4, 0)\n", "Python 4.0 or newer is needed, this is"),
        ("\nshutil.disk_usage = lambda path: shutil._ntuple_diskusage(1, 1, 2 << 30)\n", "less than 3 GB of disk is"),
    ],
)
def test_a_wrong_python_and_a_full_disk_are_told_at_once(tmp_path: Path, change: str, wanted: str) -> None:
    assert sentence(nox(tmp_path, noxfile=change)).startswith(wanted)
    assert not (tmp_path / ".venv").exists()


def test_a_disk_that_fills_up_on_the_way(tmp_path: Path) -> None:
    """Pip's own words for it, from a pip that finds nothing but a full disk."""
    full = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
    change = f"\nPIP = {full!r}\n_run = subprocess.run\n" + (
        "def _full(command, **how):\n"
        "    told = [command[0], '-c', f'import sys; sys.exit({PIP!r})']\n"
        "    return _run(told if 'pip' in command else command, **how)\n"
        "subprocess.run = _full\n"
    )
    assert "the disk is full: make room (torch needs about 3 GB)" in sentence(nox(tmp_path, noxfile=change))
