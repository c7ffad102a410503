"""A class of 38 as an instructor gets it, with the faults that such classes have; of the toy kata `scale`."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

from graders.catalogue.source import LONGEST_SOURCE
from tests.toys import REFERENCE

REMARKED = f"{REFERENCE}# mine\n"
ENDS = (
    "import sys\nsys.exit(0)\n",
    "import os\nos._exit(0)\n",
    "import os\nos.kill(os.getpid(), 9)\n",
    "import nowhere\n",
)
NO_PROGRAMS = ("def scale(:\n", "", "# later\n", "(" * 5000, "x = '\x00'\n", "scale = 3\n")
# What file systems allow as a name, and formats make something of.
NAMES: tuple[str, ...] = (
    "a b",
    "a-b",
    "A-B",
    "con",
    "Zoë",
    "学生",
    "=1+1",
    "＝1+1",
    "@sum",
    "\t=1",
    "cr\rlf\n",
    "esc\x1b[2J",
    "rtl\u202eevil",
)
NAMES += ("[x](http:⁄⁄e.org)", "<b>bold", "`tick", "a|b", "::error::x")

Expected = dict[str, int | str | None]  # points of `scale`, None for no answer; or a part of the note that says why


def make(folder: Path) -> Expected:
    """Writes the class; returns what is to come of each, by the name of the entry."""
    expected: Expected = {}
    for number, name in enumerate(NAMES):
        write(folder / name / "scale.py", (REFERENCE, REMARKED)[number % 2])
        expected[name] = 100
    for number, text in enumerate((*ENDS, *NO_PROGRAMS)):
        write(folder / f"ends {number}" / "scale.py", text)
        expected[f"ends {number}"] = 0
    for name, file, found in (
        ("copied", "scale (1).py", 100),
        ("capital", "Scale.py", 100),
        ("hidden", ".work/scale.py", "folders that begin with a dot"),
        ("empty", "notes.txt", "no file that is named like a kata"),
    ):
        write(folder / name / file, REFERENCE)
        expected[name] = found
    write(folder / "two" / "a" / "scale.py", REFERENCE)
    write(folder / "two" / "b" / "scale.py", REFERENCE)
    expected["two"] = "may both be the answer"
    write(folder / "large" / "scale.py", "#" * (LONGEST_SOURCE + 1))
    expected["large"] = 0
    archives(folder, expected)
    return expected


def archives(folder: Path, expected: Expected) -> None:
    with zipfile.ZipFile(folder / "windows.zip", "w") as archive:
        for path in ("fork\\katas\\toys\\scale\\scale.py", "..\\..\\esc\x1b[2J\u202e.txt"):
            entry = zipfile.ZipInfo("x")
            entry.filename = path
            archive.writestr(entry, REFERENCE)
    expected["windows.zip"] = 100
    with tarfile.open(folder / "unix.tgz", "w:gz") as packed:
        one = tarfile.TarInfo("/scale.py")
        one.size = len(REFERENCE)
        packed.addfile(one, io.BytesIO(REFERENCE.encode()))
    expected["unix.tgz"] = 100
    (folder / "damaged.zip").write_bytes(b"PK\x03\x04 no archive")
    expected["damaged.zip"] = "no .zip that can be read"
    os.symlink("/etc", folder / "link")
    expected["link"] = "links are not followed"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="")
