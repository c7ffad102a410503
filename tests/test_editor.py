"""Plain pytest, and an editor's test explorer, on a clone as it is: nothing of the user's is set up."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from graders.desk.state import Event, State
from graders.faults import ROOT
from graders.grade.plugin import line_of, lines_of
from graders.web.server import USUAL_PORT
from tests.toys import MODULE_REFERENCE, REFERENCE, make_clone

WRONG = REFERENCE.replace("x / (1 / factor)", "x / factor")
IDS = [f"katas/toys/scale/grader.py::numerics/three_by_five/{dtype}" for dtype in ("float64", "float32")]

# Looks at a session as VS Code's explorer does: absolute paths and ids, lines, folders up to the root, then outcomes.
EXPLORER = """
import json, pathlib, pytest

outcomes = {}

def absolute(item, nodeid):
    return "::".join([str(item.path), *nodeid.split("::")[1:]])

@pytest.hookimpl(hookwrapper=True)
def pytest_report_teststatus(report, config):
    if report.when == "call":
        outcomes[report.nodeid] = [report.outcome, report.longreprtext if report.failed else None]
    yield

def pytest_sessionfinish(session):
    found = []
    for item in session.items:
        assert isinstance(item.parent, pytest.File) and not hasattr(item, "callspec")
        folders = [folder.name for folder in item.parent.path.parents if folder.is_relative_to(session.path)]
        found.append({
            "id": absolute(item, item.nodeid),
            "name": item.name,
            "file": item.location[0],
            "line": item.location[1],
            "folders": folders[:-1],
            "outcome": outcomes.get(item.nodeid),
        })
    pathlib.Path("explored.json").write_text(json.dumps(found))
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_clone(tmp_path_factory.mktemp("clone"))
    (root / "explorer.py").write_text(EXPLORER)
    (root / "katas/toys/scale/scale.py").write_text(WRONG)
    (root / "katas/toys/affine/affine.py").write_text(MODULE_REFERENCE)
    return root


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("CI", "PYTEST", "COV"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=folder,
        env=outside | {"NO_COLOR": "1"} | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def explored(clone: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((clone / "explored.json").read_text(encoding="utf-8"))
    return found


def remembered(clone: Path) -> list[Event]:
    if not (clone / ".kata").exists():
        return []
    state = State(clone)
    events = state.events()
    state.close()
    return events


def settings_in(path: str) -> dict[str, Any]:
    """JSON with comments."""
    text = (ROOT / path).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(re.sub(r"^ *//.*$", "", text, flags=re.MULTILINE))
    return found


def test_the_settings_for_vs_code_are_committed() -> None:
    settings = settings_in(".vscode/settings.json")
    assert settings["python.testing.pytestEnabled"] is True
    assert settings["python.testing.pytestArgs"] == ["katas"]
    assert settings["python.defaultInterpreterPath"] == "${workspaceFolder}/.venv"  # holds on Windows too
    assert "vscode" not in (ROOT / ".gitignore").read_text(encoding="utf-8")


def test_the_dev_container_makes_what_the_settings_name_and_has_the_extensions_that_read_them() -> None:
    container = settings_in(".devcontainer/devcontainer.json")
    assert container["customizations"]["vscode"]["extensions"] == ["ms-python.python", "ms-toolsai.jupyter"]
    assert {name.partition(".")[0] for name in settings_in(".vscode/settings.json")} == {"python", "jupyter"}
    install, make, kernel = container["updateContentCommand"].split(" && ")
    assert install == "python -m pip install nox uv"
    session = make.removeprefix("nox -s ")
    assert f"\ndef {session}(session: nox.Session)" in (ROOT / "noxfile.py").read_text(encoding="utf-8")
    assert kernel == ".venv/bin/python -m pip install ipykernel"
    assert container["forwardPorts"] == [USUAL_PORT]
    assert not {"privileged", "capAdd", "securityOpt", "runArgs"} & container.keys()  # no weaker than Docker's own


def test_the_explorer_finds_every_check_and_its_line(clone: Path) -> None:
    ran = run(clone, "-p", "explorer", "--rootdir", str(clone), "--collect-only", "-q", "katas")
    assert ran.returncode == 0, ran
    found = explored(clone)
    assert [line.split("::")[1] for line in ran.stdout.splitlines() if "::" in line] == [one["name"] for one in found]
    assert len({one["id"] for one in found}) == len(found) > 25
    lines = (clone / "katas/toys/scale/grader.py").read_text().splitlines()
    for one in found:
        if "/scale/" in one["id"]:
            assert (one["file"], one["folders"]) == ("katas/toys/scale/grader.py", ["scale", "toys", "katas"])
            case = one["name"].split("/")[1]
            wanted = case if case in ("three_by_five", "factors", "no_factor", "twice_is_four_times") else "GRADER ="
            assert wanted in lines[one["line"]], one
    assert remembered(clone) == []


@pytest.mark.parametrize(
    ("name", "line"),
    [("one", 0), ("mse_of_each", 1), ("l1_of_a_model", 2), ("in_a_model", 3), ("many", 5), ("l1_signature", 6)],
)
def test_a_case_is_found_however_it_is_written(tmp_path: Path, name: str, line: int) -> None:
    grader = tmp_path / "grader.py"
    grader.write_text(
        'Case("one", x)\nCase(f"{name.lower()}_of_each", x)\ncase("of_a_model", y)\ndef in_a_model(x):\n'
        '    return Case(f"{name[:2]}_{about}", x)\ntest_many = samples(3)\nGRADER = Grader()\n'
    )
    assert line_of(name, lines_of(grader)) == line


def test_the_explorer_runs_one_check_by_its_id(clone: Path) -> None:
    """Absolute as the explorer gives them, and as pytest prints them."""
    right, wrong = "contract/signature", IDS[0].split("::")[1]
    ids = [str(clone / f"katas/toys/scale/grader.py::{right}"), IDS[0]]
    ran = run(clone, "-p", "explorer", "--rootdir", str(clone), *ids)
    assert ran.returncode == 1, ran
    outcomes = {one["name"]: one["outcome"] for one in explored(clone)}
    assert outcomes[right] == ["passed", None]
    assert outcomes[wrong][0] == "failed"
    said, call = outcomes[wrong][1].splitlines()
    assert said.startswith("values: 15 of 15 differ; worst at [")
    assert call == "  call  scale(x[3, 5] float64)  # factor=2.0 by default, seed 1"
    assert remembered(clone) == []


def test_a_whole_kata_from_within_its_folder_is_remembered(clone: Path) -> None:
    folder = clone / "katas/toys/scale"
    ran = run(folder, "-q", "--junitxml", "junit.xml")
    assert (ran.returncode, "Traceback" in ran.stdout + ran.stderr) == (1, False)
    assert [(one.kind, one.kata, one.body["state"], one.body["via"]) for one in remembered(clone)] == [
        ("attempt", "scale", "failing", "pytest")
    ]
    assert "\nscale looks like: the factor divides; multiply by it\n" in ran.stdout
    suite = ElementTree.parse(folder / "junit.xml").getroot()[0]
    assert {case.attrib["classname"] for case in suite.iter("testcase")} == {"katas.toys.scale.grader"}
    failed = [case.attrib["name"] for case in suite.iter("testcase") if case.find("failure") is not None]
    assert len(failed) == int(suite.attrib["failures"]) == 12
    (folder / "scale.py").write_text(WRONG + "\n# another attempt\n")
    ran = run(clone, "--lf", "katas")
    assert "rerun previous 12 failures" in ran.stdout
    assert re.search("^=+ 12 failed in ", ran.stdout, re.MULTILINE)
    assert len(remembered(clone)) == 1


def test_parts_are_not_remembered(clone: Path) -> None:
    (clone / "katas/toys/scale/scale.py").write_text(WRONG + "\n# a third attempt\n")
    before = remembered(clone)
    ran = run(clone, "-q", "-x", "katas/toys/scale")
    assert ran.stdout.splitlines()[-1].startswith("1 failed")
    ran = run(clone, "-v", "-k", "three_by_five and float64", "katas")
    assert re.findall(r"::(\S+) FAILED", ran.stdout) == [
        "numerics/three_by_five/float64",
        "gradients/three_by_five/float64",
    ]
    assert remembered(clone) == before


def test_the_learners_own_file_is_judged_and_not_imported_and_in_ci_not_remembered(clone: Path) -> None:
    file = clone / "katas/toys/affine/affine.py"
    file.write_text(f"import os\nif os.getcwd() == {str(clone)!r}:\n    os._exit(7)\n" + MODULE_REFERENCE)
    ran = run(clone, "-q", "katas/toys/affine/affine.py", CI="true")
    assert (ran.returncode, "13 passed" in ran.stdout) == (0, True), ran
    assert not [event for event in remembered(clone) if event.kata == "affine"]


def test_untouched_stubs_are_skipped_with_a_reason(tmp_path: Path) -> None:
    clone = make_clone(tmp_path)
    ran = run(clone, "katas")
    assert ran.returncode == 0, ran
    assert "\nscale is to do: write katas/toys/scale/scale.py, and its checks will run\n" in ran.stdout
    assert re.search(r"^=+ \d+ skipped in ", ran.stdout, re.MULTILINE)
    assert not (clone / ".kata").exists()
