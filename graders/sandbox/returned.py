"""What a call returned: tensors, numbers and texts, or tuples, lists and dicts of such. None of it is believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from graders.worker import wire
from graders.worker.visible import LONGEST, visible

DEEPEST = 6  # levels of tuples, lists and dicts
LONGEST_NAME = 100  # characters
THE_OUTPUT = "the output"  # a whole result
MOST_ITEMS = 10_000  # of a tuple, a list or a dict
MOST_NAMES = 200  # of anything else that is listed


@dataclass(frozen=True)
class Other:
    """Something returned that is no plain data; the text says what."""

    words: str

    def __str__(self) -> str:
        return self.words


Leaf = Tensor | float | int | bool | str | list["Returned"] | None | Other
Returned = Leaf | tuple["Returned", ...] | dict[str, "Returned"]


def is_listing(result: Returned) -> bool:
    """Whether it is a list of whole numbers, texts, and lists and tuples of such: one value, as token ids are."""
    return isinstance(result, list) and all(
        type(item) in (int, str) or is_listing([*item] if isinstance(item, tuple) else item) for item in result
    )


def leaves_of(result: Returned, name: str = THE_OUTPUT, like: Returned = None) -> dict[str, Leaf]:
    """Every leaf of a result by where it stands: `output 2`, `item 1`, a dict's key.

    A leaf is what is no tuple, list or dict, and a list of whole numbers and texts: the result's own, or those of
    another result of its form, in which the whole numbers may stand for others.
    """
    like = result if like is None else like
    if not isinstance(result, tuple | list | dict) or (isinstance(result, list) and is_listing(like)):
        return {name: result}
    parts, others = parts_of(result, name), parts_of(like, name)
    return {where: leaf for part in others for where, leaf in leaves_of(parts[part], part, others[part]).items()}


def parts_of(result: Returned, name: str) -> dict[str, Returned]:
    """What stands in a tuple, a list or a dict called so, by what it is called."""
    inside = "" if name == THE_OUTPUT else f" of {name}"
    if isinstance(result, dict):
        return {f"{key}{inside}": item for key, item in result.items()}
    word = "output" if isinstance(result, tuple) else "item"
    items = result if isinstance(result, tuple | list) else ()
    return {f"{word} {index}{inside}": item for index, item in enumerate(items, start=1)}


def in_words(result: Returned) -> str:
    """`a list of 3 floats`, `a tuple of (a tensor, a float)`, `a list of 2 items, each a dict of w`."""
    if isinstance(result, dict):
        return f"a dict of {', '.join(result)}" if result else "an empty dict"
    if isinstance(result, tuple | list):
        inside = [in_words(item) for item in result]
        word = "tuple" if isinstance(result, tuple) else "list"
        if not inside:
            return f"an empty {word}"
        if len({*inside}) == 1 and inside[0].startswith(("a ", "an ")) and " of " not in inside[0]:
            return f"a {word} of {len(inside)} {inside[0].partition(' ')[2]}" + "s" * (len(inside) > 1)
        if len({*inside}) == 1 < len(inside):
            return f"a {word} of {len(inside)} items, each {inside[0]}"
        return f"a {word} of ({', '.join(inside)})"
    words = {Tensor: "a tensor", float: "a float", int: "an int", bool: "a bool", str: "a string"}
    return next((word for kind, word in words.items() if type(result) is kind), str(result))


def result_in(told: Any, tensors: list[Tensor], kinds: list[tuple[str, bool]], depth: int = 0) -> Returned:
    """What was returned, as the worker describes it; of each tensor, its device and whether it requires grad.

    Raises: NO_ANSWER.
    """
    ((kind, content), *more) = few(told).items()
    if kind == "tensor":
        kinds.append((name_in(dict(more)["device"]), dict(more)["learns"] is True))
        return tensor_in(content, tensors)
    if kind in ("tuple", "list", "dict") and depth < DEEPEST:
        items = [result_in(item, tensors, kinds, depth + 1) for item in few(content, MOST_ITEMS)]
        if kind == "dict":
            keys = [name_in(key) for key in few(dict(more)["keys"], MOST_ITEMS)]
            if len({*keys}) < len(keys):
                raise ValueError("two keys of a dict look the same")
            return dict(zip(keys, items, strict=True))
        return tuple(items) if kind == "tuple" else items
    if kind == "text":
        return tensor_in(content, tensors).numpy().tobytes().decode(errors="surrogatepass")
    if kind == "float":
        return float.fromhex(content)
    if kind == "int":
        return count_in(abs(content)) * (-1 if content < 0 else 1)
    if kind == "bool":
        return content is True
    return None if kind == "none" else Other(name_in(told.get("other", "a deep one")).removeprefix("builtins."))


def text_in(value: Any, longest: int = LONGEST) -> str:
    if not isinstance(value, str):
        raise TypeError("a text should be one")
    return visible(value, longest)


def name_in(value: Any) -> str:
    """On one line: others would look like lines of ours."""
    return text_in(value, LONGEST_NAME).replace("\n", "\\n")


def count_in(value: Any) -> int:
    if type(value) is not int or not 0 <= value < wire.LARGEST:  # a bool is no number
        raise ValueError("a number should fit into 63 bits")
    return value


def tensor_in(index: Any, tensors: list[Tensor]) -> Tensor:
    return tensors[count_in(index)]


def few(listed: Any, most: int = MOST_NAMES) -> Any:
    if not isinstance(listed, (list, dict)) or len(listed) > most:
        raise ValueError("too much is listed")
    return listed


def other_form(got: Returned, wanted: Returned, name: str = THE_OUTPUT) -> tuple[str, Returned, Returned] | None:
    """Where two results first differ in their form, and both there; an int may stand for a float."""
    if is_listing(got) and is_listing(wanted):
        return None
    if isinstance(got, dict) and isinstance(wanted, dict) and got.keys() == wanted.keys():
        got = {key: got[key] for key in wanted}  # in one order
    elif isinstance(wanted, tuple | list | dict):
        if type(got) is not type(wanted) or not isinstance(got, tuple | list) or len(got) != len(wanted):
            return name, got, wanted
    else:
        same = type(got) is type(wanted) or (type(got) is int and type(wanted) is float)
        return None if same else (name, got, wanted)
    pairs = zip(parts_of(got, name).values(), parts_of(wanted, name).items(), strict=True)
    found = (other_form(item, right, part) for item, (part, right) in pairs)
    return next((one for one in found if one), None)
