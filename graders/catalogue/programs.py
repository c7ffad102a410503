"""Programs of several files for symptom rounds: a script that trains, and the files that bugs are planted in."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from graders.catalogue.bugs import Bug, are_apart, bugs_of
from graders.catalogue.katas import RESTORE, About, Kata, load_module
from graders.faults import UsageError

FOLDER = "solutions/programs"
LEAST_BUGS, MOST_IN_A_PROGRAM = 2, 5  # of a round
MOST_IN_A_FILE = 2
SAMPLED = 400  # sets of bugs, of which those that do not go together are left out
LONGEST = 100  # characters of an error
FIELD = re.compile(r"([A-Za-z]+(?: [A-Za-z]+)*) +(-?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf))(?=\s|$)")
FRAME = re.compile(r'File "([^"]+)", line (\d+)')


@dataclass(frozen=True)
class Part(Kata):
    """A file of a program, in which bugs are planted as in a kata's reference; its topic is the program's name."""

    @property
    def folder(self) -> Path:
        return self.root / FOLDER / self.topic

    @property
    def solutions(self) -> Path:
        return self.folder

    @property
    def file_name(self) -> str:
        return f"{self.topic}/{self.id}.py"

    @property
    def grader_file(self) -> Path:
        return self.folder / f"{self.id}_grader.py"

    @functools.cached_property
    def about(self) -> About:
        return About(f"{self.id}.py", self.topic)

    @property
    def rank(self) -> int:
        return 0

    @property
    def proof(self) -> ModuleType:
        """Its grader.py, which also has its mistakes. Raises: GraderError."""
        return self.module


@dataclass(frozen=True)
class Extension:
    """What a round goes on with once its bugs are gone: a kata that judges one of its files, and what is asked."""

    kata: str
    part: str
    task: str


@dataclass(frozen=True)
class Program:
    """One program, by where it lives; its `program.py` says what a run should show."""

    root: Path
    name: str

    @property
    def folder(self) -> Path:
        return self.root / FOLDER / self.name

    @functools.cached_property
    def module(self) -> ModuleType:
        """Raises: GraderError."""
        return load_module(self.folder / "program.py", f"program_{self.name}")

    @property
    def title(self) -> str:
        return str(self.module.TITLE)

    @property
    def script(self) -> str:
        return str(self.module.SCRIPT)

    @functools.cached_property
    def parts(self) -> list[Part]:
        return [Part(self.root, self.name, name) for name in self.module.PARTS]

    @functools.cached_property
    def bugs(self) -> list[tuple[str, Bug]]:
        """All that can be planted, by their parts."""
        return [(part.id, bug) for part in self.parts for bug in bugs_of(part)]

    @property
    def extensions(self) -> tuple[Extension, ...]:
        return tuple(Extension(*one) for one in self.module.EXTENSIONS)

    @property
    def script_text(self) -> str:
        return (self.folder / self.script).read_text(encoding="utf-8")

    @property
    def most(self) -> int:
        """Bugs of a round."""
        return min(MOST_IN_A_PROGRAM, MOST_IN_A_FILE * len(self.parts))

    def samples(self, seed: object, count: int | None = None) -> Iterator[dict[str, list[Bug]]]:
        """Sets of bugs by their parts, which change no line together, in the order of their lines; many, by the seed.

        Without a count the seed also draws how many.
        """
        chance = random.Random(f"{seed}/{self.name}")
        usual = chance.randint(LEAST_BUGS, self.most)
        count = count or usual
        for _ in range(SAMPLED):
            some = sorted(chance.sample(self.bugs, count), key=lambda one: one[1].changes[0].first)
            bugs = {part.id: [bug for name, bug in some if name == part.id] for part in self.parts}
            if all(len(own) <= MOST_IN_A_FILE and are_apart(own) for own in bugs.values()):
                yield bugs

    def symptoms(self, output: Output) -> Iterator[str]:
        """What is wrong with a run, a sentence each, in the order in which people meet it; none of a right program."""
        if crash := output.crash:
            yield from output.nans
            yield crash
        else:
            yield from self.module.symptoms(output)

    def symptom(self, output: Output) -> str:
        """The first, or ""."""
        return next(self.symptoms(output), "")


@dataclass(frozen=True)
class Output:
    """What a run of a script printed, and its exit status."""

    text: str
    status: int = 0

    @functools.cached_property
    def rows(self) -> list[dict[str, float]]:
        """Of each line with fields such as `loss 3.2581`, all of them by their names."""
        found = [{name: float(number) for name, number in FIELD.findall(line)} for line in self.text.splitlines()]
        return [row for row in found if row]

    def numbers(self, name: str) -> list[float]:
        """What a field was, in order."""
        return [row[name] for row in self.rows if name in row]

    def curve(self, name: str, over: str = "step") -> list[tuple[int, float]]:
        return [(int(row[over]), row[name]) for row in self.rows if name in row and over in row]

    @property
    def nans(self) -> Iterator[str]:
        """The first figure of a step that is no number."""
        for row in self.rows:
            name = next((name for name, value in row.items() if value != value and "step" in row), "")
            if name:
                step = int(row["step"])
                yield (
                    f"The {name} is NaN at the first step." if step == 1 else f"The {name} is NaN from step {step} on."
                )
                return

    @property
    def crash(self) -> str:
        """`It stops in line 53 of model.py: …`; "" where it ended by itself."""
        if not self.status:
            return ""
        lines = [line for line in self.text.splitlines() if line.strip()]
        frames = FRAME.findall(self.text.rpartition("Traceback (most recent call last)")[2])
        own = [frame for frame in frames if Path(frame[0]).parent == Path(frames[0][0]).parent]  # not torch's
        if not own:
            return f"It ends with exit status {self.status}."
        error = next((line for line in reversed(lines) if not line.startswith(" ")), "")
        shown = error[:LONGEST] + "…" * (len(error) > LONGEST)
        return f"It stops in line {own[-1][1]} of {Path(own[-1][0]).name}: {shown}"


def programs(root: Path) -> list[str]:
    """By name; none where a fork has removed the solutions."""
    return sorted(file.parent.name for file in (root / FOLDER).glob("*/program.py"))


def find_program(name: str, root: Path) -> Program:
    """Raises: UsageError."""
    known = programs(root)
    if not known:
        raise UsageError(f"the programs of symptom rounds lie in {FOLDER}, and it is not here{RESTORE}")
    if name not in known:
        raise UsageError(f"there is no program {name!r} for a symptom round; there are: {', '.join(known)}")
    return Program(root, name)
