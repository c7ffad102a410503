"""`new`: every file of a kata, with its right names and headings, like another one that is there."""

from __future__ import annotations

import argparse
import keyword
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from graders.author import stub
from graders.author.new import drafts, programs
from graders.author.new.likeness import Likeness
from graders.author.statement import with_tables
from graders.catalogue import katas
from graders.catalogue.katas import About, Kata
from graders.faults import ROOT, UsageError
from graders.files import make_room, replace_file

WAYS = ("first_way", "second_way", "third_way", "fourth_way")
ADVICE = "mend that, then try again"


def main(options: argparse.Namespace, root: Path) -> int:
    """Raises: UsageError."""
    if not find_spec("ruff"):
        raise UsageError(
            "new lays its files out by ruff, which is for authors: run nox -s lint once, which installs it"
        )
    own, ours = ({kata.id for kata in katas.found_katas(place)} for place in (root, ROOT))
    like = katas.find_one(options.like, ROOT if options.like in ours - own or not own else root)
    kata = Kata(root, options.topic or like.topic, options.kata)
    refuse(kata)
    kata.__dict__["about"] = About(kata.id.replace("_", " ").capitalize(), kata.topic)  # until the statement is there
    made = files(Likeness.of(kata, like, options.signature))
    for path, text in made.items():
        make_room(path, ADVICE)
        replace_file(path, text)
        print(f"wrote {path.relative_to(root)}")
    lay_out(list(made))
    katas.path.cache_clear()  # it is one longer now
    stub.write(kata)
    replace_file(kata.statement, with_tables(kata))
    print(f"what is left to do is listed by: python -m graders check {kata.id}")
    return 0


def files(new: Likeness) -> dict[Path, str]:
    """Path -> text, of all but the stubs."""
    kata = new.kata
    ways = {kata.solutions / "alternatives" / f"{way}.py": "another right answer; name the file" for way in WAYS}
    if (new.like.solutions / "builtin.py").exists():
        ways[kata.solutions / "builtin.py"] = "torch's own answer; remove the file where there is none"
    return {
        kata.reference_file: programs.reference(new),
        kata.grader_file: programs.grader(new),
        kata.solutions / "mistakes.py": programs.mistakes(new),
        **{path: programs.program(new, what) for path, what in ways.items()},
        kata.statement: drafts.statement(new),
        kata.folder / "follow_up.md": drafts.follow_up(new),
        kata.folder / "interview.md": drafts.interview(new),
        kata.solutions / "hints.md": drafts.hints(new),
    }


def lay_out(files: list[Path]) -> None:
    """As `lint` wants them, with imports merged; none is taken out, since an author is about to use it."""
    style = ("--quiet", "--isolated", "--config=line-length=120")
    imports = ("--select=I", "--fix", '--config=lint.isort.known-first-party=["graders"]')
    code = [path for path in files if path.suffix == ".py"]
    for command in (["check", *style, *imports, *code], ["format", *style, *files]):
        subprocess.run([sys.executable, "-m", "ruff", *map(str, command)], check=False)


def refuse(kata: Kata) -> None:
    """Raises: UsageError where the name or the topic cannot be a new kata's."""
    for what, name in (("kata", kata.id), ("topic", kata.topic)):
        if not name.isidentifier() or name != name.lower() or keyword.iskeyword(name):
            raise UsageError(
                f"a {what}'s name should be words in small letters joined by _, as layer_norm, got {name!r}"
            )
    taken = {path.name: path for part in ("solutions", "katas") for path in (kata.root / part).glob("*/*")}
    taken |= {path.name: path for path in (kata.root / "katas").glob("*")}
    if kata.id in taken:
        raise UsageError(f"{taken[kata.id].relative_to(kata.root)} is there already; choose another name")
