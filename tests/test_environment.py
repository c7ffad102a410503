"""What `.venv` is made of; what keeps it from being made is said in one sentence."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import NoReturn

import pytest

from graders.faults import ROOT

TORCH = "torch==2.13.0"
OFFLINE = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "1"}


def nox(folder: Path, *, noxfile: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs in a copy that has no environment."""
    for name in ("noxfile.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    if noxfile:
        text = (folder / "noxfile.py").read_text()
        (folder / "noxfile.py").write_text(text + noxfile)
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "NOX", "VIRTUAL"))}
    command = [sys.executable, "-m", "nox", "-s", "grade"]
    outside["KATAS_TORCH"] = "default"
    return subprocess.run(command, cwd=folder, env=outside | environment, capture_output=True, text=True, check=False)


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    said = [line for line in done.stderr.splitlines() if "Session grade aborted: " in line]
    assert len(said) == 1
    return said[0].partition("Session grade aborted: ")[2].partition(" (took")[0]


def ended_by(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """A session whose Python is this script."""
    (folder / "python").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "python").chmod(0o755)
    return nox(folder, noxfile='\nPYTHON = ROOT / "python"\nenvironment = lambda *_: None\n')


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals and no sh")
def test_what_is_begun_does_not_outlive_nox(tmp_path: Path) -> None:
    wait = "sleep 2  # until nox waits\nkill -TERM $PPID\nsleep 20 >&- 2>&- &\nwait"
    done = ended_by(tmp_path, f"trap 'echo ended; exit 7' TERM\n{wait}")
    assert (done.stdout, done.returncode) == ("ended\n", 7)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals and no sh")
def test_what_was_killed_is_told(tmp_path: Path) -> None:
    done = ended_by(tmp_path, "kill -KILL $$")
    assert "grade was ended by SIGKILL; if the terminal no longer shows what you type" in done.stderr
    assert done.returncode == 137


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
        ("\nOLDEST = (4, 0)\n", "Python 4.0 to 3.14 is needed, this is"),
        ("\nNEWEST = (3, 10)\n", "Python 3.11 to 3.10 is needed, this is"),
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
    assert "the disk is full: make room (torch takes 1.2 GB, with CUDA 5)" in sentence(nox(tmp_path, noxfile=change))


class Refused(Exception):
    """What ends a session."""


