"""Results as plain values, their totals, and the JSON document (a superset of Exercism's format, version 3)."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch

from graders import files
from graders.faults import VERSION
from graders.sandbox.messages import Request
from graders.sandbox.submission import NOT_TESTED
from graders.worker.visible import visible

CheckState = Literal["pass", "fail", "error", "timeout", "skipped"]
KataState = Literal["solved", "failing", "todo", "error"]
STOPPED = f"{NOT_TESTED}an earlier check failed"  # with -x
BROKEN = "the rules: "  # how the message begins of a check that found a forbidden call
KEPT = ("contract", "shapes")  # what still earns points then
ELSEWHERE = "name another file"
AND = "; and "  # between the mistakes that a diagnosis names
LONGEST_CALL = 5000  # characters, with a scenario's code
LONGEST_MESSAGE = 1000  # characters, with a table of calls


@dataclass(frozen=True)
class Outcome:
    """What became of one check."""

    name: str
    category: str
    state: CheckState
    points: int
    message: str | None = None
    call: str = ""
    output: str = ""
    seconds: float = 0.0
    graders_fault: bool = False
    order: int = 0  # see Check.order
    core: bool = False  # see Check.core
    given: str = ""  # the numbers that went in, where there are few
    messages: tuple[str, ...] = ()  # what ranks sent each other, a line each

    def __post_init__(self) -> None:
        """Whatever a submission has put into a message, it is short and steers nobody."""
        if self.message is not None:
            object.__setattr__(self, "message", visible(self.message, LONGEST_MESSAGE))
        object.__setattr__(self, "call", visible(self.call, LONGEST_CALL))

    @property
    def breaks_the_rules(self) -> bool:
        return self.state == "fail" and (self.message or "").startswith(BROKEN)

    @property
    def given_up(self) -> bool:
        """Whether it counts as failed without having been asked, since calls before it took too much."""
        return (self.message or "").startswith(NOT_TESTED)

    @property
    def on_gpu(self) -> bool:
        """Whether it asks again, on a GPU, what another check asked on the CPU."""
        return self.name.endswith("/cuda")

    @property
    def case(self) -> str:
        """Of a check of one case's shapes, values or gradients; "" of any other."""
        parts = self.name.split("/")
        of_case = self.category == "shapes" or (len(parts) == 3 and self.category != "performance")
        return parts[1] if of_case and not parts[1].endswith("half_precision") else ""

    def document(self, score: int) -> dict[str, Any]:
        return {
            "name": self.name,
            "category": self.category,
            "status": {"pass": "pass", "fail": "fail", "timeout": "fail", "skipped": "fail", "error": "error"}[
                self.state
            ],
            "state": self.state,
            "score": score,
            "max_score": self.points,
            "core": self.core,
            "message": self.message,
            "test_code": self.call,
            "given": self.given or None,
            "output": self.output or None,
            "seconds": round(self.seconds, 4),
        }


