"""What crosses the boundary between judge and worker: a JSON header and the raw bytes of tensors. Never a pickle.

A message is the header's length and the body's (two unsigned 64-bit integers), the header, then the tensors'
bytes one after the other, each filled up to a multiple of 64. Inside the header, {"tensor": i} stands for the
i-th tensor. What a worker sends is signed at the end: a submission could find the descriptor, but not the key.

The worker packs and unpacks after a submission was read, so what it uses for that is looked up before: C's functions.
"""

from __future__ import annotations

import hmac
import math
import re
import struct
from _json import encode_basestring_ascii, make_encoder, make_scanner
from collections.abc import Callable
from hashlib import blake2b
from json import JSONDecoder
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from graders.worker.visible import visible

ALIGNMENT = 64  # bytes from one tensor's beginning to another's
LENGTHS = struct.Struct("!QQ")
LONGEST_HEADER = 1 << 20
LARGEST = 1 << 63  # no number in a message from a worker reaches it
MOST_AXES = 32
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16,
        torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool,
    )
}  # fmt: skip


SENT = frozenset(DTYPES.values())
NAMES = {dtype: name for name, dtype in DTYPES.items()}
KEY, SIGNATURE = 32, 16  # bytes
BASE = torch._C.TensorBase
as_numpy, shape_of, dtype_of = BASE.numpy, BASE.__dict__["shape"].__get__, BASE.__dict__["dtype"].__get__
frombuffer, empty, blank, one_byte = torch.frombuffer, torch.empty, np.empty, np.uint8
unknown, two_bytes = torch.bfloat16, torch.int16  # numpy has no bfloat16, so its bytes are sent as int16
# How instances of these are called as it is now: both classes can be changed.
encode = make_encoder.__dict__["__call__"].__get__(
    make_encoder(None, str, encode_basestring_ascii, None, ": ", ", ", False, False, False)
)
decode = make_scanner.__dict__["__call__"].__get__(make_scanner(JSONDecoder()))  # type: ignore[arg-type]  # its settings
Remaining = Callable[[], float]  # seconds that are left. Raises: TimeoutError where none are


class Closed(Exception):
    """The other side is gone."""


class Malformed(Exception):
    """The other side sent something that is no message."""


def pack(header: Any, tensors: list[Tensor], key: bytes = b"", number: int = 0) -> bytes:
    """One message, signed with a key where one is given, as the `number`th of a worker's.

    Non-contiguous tensors travel with their strides, so that they arrive non-contiguous.
    """
    specs, chunks = [], []
    for tensor in tensors:
        strides, shape, flat = None, shape_of(tensor), BASE.detach(tensor)
        if not BASE.is_contiguous(tensor):
            strides = BASE.stride(tensor)
            span = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
            flat = BASE.as_strided(flat, (span,), (1,))
        if dtype_of(tensor) is unknown:
            flat = BASE.view(flat, two_bytes)
        chunk = as_numpy(flat).data.cast("B") if BASE.numel(flat) else b""
        chunks += [chunk, bytes(-len(chunk) % ALIGNMENT)]
        specs.append({"dtype": NAMES[dtype_of(tensor)], "shape": [*shape], "stride": strides})
    message = {"header": header, "tensors": specs, "sizes": [len(chunk) for chunk in chunks[::2]]}
    head = "".join(encode(message, 0)).encode()
    head += b" " * (-len(head) % ALIGNMENT)
    parts = [LENGTHS.pack(len(head), sum(map(len, chunks))), head, *chunks]
    return b"".join([*parts, signature(key, number, *parts)] if key else parts)