class Computer:
    """Linux without a GPU or uv, on which noxfile.py installs nothing: what it would run is kept."""

    def __init__(self, noxfile: ModuleType, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.noxfile, self.offered = noxfile, True
        self.said: list[str] = []
        self.ran: list[list[str]] = []
        self.devices: list[str] = []
        self.programs: dict[str, str] = {}
        self.sys = SimpleNamespace(platform="linux", version_info=(3, 11), executable="python", stdout=sys.stdout)
        for name, value in {
            "VENV": root,
            "PYTHON": root / "bin/python",
            "sys": self.sys,
            "Path": lambda _: SimpleNamespace(glob=lambda _: self.devices),
            "subprocess": SimpleNamespace(**vars(subprocess) | {"run": self.run}),
            "shutil": SimpleNamespace(which=self.programs.get, disk_usage=shutil.disk_usage),
        }.items():
            patch.setattr(noxfile, name, value)
        patch.delenv("KATAS_TORCH", raising=False)

    def log(self, said: str) -> None:
        self.said.append(said)

    def error(self, said: str) -> NoReturn:
        raise Refused(said)

    def run(self, command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.ran.append(command)
        missing = command[-1] == f"{TORCH}+cpu" and not self.offered
        return subprocess.CompletedProcess(command, int(missing), "", "ERROR: none" if missing else "")

    def installs(self) -> list[list[str]]:
        """What is asked of the installers, without their first words; the last names all that is wanted."""
        self.noxfile.environment(self, "learn")
        made, *installs = self.ran
        assert made == ["python", "-m", "virtualenv", "--quiet", "--clear", str(self.noxfile.VENV)]
        return [command[command.index("install") + 1 :] for command in installs]


@pytest.fixture(scope="module")
def noxfile() -> ModuleType:
    spec = importlib.util.spec_from_file_location("noxfile_tried", ROOT / "noxfile.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture
def computer(noxfile: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Computer:
    return Computer(noxfile, tmp_path, monkeypatch)


def test_without_a_gpu_the_cpu_build_comes_first(computer: Computer) -> None:
    first, second = computer.installs()
    assert first == ["--no-deps", f"{TORCH}+cpu"]
    assert second[0] == TORCH
    assert computer.said[1].startswith("took torch's CPU build")


def test_without_a_cpu_build_the_usual_one_is_taken_and_told(computer: Computer) -> None:
    computer.offered = False
    _, second = computer.installs()
    assert second[0] == TORCH
    assert computer.said[1].startswith("no index has torch's CPU build: the usual one for Linux is 2.8 GB")


@pytest.mark.parametrize("reason", ["device", "driver", "macOS", "choice"])
def test_elsewhere_torch_comes_from_where_all_else_does(
    computer: Computer, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason == "device":
        computer.devices.append("/dev/nvidia0")
    elif reason == "driver":
        computer.programs["nvidia-smi"] = "/usr/lib/wsl/lib/nvidia-smi"
    elif reason == "macOS":
        computer.sys.platform = "darwin"
    else:
        monkeypatch.setenv("KATAS_TORCH", "default")
    (only,) = computer.installs()
    assert only[0] == TORCH
    assert len(computer.said) == 1


def test_another_index_can_be_named(computer: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    computer.devices.append("/dev/nvidia0")
    monkeypatch.setenv("KATAS_TORCH", "https://mirror.example/cpu")
    first, _ = computer.installs()
    assert first == ["--no-deps", "--extra-index-url", "https://mirror.example/cpu", f"{TORCH}+cpu"]


def test_an_index_that_was_named_has_to_have_it(computer: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    computer.offered = False
    monkeypatch.setenv("KATAS_TORCH", "https://mirror.example/cpu")
    with pytest.raises(Refused, match="torch's CPU build could not be had: pip says 'ERROR: none'"):
        computer.installs()


def test_a_choice_that_is_none_is_refused_before_anything_is_made(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATAS_TORCH", "cuda")
    with pytest.raises(Refused, match="should be default or the address of an index of CPU builds, got 'cuda'"):
        computer.installs()
    assert computer.ran == []


def test_uv_installs_where_it_is_there(computer: Computer) -> None:
    computer.programs["uv"] = "/bin/uv"
    first, _ = computer.installs()
    assert first == ["--python", str(computer.noxfile.PYTHON), "--no-deps", "--torch-backend", "cpu", f"{TORCH}+cpu"]
    for command in computer.ran[1:]:
        assert command[:5] == ["/bin/uv", "pip", "install", "--python", str(computer.noxfile.PYTHON)]


@pytest.mark.parametrize(
    ("stderr", "wanted"),
    [
        ("error: Failed to fetch: https://…\n  cause: dns error", "the package index cannot be reached: check the"),
        ("error: no such file\n  cause: none", "uv says 'error: no such file': mend that, then run this again"),
        ("  × No solution found:\n  ╰─▶ no torch", "uv says '  ╰─▶ no torch': mend that, then run this again"),
    ],
)
def test_what_uv_died_of_is_said(computer: Computer, stderr: str, wanted: str) -> None:
    assert computer.noxfile.trouble(stderr, "uv").startswith(wanted)


def test_what_comes_beside_torch_needs_little_room(computer: Computer) -> None:
    computer.installs()
    computer.noxfile.PYTHON.parent.mkdir()
    computer.noxfile.PYTHON.touch()
    computer.noxfile.shutil.disk_usage = lambda _: SimpleNamespace(free=1 << 30)
    computer.noxfile.environment(computer, "web")
    for stamp in computer.noxfile.VENV.glob(".*-*"):
        stamp.unlink()
    with pytest.raises(Refused, match="less than 3 GB of disk is free"):
        computer.noxfile.environment(computer, "web")


def test_nox_is_silent_about_uv(tmp_path: Path) -> None:
    done = nox(tmp_path, noxfile="\nOLDEST = (4, 0)\n", UV="no-such-uv")
    assert "Session grade aborted" in done.stderr
    assert "uv" not in done.stderr


class Linting:
    """A session in which some tools find something."""

    def __init__(self, noxfile: ModuleType, *posargs: str) -> None:
        self.noxfile, self.posargs = noxfile, [*posargs]
        self.ran: list[str] = []

    def error(self, said: str) -> NoReturn:
        raise Refused(said)

    def run(self, program: str, *arguments: str, **_: object) -> None:
        self.ran.append(" ".join([Path(program).name, *arguments]))
        if self.ran[-1] in ("ruff check .", "mypy"):
            raise self.noxfile.nox.command.CommandFailed


def test_lint_runs_all_its_tools_and_names_those_that_found_something(
    noxfile: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noxfile, "environment", lambda session, group: None)
    linting = Linting(noxfile)
    with pytest.raises(Refused, match=r"^something is left to mend, see above what they say: ruff check, mypy$"):
        noxfile.lint(linting)
    *others, prose = linting.ran
    assert others == ["ruff check .", "ruff format --check .", "mypy", "zizmor --offline --quiet .github"]
    assert prose == "python -m graders.author.prose"
    mending = Linting(noxfile, "--fix")
    with pytest.raises(Refused, match="mypy"):
        noxfile.lint(mending)
    assert mending.ran[:2] == ["ruff check --fix .", "ruff format ."]
    with pytest.raises(Refused, match=r"^lint takes --fix alone, .* got \['--fixed'\]$"):
        noxfile.lint(Linting(noxfile, "--fixed"))
