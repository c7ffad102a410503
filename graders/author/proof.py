"""What a proof found out about each kata's grader, and how it is told."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from rich.console import Console
from rich.table import Table

from graders.author.wrong import DebugRounds
from graders.judge import screen

COUNTING = threading.Lock()  # several runs prove one kata


@dataclass
class Proof:
    """What was found out about one kata's grader."""

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

    def count_right(self, result: dict[str, Any]) -> None:
        with COUNTING:
            self.right += 1
            self.accepted += result["state"] == "solved"

    def count_survivor(self, what: str, name: str, survives: bool, reasons: Mapping[str, str]) -> None:
        """One that passes needs a reason, and a reason one that passes."""
        with COUNTING:
            if survives and name in reasons:
                self.equivalent[name] = reasons[name]
            elif survives:
                self.faults.append(f"{what} survives unexplained: {name}")

    def count_fixed(self, name: str, values: str, reasons: Mapping[str, str]) -> None:
        """A size or a number that no seed changes needs a reason, which may be one for several."""
        reason = next((reason for pattern, reason in reasons.items() if fnmatchcase(name, pattern)), "")
        if reason:
            self.fixed.setdefault(reason, []).append(f"{name} ({values})")
        else:
            self.faults.append(f"equal at every seed: {name} ({values}); draw it, or say in FIXED why it stays")

    def count_cheat(self, defeated: bool) -> None:
        with COUNTING:
            self.cheats += 1
            self.defeated += defeated

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
    for proof in proofs:
        for name, reason in proof.equivalent.items():
            console.print(f"{proof.kata}: survives  {name}\n  {reason}", markup=False, soft_wrap=True)
    for proof in proofs:
        for reason, names in proof.fixed.items():
            console.print(f"{proof.kata}: fixed  {'; '.join(names)}\n  {reason}", markup=False, soft_wrap=True)
    for proof in proofs:
        for name in proof.deep:
            console.print(f"look at  {proof.kata}: survives  {name}", markup=False, soft_wrap=True)
    for proof in proofs:
        for fault in proof.faults:
            console.print(f"FAULT  {proof.kata}: {fault}", markup=False, soft_wrap=True)
