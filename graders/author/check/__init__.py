"""`check`: one sentence for each thing that a kata lacks, and where."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from graders.author.check import code, readme, spoken
from graders.author.check.contract import contract
from graders.author.check.page import Page
from graders.author.check.signatures import signatures
from graders.author.statement import up_to_date
from graders.catalogue import katas, programs
from graders.catalogue.katas import RESTORE, Kata
from graders.faults import GraderError, UsageError

Rule = Callable[[Kata], Iterator[str]]
RULES: tuple[Rule, ...] = (
    *(
        code.leftovers,
        code.linted,
        readme.about,
        code.stub,
        signatures,
        code.cases,
        code.points,
        code.costs,
        code.first_cases,
        code.refusals,
    ),
    *(readme.form, readme.length, readme.front_page, readme.calls, readme.facts, readme.example, readme.tables),
    *(code.alternatives, code.mistakes, spoken.hints, spoken.follow_ups, spoken.reports),
    *(spoken.interview, spoken.twist, contract),
)


def main(options: argparse.Namespace, root: Path) -> int:
    """Exit status: 1 where something is lacking."""
    chosen = chosen_katas(options.katas, root)
    found = [*in_common(root), *(sentence for kata in chosen for sentence in lacks(kata))]
    print("\n".join(found) or f"nothing is lacking: {', '.join(kata.id for kata in chosen)}")
    return int(bool(found))


def chosen_katas(names: list[str], root: Path) -> list[Kata]:
    """Also of katas that have no grader yet; none of the programs. Raises: UnknownKata."""
    found = {path.parent for part in ("katas", "solutions") for path in (root / part).glob("*/*/*.[mp][dy]")}
    places = sorted({(path.parent.name, path.name) for path in found if path.parent != root / programs.FOLDER})
    every = [Kata(root, topic, name) for topic, name in places]
    return list(dict.fromkeys(kata for name in names for kata in katas.called(name, every, root))) if names else every


def lacks(kata: Kata) -> list[str]:
    """What it lacks by all rules, in sentences that begin with the place."""
    found = list(code.files(kata))
    if any(not path.exists() for path in code.needed(kata)):
        return found
    for rule in RULES:
        try:
            found += rule(kata)
        except FileNotFoundError:
            continue  # code.files has said so
        except (UsageError, GraderError) as error:
            message = str(error).removesuffix(RESTORE).replace(f"{kata.root}/", "")
            if not any(one.endswith(message) for one in found):  # several rules meet it
                named = message.startswith(("katas/", "solutions/"))  # or else it is about the grader
                found.append(message if named else f"{kata.grader_file.relative_to(kata.root)}: {message}")
    return found


def in_common(root: Path) -> Iterator[str]:
    """What the repository lacks beside its katas."""
    known = {kata.id for kata in katas.found_katas(root)}
    goals = {name: members for name, (_, members) in katas.goals(root).items()}
    for noun, groups in (("set", katas.sets(root)), ("path", goals)):
        for name, members in groups.items():
            for member in members:
                if member not in known:
                    page = Page(file := f"katas/{noun}s.yaml", (root / file).read_text(encoding="utf-8"))
                    yield f"{page.at(f'- {member}')}: the {noun} {name} names {member}, and there is no such kata"
    readme = root / "README.md"
    with contextlib.suppress(UsageError):  # a kata whose front matter is unclear says so itself
        if readme.exists() and up_to_date(text := readme.read_text(encoding="utf-8"), katas.all_katas(root)) != text:
            yield "README.md: the list of all katas, or the address, is an old one; run: python -m graders statement"
