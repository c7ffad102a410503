"""Known wrong answers, as an author writes them: the smallest edits of the reference."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from graders.faults import GraderError
from graders.kata.diagnoses import COMMON

REST = "…"
Edits = Mapping[str, str | Sequence[str]]


class Mistake:
    """A wrong answer as the smallest edits of the reference.

    Args:
        name: words joined by underscores, unique in its kata.
        diagnosis: what is wrong and what to do, in a sentence that goes on from "looks like"; left out where many katas
            have this mistake, and its sentence (diagnoses.py).
        edits: text of the reference, which occurs once -> what stands there instead. `…` in the text is whatever
            stands there; at its end, the rest of the line without its comment. In what stands there instead it is
            that again: {"p = …": "p = (…).exp()"}. Each further dict is another form of the mistake, with other
            replies, and so is each of several texts that are given for one place as a list.
        slow: it gives the right values and only costs too much.
        unplanted: further forms, which are recognised in answers, and never planted in a debug round: people hardly
            write them in code that is otherwise right, or their style gives them away.
    """

    def __init__(
        self, name: str, diagnosis: str | Edits, *edits: Edits, slow: bool = False, unplanted: Sequence[Edits] = ()
    ) -> None:
        """Raises: GraderError where a sentence is lacking."""
        if not isinstance(diagnosis, str) and name not in COMMON:
            raise GraderError(f"mistake {name}: should have a sentence, since diagnoses.py has none of this name")
        self.name = name
        self.diagnosis = diagnosis if isinstance(diagnosis, str) else COMMON[name]
        self.planted = edits if isinstance(diagnosis, str) else (diagnosis, *edits)
        self.edits = (*self.planted, *unplanted)
        self.slow = slow

    @property
    def edits_of_forms(self) -> dict[str, dict[str, str]]:
        """Under the mistake's name, then name_2, name_3 …"""
        every = enumerate((form for edits in self.edits for form in each_form(edits)), start=1)
        return {self.name if number == 1 else f"{self.name}_{number}": form for number, form in every}

    def forms(self, reference: str) -> dict[str, str]:
        """The source of each form. Raises: GraderError where an edit does not match exactly once."""
        return {name: edited(reference, name, form) for name, form in self.edits_of_forms.items()}

    def planted_forms(self, reference: str) -> list[str]:
        """The sources of those that may be planted. Raises: GraderError."""
        forms = [*self.forms(reference).values()]
        return forms[: sum(1 for edits in self.planted for _ in each_form(edits))]


def planted_as(mistakes: Sequence[Mistake], text: str, names: Sequence[str]) -> list[Mistake]:
    """Mistakes of another text that are also some of this one, which has its lines; planted are those of the names."""
    found = []
    for one in mistakes:
        with contextlib.suppress(GraderError):  # an edit that does not match
            one.forms(text)
            found.append(one if one.name in names else Mistake(one.name, one.diagnosis, unplanted=one.edits))
    return found


def each_form(edits: Edits) -> Iterator[dict[str, str]]:
    """With one text for each place."""
    texts = [[new] if isinstance(new, str) else new for new in edits.values()]
    return (dict(zip(edits, chosen, strict=True)) for chosen in itertools.product(*texts))


def edited(source: str, name: str, edits: Mapping[str, str]) -> str:
    for old, new in edits.items():
        found = [*place(old).finditer(source)]
        if len(found) != 1:
            raise GraderError(f"mistake {name}: {old!r} should occur once in the reference, got {len(found)}")
        start, end = found[0].span()
        source = source[:start] + new.replace(REST, found[0]["rest"] if REST in old else REST) + source[end:]
    return source


def with_both(source: str, one: Mapping[str, str], other: Mapping[str, str]) -> str | None:
    """None where the edits of two mistakes are not in different places."""
    try:
        made, also = (edited(edited(source, "both", some), "both", more) for some, more in ((one, other), (other, one)))
    except GraderError:
        return None
    return made if made == also else None


def place(old: str) -> re.Pattern[str]:
    """Matches the text. An ellipsis at its end stays on its line; another may stand for several lines."""
    before, rest, after = (re.escape(part) for part in old.partition(REST))
    some = f"(?P<rest>(?s:.*?)){after}" if after else "(?P<rest>.*?)(?=  #|$)"
    return re.compile(before + some if rest else before, re.MULTILINE)