def unpack(head: bytes, body: memoryview, believed: bool = True) -> tuple[Any, list[Tensor]]:
    """The tensors are views of the body. Raises: Malformed for anything that `pack` would not have written.

    Of a side that is not `believed`, every number is small, and every tensor is what came, byte for byte: no strides,
    by which few bytes would claim to be many.
    """
    try:
        text = head.decode()
        message, end = (decode if believed else careful if LONG.search(text) else quick)(text, 0)
        if text[end:].strip(" "):
            raise ValueError("more than one header came")
        tensors, start = [], 0
        for spec, size in zip(message["tensors"], message["sizes"], strict=True):
            dtype, shape, stride = DTYPES[spec["dtype"]], spec["shape"], spec["stride"]
            if not believed:
                check_size(dtype, shape, stride, size)
            flat = frombuffer(body[start : start + size], dtype=dtype) if size else empty(0, dtype=dtype)
            if not believed and dtype == torch.bool and (flat.view(torch.uint8) > 1).any():
                raise ValueError("a truth value is neither 0 nor 1")
            tensors.append(BASE.reshape(flat, shape) if stride is None else BASE.as_strided(flat, shape, stride))
            start += size + -size % ALIGNMENT
        if start != len(body):
            raise ValueError(f"{len(body):,} bytes came for tensors of {start:,}")
        return message["header"], tensors
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError, StopIteration) as error:
        raise Malformed(visible(str(error), 200)) from error


def check_size(dtype: torch.dtype, shape: Any, stride: Any, size: Any) -> None:
    """Raises: ValueError unless a tensor of this shape has this many bytes, one after the other."""
    whole = all(type(length) is int and length >= 0 for length in (*shape, size))
    if not whole or len(shape) > MOST_AXES or math.prod(length or 1 for length in shape) >= LARGEST:
        raise ValueError("what came as a tensor's shape is no shape")
    if stride is not None or size != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"a tensor's {size:,} bytes do not fit its shape")


def refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def small(digits: str) -> int:
    if len(digits) > len(str(LARGEST)) or abs(int(digits)) >= LARGEST:
        raise ValueError("a number is too large")
    return int(digits)


def finite(digits: str) -> float:
    if not math.isfinite(float(digits)):
        raise ValueError("a number is too large")
    return float(digits)


LONG = re.compile(r"\d{19}")  # without it every whole number is small
quick = make_scanner(JSONDecoder(parse_constant=refuse, parse_float=finite))  # type: ignore[arg-type]  # its settings
careful = make_scanner(JSONDecoder(parse_constant=refuse, parse_float=finite, parse_int=small))  # type: ignore[arg-type]


def send(connection: Any, message: bytes, remaining: Remaining | None = None) -> None:
    """Raises: TimeoutError, Closed."""
    if remaining:
        connection.settimeout(remaining())
    try:
        connection.sendall(message)
    except TimeoutError:
        raise
    except OSError as error:
        raise Closed from error


class Sender(NamedTuple):
    """A worker, whose messages are signed with its key, and not believed all the same."""

    key: bytes
    number: int  # of the message that is expected
    longest: int  # bytes of tensors that may come


def receive(
    connection: Any, remaining: Remaining | None = None, sender: Sender | None = None
) -> tuple[Any, list[Tensor]]:
    """A message from a worker, or from the judge where no sender is named. Raises: TimeoutError, Closed, Malformed."""
    lengths = read(connection, LENGTHS.size, remaining)
    head_length, body_length = LENGTHS.unpack(lengths)
    if sender and (head_length > LONGEST_HEADER or body_length > sender.longest):
        raise Malformed(f"a message of {head_length + body_length:,} bytes is too long")
    end = head_length + body_length
    whole = read(connection, end + SIGNATURE if sender else end, remaining)
    if sender and not hmac.compare_digest(whole[end:], signature(sender.key, sender.number, lengths, whole[:end])):
        raise Malformed("a message is not the worker's own")
    return unpack(bytes(whole[:head_length]), whole[head_length:end], believed=sender is None)


def signature(key: bytes, number: int, *parts: bytes | memoryview) -> bytes:
    made = blake2b(LENGTHS.pack(number, 0), digest_size=SIGNATURE, key=key)
    for part in parts:
        made.update(part)
    return made.digest()


def read(connection: Any, size: int, remaining: Remaining | None = None) -> memoryview:
    """`remaining` is asked again and again: else bytes that come one by one would have no end."""
    whole = left = blank(size, one_byte).data  # a bytearray would be filled with zeros first
    while left:
        if remaining:
            connection.settimeout(remaining())
        try:
            count = connection.recv_into(left)
        except TimeoutError:
            continue
        except OSError as error:
            raise Closed from error
        if not count:
            raise Closed
        left = left[count:]
    return whole
