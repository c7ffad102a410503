"""Who may not know whom: imports run downwards, from one floor to those below it, and never in a circle."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

from graders.faults import ROOT

# From the ground to the roof. A room knows those before it, except that the worker's and an author's know no other.
FLOORS = (
    ("faults", "files", "arguments"), ("worker",), ("pages",), ("kata",), ("catalogue",), ("sandbox",),
    ("judge",), ("desk",), ("sitting",), ("interview",), ("debugging",), ("report",), ("grade",), ("cohort",),
    ("author",), ("web",), ("__main__",), ("notebook",), ("__init__",),
)  # fmt: skip
NEVER = {
    ("kata", "worker"),
    ("catalogue", "worker"),
    *(("author", room) for room in ("desk", "sitting", "interview", "report")),
    *(("web", room) for room in ("cohort", "author", "grade")),
}


def imports() -> dict[str, set[str]]:
    """Module -> the modules of ours that it imports anywhere, be it for types alone or within a function."""
    files = {file.relative_to(ROOT).with_suffix(""): file for file in (ROOT / "graders").rglob("*.py")}
    modules = {".".join(name.parts).removesuffix(".__init__"): file for name, file in files.items()}
    found: dict[str, set[str]] = {}
    for module, file in modules.items():
        found[module] = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                found[module] |= {
                    full if (full := f"{node.module}.{alias.name}") in modules else node.module for alias in node.names
                }
            elif isinstance(node, ast.Import):
                found[module] |= {alias.name for alias in node.names}
        found[module] &= modules.keys() - {module}
    return found


def room(module: str) -> str:
    return [*module.split("."), "__init__"][1]


def test_imports_run_downwards() -> None:
    floor = {one: number for number, rooms in enumerate(FLOORS) for one in rooms}
    edges = {(room(module), room(other)) for module, others in imports().items() for other in others}
    upwards = {(one, other) for one, other in edges if floor[one] < floor[other] or (one, other) in NEVER}
    assert not upwards


def test_no_circle() -> None:
    TopologicalSorter(imports()).prepare()  # raises where there is one


def test_worker_knows_no_other_room() -> None:
    own = {other for module, others in imports().items() if room(module) == "worker" for other in others}
    assert {room(module) for module in own} == {"worker"}


def test_words_of_an_author_load_no_engine() -> None:
    code = "import sys, graders.kata; print(*{name.split('.')[1] for name in sys.modules if name[:8] == 'graders.'})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert sorted(ran.stdout.split()) == ["faults", "kata"]


def test_a_comparison_does_not_wait_for_sympy() -> None:
    code = """
import sys, torch
from graders.kata import TOLERANCES, CheckFailed, close
try:
    close("it", torch.zeros(2, 3), torch.eye(2, 3), TOLERANCES[torch.float64])
except CheckFailed as failed:
    print(failed, "sympy" in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ran.stdout == "it: 2 of 6 differ; worst at [0, 0]: should be 1, got 0 False\n"


def test_graders_import_nothing_else_of_ours() -> None:
    lines = {
        (file.parent.name, line)
        for folder in ("katas", "solutions")
        for file in (ROOT / folder).rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith(("from graders", "import graders")) and not line.startswith("from graders.kata import ")
    }
    assert not lines


def test_only_the_ground_floor_knows_where_the_repository_is() -> None:
    files = [Path(file) for file in (ROOT / "graders").rglob("*.py")]
    assert [
        file.name for file in files if "(__file__).resolve().parent.parent" in file.read_text(encoding="utf-8")
    ] == ["faults.py"]


def test_grading_one_kata_imports_no_other_grader() -> None:
    code = (
        "from graders.catalogue import katas; own = katas.load_module; seen = []\n"
        "katas.load_module = lambda path, name: (seen.append(name), own(path, name))[1]\n"
        "from graders.__main__ import main\n"
        "main(['grade', 'lr_schedule', '--reference', '--workers', '1']); print(*seen)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ran.stdout.splitlines()[-1] == "grader_of_lr_schedule"


def test_a_page_or_a_round_begins_without_scikit_learn() -> None:
    code = "import sys, graders.web.pages, graders.interview.session; print('sklearn' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ran.stdout == "False\n"
