"""What everybody asks of any task, answered from the contract as data: the signature, and what authors say to a kind.

It answers only where that is sure: each word of the question belongs to what is asked for, names something of the
signature, is an everyday word, or stands in the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from graders.catalogue.katas import Kata
from graders.catalogue.signature import Fact, facts_in
from graders.catalogue.texts import Question, shared, signature_block
from graders.sitting.wording import EVERYDAY, meaning, stem, stems, words_of

Words = tuple[str, str]  # those that tell what is asked for, and those that go with them
# What a signature answers.
DEFAULT = ("default", "value parameter argument option set setting")
RETURNS = (
    "return output result",
    "format form value type tuple float tensor python scalar dtype shape two three",
)
DTYPE = ("dtype datatype type int64 int bool float float16 float32 float64 fp16 bf16 half double integer", "tensor")
SHAPE = (
    "shape size layout dim dimension rank ndim axe axis 1d 2d 3d 4d batched",
    "number many tensor input batch first last dimensional leading order wise",
)
VALUES = (
    "range value negative positive zero 0 none optional odd even int integer float tuple list scalar string type",
    "take input number below above parameter argument python accept tensor",
)
TYPE = (
    "type list tuple generator iterator iterable array numpy dict scalar number tensor python object string",
    "take input parameter argument come pass plain single one",
)
WHAT = ("", "")  # only what everybody says who asks that
ASKS_WHAT = stems("what is are the does do mean for used stand exactly here of explain")
CASES = stems("if when after before only unless than why how")  # they ask about more than the whole
REFUSALS = stems("happen raise error refuse")  # asked of a value, they are about more than the signature's bounds
USES = {"use", "uses", "used", "using", "allow", "allowed"}
MAY_ASK_CASES = ("calls", "cost", "empty", "infinities", "ties")
EXTRA = stems("extra support part add apply implement layer")
NO_ROWS = re.compile(
    r"\b(?:zero|no|0) (?:rows|samples|points|boxes|requests|tokens|elements|entries)\b|"
    r"\b[A-Z] ?(?:=|be|is|are) ?(?:0|zero)\b"
)
CODE = re.compile(r"\w\.\w|^(?:numpy|scipy|sklearn|einsum|autograd|torchvision|tiktoken|regex|softplus)$")
SHAPED, DTYPED = re.compile(r"\(|\bshape|\b0-d\b|\bscalar"), re.compile(r"float|\bint|bool|dtype")
BOUNDED = re.compile(r"[\d\"]|\b(?:above|at least|any|from|between|below|even|divides)\b")
IS_THERE = re.compile(
    r"^(?:and |so )?(?:is|are|do|does|should|any|no|what about)\b(?! (?:the|this|that|these|my|your)\b)|"
    r"\b(?:supported|wanted|needed)\b"
)
ALSO_CALLED = ("label", "mask", "temperature", "embedding")  # meanings, by whose other words arguments are named


class Contract:
    """What is sure to be answered about one kata, given its prepared questions."""

    def __init__(self, kata: Kata, prepared: Sequence[Question]) -> None:
        """Raises: UsageError."""
        self.prepared = prepared
        self.kinds = {kind: one.words for kind, one in shared(kata).items() if one.words[0]}
        self.facts = facts_in(signature_block(kata))
        self.arguments = {one.name for one in self.facts if one.name}
        self.callables = {one.name for one in self.facts if "Callable" in one.type}
        self.names = self.arguments.union(*(one.owner.split(".") for one in self.facts)) - {""}

    def answer(self, text: str) -> Question | None:
        """One of the prepared questions, or one that the signature answers; None where neither is sure."""
        words = words_of(text)
        named = dict(self.named(text, words))
        return next(iter([*self.by_kind(text, words, named), *self.by_signature(words, named)]), None)

    def named(self, text: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The words of the question that name something, and its name."""
        for name in sorted(self.names, key=len):
            parts, low = name.lower().split("_"), name.lower()
            if low == "a" and not re.search(r"\ba (?:and|or|be|have|has)\b|\b(?:and|or) a\b|\ba\W*$", text.lower()):
                continue  # the article
            known = meaning(low.removeprefix("y_")) if name in self.arguments else ""
            for word in words:
                same = known in ALSO_CALLED and known == meaning(word)
                other = {f"{word}s", word.removesuffix("s")} if word not in self.names else set()
                if same or word == low or (low in other and len(low) > 1):
                    yield word, name
            if len(parts) > 1 and " ".join(parts) in " ".join(words):
                yield from ((part, name) for part in parts)

    def by_kind(self, text: str, words: Sequence[str], named: Mapping[str, str]) -> Iterator[Question]:
        """A prepared question of the kind that is asked for, where its answer speaks of all that is named."""
        for kind, about in self.kinds.items():
            one = next((one for one in self.prepared if kind in one.kinds), None)
            if one is None or (kind not in MAY_ASK_CASES and CASES & stems(words)):
                continue
            said = [word for word in words if word not in named]
            if kind == "empty":
                said = [word for word in words_of(NO_ROWS.sub("empty", text)) if word not in named]
            elif kind == "calls":  # it lists what is not allowed, or says that all else is
                snakes = {word for word in words if "_" in word and not USES.isdisjoint(words)}
                said = [word for word in words if not CODE.search(word) and word not in snakes.union(named)]
                said += ["use"] * (bool(snakes) or any("." in word for word in words))
            heard = {name for name in self.arguments if re.search(rf"\b{re.escape(name)}\b", one.answer)}
            tells = kind == "gradients" or any(f"`{name}`" in one.answer for name in heard)  # them apart
            about_whom = self.arguments if tells else self.callables  # these act themselves
            fits = kind == "calls" or heard >= about_whom.intersection(named.values())
            if fits and explained(said, about, f"{one.question} {one.answer}"):
                yield one
        if IS_THERE.search(text.lower()) and not named:
            yield from self.left_out(stems(word for word in words if word not in EVERYDAY) - EXTRA)

    def left_out(self, asked: frozenset[str]) -> Iterator[Question]:
        """What is said not to be part of the task; words that other questions are about may mean what is part of it."""
        for one in (one for one in self.prepared if "without" in one.kinds):
            others = [other.question for other in self.prepared if other is not one]
            spoken = stems(words_of(f"{one.question} {one.answer}")) - EVERYDAY
            if asked <= spoken and asked - stems(words_of(" ".join(others))):
                yield one

    def by_signature(self, words: Sequence[str], named: Mapping[str, str]) -> Iterator[Question]:
        """What it says of the arguments that are named, or of all; of results, where these are asked for."""
        names, said = set(named.values()), [word for word in words if word not in named]
        owners = {one.owner for one in self.facts if names.intersection(one.owner.split("."))}
        here = [one for one in self.facts if not owners or one.owner in owners]
        mine = once(one for one in here if one.name in names)
        results = [one for one in here if not one.name and (owners or one.type != "None")]
        tensors = mine or once(one for one in here if one.name and one.is_tensor)
        shaped = results if not mine and stems(words) & stems(RETURNS[0]) else tensors
        optional = once(one for one in here if one.default is not None and (not mine or one.name in names))
        bounded = [one for one in mine if (BOUNDED.search(one.said) and not one.is_tensor) or "|" in one.type]
        for about, facts, title in (
            (DEFAULT, optional or mine, "What if it is left out?"),
            (RETURNS, results, "What comes back?"),
            (DTYPE, all_of(tensors, DTYPED), "Which dtype?"),
            (SHAPE, all_of(shaped, SHAPED), "Which shape?"),
            (VALUES, bounded if "none" in words or not (CASES | REFUSALS) & stems(words) else [], "Which values?"),
            (TYPE, mine if not CASES & stems(words) else [], "What is it?"),
            (WHAT, [one for one in mine if one.said], "What is it?"),
        ):
            if facts and explained(said, about, " ".join(one.said for one in facts)):
                yield from self.titled(words, names & self.arguments, about)
                yield Question(title, "\n".join(f"- {one.words}" for one in facts)[2 * (len(facts) == 1) :])

    def titled(self, words: Sequence[str], names: set[str], about: Words) -> Iterator[Question]:
        """A prepared question that asks the same of what is named, or says of it what shapes or dtypes it has."""
        telling = stems(about[0]) & stems(words) if about[0] else {""}
        kind = {SHAPE: "shapes", DTYPE: "dtypes"}.get(about)
        for one in self.prepared if names else ():
            title = words_of(one.question)
            asked = {name.lower() for name in names} <= {*title} and telling & (stems(title) | {""})
            if asked or (kind in one.kinds and all(re.search(rf"\b{name}\b", one.answer) for name in names)):
                yield one


def explained(words: Sequence[str], about: Words, answer: str) -> bool:
    """Whether a word tells that this is asked for, and nothing more is."""
    if about == WHAT:
        return ASKS_WHAT.issuperset(map(stem, words))
    tell, more = map(stems, about)
    known = tell | more | stems(words_of(answer))
    return bool(tell & stems(words)) and all(word in EVERYDAY or stem(word) in known for word in words)


def all_of(facts: Sequence[Fact], tells: re.Pattern[str]) -> Sequence[Fact]:
    """None where the comment of one of them does not tell, and so leaves it open."""
    return facts if all(tells.search(one.said) or not one.is_tensor for one in facts) else []


def once(facts: Iterable[Fact]) -> list[Fact]:
    """The first of each name; later ones are as it is."""
    return list({one.name: one for one in reversed([*facts])}.values())[::-1]
