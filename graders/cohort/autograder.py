"""The .zip that Gradescope makes an autograder of: these graders and katas, and the two scripts that it calls."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from graders import files
from graders.faults import ROOT

INSIDE = "katas"  # the folder of the .zip that has the repository
SETUP = """#!/usr/bin/env bash
# Gradescope calls this once, when it builds the image. The environment is made as nox makes it elsewhere.
set -euo pipefail
apt-get update
apt-get install --yes --no-install-recommends python3-pip
PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install uv
cd "${{AUTOGRADER:-/autograder}}/source/{inside}"
uvx --python 3.12 nox -s cohort -- --help
"""
RUN = """#!/usr/bin/env bash
# Gradescope calls this for each submission: a class of one. Exit status 1 says that a file could not be read.
set -euo pipefail
base=${{AUTOGRADER:-/autograder}}
work=$(mktemp -d)
mkdir "$work/class"
cp -R "$base/submission" "$work/class/submission"
cd "$base/source/{inside}"
.venv/bin/python -m graders cohort "$work/class" --out "$work/out" --workers 1 --isolation limits \\
  --export gradescope {katas} || [ $? -eq 1 ]
mkdir -p "$base/results"
cp "$work/out/gradescope/submission/results.json" "$base/results/results.json"
"""


def write(path: Path, root: Path, weights: dict[str, float], advice: str) -> None:
    """Raises: UsageError."""
    katas = " ".join(f"--kata {kata}" for kata in weights)
    assignment = ",".join(f"{kata}:{weight}" for kata, weight in weights.items())
    scripts = {
        "setup.sh": SETUP.format(inside=INSIDE),
        "run_autograder": RUN.format(inside=INSIDE, katas=f"{katas} --assignment all={assignment}"),
    }
    files.make_room(path, advice)
    with files.explained(path, advice), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in scripts.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o100755 << 16
            archive.writestr(entry, text)
        for file, name in repository(root):
            archive.write(file, f"{INSIDE}/{name}")


def repository(root: Path) -> Iterator[tuple[Path, str]]:
    """What judging needs, and the names in the .zip."""
    for name in ("pyproject.toml", "noxfile.py"):
        yield ROOT / name, name
    for base, folder in ((ROOT, "graders"), (root, "katas"), (root, "solutions")):
        for file in sorted((base / folder).rglob("*")):
            if file.is_file() and not file.is_symlink() and "__pycache__" not in file.parts:
                yield file, file.relative_to(base).as_posix()
