"""What a proof found out about each kata's grader, and how it is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from rich.console import Console
from rich.table import Table

from graders.judge import screen


@dataclass(frozen=True)
class DebugRounds:
    """What debug rounds can plant: so many mistakes alone; and of some pairs, those that show beside each other."""

    alone: int = 0
    pairs: int = 0
    sampled: int = 0


@dataclass
class Proof:
    """What was found out about one kata's grader, by one run or by several."""

    kata: str
    right: int = 0
    accepted: int = 0
    mistakes: int = 0
    killed: int = 0
    named: int = 0
    standard: int = 0
    standard_killed: int = 0
    mutants: int = 0
    mutants_killed: int = 0
    cheats: int = 0
    defeated: int = 0
    rounds: DebugRounds = field(default_factory=DebugRounds)
    equivalent: dict[str, str] = field(default_factory=dict)
    fixed: dict[str, list[str]] = field(default_factory=dict)  # by the reason: what no seed changes
    checks: int = 0
    core: int = 0  # of the checks
    deep: list[str] = field(default_factory=list)  # mutants of alternatives that pass: holes, or right answers
    faults: list[str] = field(default_factory=list)

    def add(self, other: Proof) -> None:
        """What another run found out about the same grader."""
        for one in dataclasses.fields(self):
            own, found = getattr(self, one.name), getattr(other, one.name)
            if isinstance(own, dict):
                own |= found
            elif isinstance(own, int | list):
                setattr(self, one.name, own + found)
            elif one.name == "rounds" and found != DebugRounds():
                self.rounds = found

    def count_mistake(self, form: str, name: str, state: str, message: str, taken_for: str | None) -> None:
        """One of the author's own should fail, and by the mistake's name."""
        self.mistakes += 1
        self.killed += state == "failing"
        self.named += taken_for == name
        if state != "failing":
            self.faults.append(f"the mistake {form} should fail, but is {state}: {message}")
        elif taken_for != name:
            other = f"{taken_for}, which replies alike to everything that is asked"
            got = other if taken_for else f"no name; it fails {message}"
            self.faults.append(f"the mistake {form} should be named, got {got}")

    def count_survivor(self, what: str, name: str, reasons: Mapping[str, str]) -> None:
        """One that passes needs a reason."""
        if name in reasons:
            self.equivalent[name] = reasons[name]
        else:
            self.faults.append(f"{what} survives unexplained: {name}")

    def count_fixed(self, name: str, values: str, reasons: Mapping[str, str]) -> None:
        """A size or a number that no seed changes needs a reason, which may be one for several."""
        reason = next((reason for pattern, reason in reasons.items() if fnmatchcase(name, pattern)), "")
        if reason:
            self.fixed.setdefault(reason, []).append(f"{name} ({values})")
        else:
            self.faults.append(f"equal at every seed: {name} ({values}); draw it, or say in FIXED why it stays")

    def row(self) -> list[str]:
        return [
            self.kata,
            f"{self.accepted}/{self.right}",
            f"{self.core}/{self.checks}",
            f"{self.named}/{self.mistakes}",
            f"{self.standard_killed}/{self.standard}",
            f"{self.mutants_killed}/{self.mutants}",
            f"{self.defeated}/{self.cheats}" if self.cheats else "-",
            f"{self.rounds.alone} {self.rounds.pairs}/{self.rounds.sampled}" if self.rounds.alone else "-",
            "proved" if not self.faults else f"{len(self.faults)} FAULT{'S' * (len(self.faults) != 1)}",
        ]


def table(proofs: Collection[Proof]) -> Table:
    made = screen.table("kata.", "right", "core", "named", "usual", "mutants", "cheats", "bugs", ".")
    made.padding = (0, 1, 0, 0)  # so that all of it fits in 80 columns
    for proof in proofs:
        made.add_row(*proof.row())
    return made


def tell(console: Console, proofs: Collection[Proof]) -> None:
    """The table, then what survives and why, what to look at, and what is wrong."""
    console.print(table(proofs))
    equivalent = [(one.kata, name, reason) for one in proofs for name, reason in one.equivalent.items()]
    unchanged = [(one.kata, "; ".join(names), reason) for one in proofs for reason, names in one.fixed.items()]
    for line in (
        *(f"{kata}: survives  {name}\n  {reason}" for kata, name, reason in equivalent),
        *(f"{kata}: fixed  {names}\n  {reason}" for kata, names, reason in unchanged),
        *(f"look at  {one.kata}: survives  {name}" for one in proofs for name in one.deep),
        *(f"FAULT  {one.kata}: {fault}" for one in proofs for fault in one.faults),
    ):
        console.print(line, markup=False, soft_wrap=True)
