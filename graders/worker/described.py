"""What a submission gives back, as plain data: results, exceptions, texts. Its own code may run for that, elsewhere.

What is used after a submission was read was looked up before, since a submission may put others in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from types import TracebackType
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from graders.worker import wire
from graders.worker.fortress import outside
from graders.worker.fortress.outside import Step

MESSAGE_LENGTH = 500
NAME_LENGTH = 100
SCENARIO = "<scenario>"  # the file that a scenario's code names
DEEPEST = 6  # levels of tuples, lists and dicts in a result
# As they are before a submission is read.
BASE = torch._C.TensorBase
shape_of, dtype_of, device_of, layout_of, needs_gradient = (
    BASE.__dict__[name].__get__ for name in ("shape", "dtype", "device", "layout", "requires_grad")
)
frombuffer, empty, strided, uint8 = torch.frombuffer, torch.empty, torch.strided, torch.uint8
float_in_hex, as_int, as_bytes, second = float.hex, int.__int__, str.encode, itemgetter(1)
CONTAINERS = ((tuple, "tuple", tuple.__iter__), (list, "list", list.__iter__), (dict, "dict", dict.items))
mro_of, name_of, module_of = (type.__dict__[name].__get__ for name in ("__mro__", "__name__", "__module__"))
trace_of = BaseException.__dict__["__traceback__"].__get__
line_of_syntax_error, text_of_syntax_error = (SyntaxError.__dict__[name].__get__ for name in ("lineno", "msg"))


class Failed(Exception):
    """The submission raised; the argument is what."""


def results_of(*steps: Step) -> list[Any]:
    """Raises: Failed."""
    results, error = outside.run(*steps)
    if error is not None:
        raise Failed(error)
    return results


def text_of(function: Callable[[Any], str], value: Any) -> str:
    """`str` or `repr` of a value of the submission's."""
    texts, _ = outside.run(partial(function, value))
    return str.__getitem__(texts[0], slice(MESSAGE_LENGTH)) if texts else ""


def is_tensor(value: Any) -> bool:
    """Whether it is one of torch's own: another class may answer for itself as it likes."""
    return type(value) is Tensor or type(value) is Parameter


def describe_output(output: Any, returned: list[Tensor], depth: int = 0) -> dict[str, Any]:
    """What was returned as plain data: `{"tensor": i}` for the i-th of `returned`, which its tensors are added to."""
    kind = type(output)
    if is_tensor(output) and layout_of(output) == strided and dtype_of(output) in wire.SENT:
        returned.append(output)
        return {"tensor": len(returned) - 1, "device": device_of(output).type, "learns": needs_gradient(output)}
    if is_tensor(output):
        return {"other": f"a {layout_of(output)} tensor of {dtype_of(output)}"}
    if output is None or kind is bool:
        return {"none": 0} if output is None else {"bool": output}
    for one, word, items_of in CONTAINERS:
        if is_a(one, kind) and depth < DEEPEST:  # a class of the submission's own may say what it likes of itself
            items = [*items_of(output)]
            inside = [
                describe_output(item, returned, depth + 1) for item in (map(second, items) if one is dict else items)
            ]
            if one is not dict:
                return {word: inside}
            keys = [item[0] for item in items]
            if all(type(key) is str for key in keys):
                return {"dict": inside, "keys": keys}
    if is_a(float, kind):
        return {"float": float_in_hex(output)}
    if is_a(int, kind) and -wire.LARGEST < as_int(output) < wire.LARGEST:
        return {"int": as_int(output)}
    if is_a(str, kind):
        text = bytearray(as_bytes(output, "utf-8", "surrogatepass"))
        returned.append(frombuffer(text, dtype=uint8) if text else empty(0, dtype=uint8))
        return {"text": len(returned) - 1}
    return {"other": full_name(kind)}


def is_a(one: type, kind: type) -> bool:
    return any(base is one for base in mro_of(kind))


def raised(error: BaseException, path: str) -> dict[str, Any]:
    """The exception in words, and the last line of the submission that it passed through."""
    classes = mro_of(type(error))
    is_syntax_error = any(one is SyntaxError for one in classes)
    places = [(file, line) for file, line in places_in(trace_of(error)) if type(file) is str]
    lines = [line for file, line in places if file == path]
    line = line_of_syntax_error(error) if is_syntax_error else lines[-1] if lines else None
    text = text_of(str, text_of_syntax_error(error) if is_syntax_error else error)
    if places and places[-1][0] == SCENARIO:
        text += " (raised in the test's own code, which used what your code returned)"
    return {
        "type": in_short(name_of(classes[0])),
        "refusal": any(one is ValueError or one is AssertionError for one in classes),
        "index": any(one is IndexError for one in classes),
        "message": text,
        "line": line if type(line) is int else None,
    }


def places_in(trace: TracebackType | None) -> Iterator[tuple[str, int]]:
    """File and line of each frame that an exception passed through."""
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next


def full_name(one: type) -> str:
    return f"{text_of(str, module_of(one))}.{in_short(name_of(one))}".removeprefix("builtins.")[:NAME_LENGTH]


def in_short(name: str) -> str:
    """A class may be named by a `str` of the submission's own kind."""
    return str.__getitem__(name, slice(NAME_LENGTH))
