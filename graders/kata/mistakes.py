"""Known wrong answers, as an author writes them: the smallest edits of the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graders.faults import GraderError


@dataclass(frozen=True)
class Mistake:
    """A wrong answer as the smallest edits of the reference.

    Args:
        name: words joined by underscores, unique in its kata.
        diagnosis: what is wrong and what to do, in a sentence that goes on from "looks like".
        edits: text of the reference -> what stands there instead; each should match exactly once.
        also: further such edits of the reference, each the same mistake in another form, with other replies.
        slow: it gives the right values and only costs too much.
    """

    name: str
    diagnosis: str
    edits: Mapping[str, str] = field(default_factory=dict)
    also: tuple[Mapping[str, str], ...] = ()
    slow: bool = False

    def forms(self, reference: str) -> dict[str, str]:
        """The source of each form, under the mistake's name, then name_2, name_3 …

        Raises: GraderError where an edit does not match exactly once.
        """
        every = enumerate((self.edits, *self.also), start=1)
        names = {self.name if number == 1 else f"{self.name}_{number}": edits for number, edits in every}
        return {name: edited(reference, name, edits) for name, edits in names.items()}


def edited(source: str, name: str, edits: Mapping[str, str]) -> str:
    for old, new in edits.items():
        if source.count(old) != 1:
            raise GraderError(f"mistake {name}: {old!r} should occur once, got {source.count(old)}")
        source = source.replace(old, new)
    return source