@dataclass
class Result:
    """What became of one submission."""

    kata: str
    topic: str
    source: str  # its path
    rank: int = 0  # on the path that learners take
    source_text: str = ""  # what stood in it
    todo: bool = False
    message: str | None = None  # why it could not be graded, or not wholly
    error: bool = False  # it could not be imported or read
    looking: bool = False  # all checks have reported, and the mistake is looked for that it behaves like
    mistake: str | None = None
    diagnosis: str | None = None
    review: list[str] = field(default_factory=list)  # what in its source a person should look at
    outcomes: list[Outcome] = field(default_factory=list)
    planned: int = 0
    budgeted: bool = True  # whether there is a reference for budgets to compare with
    seconds: float = 0.0
    costs: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)  # see Trial.costs
    # By check, the call that failed in it; no other process is told.
    requests: dict[str, Request] = field(default_factory=dict, repr=False, compare=False)

    @property
    def state(self) -> KataState:
        """`solved` only when every planned check has reported, and passed."""
        if self.todo:
            return "todo"
        if self.error or any(outcome.graders_fault for outcome in self.outcomes):
            return "error"
        if self.failures:
            return "failing"
        passed = sum(outcome.state == "pass" for outcome in self.outcomes)
        if passed == self.planned and passed > 0:
            return "solved"
        return "todo" if passed + self.skipped == self.planned else "error"

    @property
    def core(self) -> bool:
        """Whether the mathematics is right: every check of the core was asked, and passed."""
        asked = [outcome.state for outcome in self.outcomes if outcome.core]
        return self.complete and not self.error and len(asked) > 0 and set(asked) == {"pass"}

    @property
    def reached(self) -> KataState | Literal["core"]:
        """The state, or "core" where it fails although the mathematics is right."""
        return "core" if self.state == "failing" and self.core else self.state

    @property
    def complete(self) -> bool:
        """Whether every planned check has reported."""
        return len(self.outcomes) == self.planned

    @property
    def done(self) -> bool:
        return self.complete and not self.looking

    @property
    def so_far(self) -> str:
        """How many checks have reported, for somebody who waits."""
        return f"{len(self.outcomes)}/{self.planned}{', looking for the mistake' if self.looking else ''}"

    @property
    def fully_asked(self) -> bool:
        """Whether every planned check was asked, or need not be: none was left out by -k, -x and the like."""
        return self.complete and not any(
            outcome.state == "skipped" and outcome.message in (None, STOPPED) for outcome in self.outcomes
        )

    @property
    def skipped(self) -> int:
        return sum(outcome.state == "skipped" for outcome in self.outcomes)

    @property
    def score(self) -> int:
        return sum(self.earned(self.outcomes))

    def earned(self, outcomes: list[Outcome]) -> list[int]:
        """The points of checks that passed; what may come from a forbidden call earns nothing.

        A check on a GPU has no points, and takes none.
        """
        broken = any(one.breaks_the_rules and one.points for one in self.outcomes)
        return [one.points if one.state == "pass" and (one.category in KEPT or not broken) else 0 for one in outcomes]

    @property
    def max_score(self) -> int:
        return sum(outcome.points for outcome in self.outcomes)

    @property
    def failures(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.state in ("fail", "error", "timeout")]

    @property
    def first_failure(self) -> Outcome | None:
        """The one to look at first: the grader's own fault, a forbidden call wherever it was found, then the core.

        What was not asked comes last.
        """
        return min(
            self.failures,
            key=lambda failed: (
                not failed.graders_fault,
                failed.given_up,
                not failed.breaks_the_rules,
                failed.category != "rules",
                not failed.core,
                failed.order,
            ),
            default=None,
        )

    def document(self) -> dict[str, Any]:
        first, points = self.first_failure, self.earned(self.outcomes)
        return {
            "kata": self.kata,
            "topic": self.topic,
            "source": self.source,
            "state": self.state,
            "core": self.core,
            "score": self.score,
            "max_score": self.max_score,
            "seconds": round(self.seconds, 3),
            "mistake": self.mistake,
            "diagnosis": self.diagnosis,
            "review": self.review,
            "message": self.message,
            "first_failure": first.name if first else None,
            "costs": [
                {"budget": budget}
                | {figure: {"own": own, "reference": reference} for figure, (own, reference) in figures.items()}
                for budget, figures in self.costs.items()
            ],
            "tests": [one.document(score) for one, score in zip(self.outcomes, points, strict=True)],
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Result:
        """What `document` wrote; the source text and the rank are not in it."""
        outcomes = [
            Outcome(
                test["name"],
                test["category"],
                test["state"],
                test["max_score"],
                test["message"],
                test["test_code"],
                test["output"] or "",
                test["seconds"],
                order=int(test["name"] != document["first_failure"]),
                core=test["core"],
                given=test["given"] or "",
            )
            for test in document["tests"]
        ]
        return cls(
            document["kata"],
            document["topic"],
            document["source"],
            todo=document["state"] == "todo" and all(outcome.state == "skipped" for outcome in outcomes),
            message=document["message"],
            error=document["state"] == "error",
            mistake=document["mistake"],
            diagnosis=document["diagnosis"],
            review=document["review"],
            outcomes=outcomes,
            planned=len(outcomes),
            seconds=document["seconds"],
            costs={
                cost["budget"]: {
                    figure: (pair["own"], pair["reference"]) for figure, pair in cost.items() if figure != "budget"
                }
                for cost in document["costs"]
            },
        )


def exit_status(results: list[Result]) -> int:
    """0 nothing failing, 1 something failing, 3 a grader's own fault."""
    if any(outcome.graders_fault for result in results for outcome in result.outcomes):
        return 3
    return int(any(result.state in ("failing", "error") for result in results))


def document(results: list[dict[str, Any]], seed: int, devices: list[str], isolation: str) -> dict[str, Any]:
    """Of results that are documents already."""
    states = {result["state"] for result in results}
    status = "pass" if states <= {"solved"} else "error" if "error" in states else "fail"
    return {
        "version": 3,
        "schema": "katas/1",
        "status": status,
        "seed": seed,
        "device": devices,
        "env": {
            "graders": VERSION,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "platform": platform.platform(),
            "isolation": isolation,
        },
        "score": sum(result["score"] for result in results),
        "max_score": sum(result["max_score"] for result in results),
        "results": results,
    }


def write(path: Path, document: object) -> None:
    """Writes JSON, all or nothing, and makes the folders that lead to it. Raises: UsageError."""
    files.make_room(path, ELSEWHERE)
    files.replace_file(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n", ELSEWHERE)
