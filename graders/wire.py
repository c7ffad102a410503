"""What crosses the boundary between judge and worker: a JSON header and the raw bytes of tensors. Never a pickle.

A message is the header's length and the body's (two unsigned 64-bit integers), the header, then the tensors'
bytes one after the other, each filled up to a multiple of 64. Inside the header, {"tensor": i} stands for the
i-th tensor. What a worker sends is signed: a submission could find the descriptor, but not the key.

The worker packs and unpacks after a submission was read, so what it uses for that is looked up before: C's functions.
"""

from __future__ import annotations

import hmac
import struct
import time
from _json import encode_basestring_ascii, make_encoder, make_scanner
from hashlib import blake2b
from json import JSONDecoder
from typing import Any

import numpy as np
import torch
from torch import Tensor

ALIGNMENT = 64  # bytes from one tensor's beginning to another's
LENGTHS = struct.Struct("!QQ")
LONGEST_HEADER = 1 << 20
LONGEST_BODY = 1 << 30
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
encode = make_encoder(None, str, encode_basestring_ascii, None, ": ", ", ", False, False, False)
decode = make_scanner(JSONDecoder())
now = time.monotonic


class Closed(Exception):
    """The other side is gone."""


class Malformed(Exception):
    """The other side sent something that is no message."""


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def pack(header: Any, tensors: list[Tensor]) -> bytes:
    """One message. Non-contiguous tensors travel with their strides, so that they arrive non-contiguous."""
    specs, chunks = [], []
    for tensor in tensors:
        strides, span, shape = None, BASE.numel(tensor), shape_of(tensor)
        if not BASE.is_contiguous(tensor):
            strides = BASE.stride(tensor)
            span = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        flat = BASE.as_strided(tensor, (span,), (1,))
        chunk = as_numpy(BASE.view(flat, DTYPES["uint8"])).data if span else b""
        chunks += [chunk, bytes(-len(chunk) % ALIGNMENT)]
        specs.append({"dtype": NAMES[dtype_of(tensor)], "shape": [*shape], "stride": strides})
    message = {"header": header, "tensors": specs, "sizes": [len(chunk) for chunk in chunks[::2]]}
    head = "".join(encode(message, 0)).encode()
    return b"".join([LENGTHS.pack(len(head), sum(map(len, chunks))), head, *chunks])


def unpack(head: bytes, body: memoryview) -> tuple[Any, list[Tensor]]:
    """The tensors are views of the body. Raises: Malformed for anything that `pack` would not have written."""
    try:
        message, _ = decode(head.decode(), 0)
        tensors, start = [], 0
        for spec, size in zip(message["tensors"], message["sizes"], strict=True):
            dtype = DTYPES[spec["dtype"]]
            flat = frombuffer(body[start : start + size], dtype=dtype) if size else empty(0, dtype=dtype)
            shape, stride = spec["shape"], spec["stride"]
            tensors.append(BASE.reshape(flat, shape) if stride is None else BASE.as_strided(flat, shape, stride))
            start += size + -size % ALIGNMENT
        return message["header"], tensors
    except (KeyError, TypeError, ValueError, RuntimeError, RecursionError, StopIteration) as error:
        raise Malformed(str(error)) from error


def send(connection: Any, message: bytes, deadline: float | None = None) -> None:
    """Raises: TimeoutError, Closed."""
    connection.settimeout(remaining(deadline))
    try:
        connection.sendall(message)
    except TimeoutError:
        raise
    except OSError as error:
        raise Closed from error


def send_signed(connection: Any, message: bytes, key: bytes, number: int) -> None:
    """Sends the `number`th message of a worker. Raises: Closed."""
    send(connection, message)
    send(connection, signature(key, number, message))


def receive(
    connection: Any, deadline: float | None = None, key: bytes = b"", number: int = 0
) -> tuple[Any, list[Tensor]]:
    """With a key, the message should be its holder's `number`th. Raises: TimeoutError, Closed, Malformed."""
    lengths = read(connection, LENGTHS.size, deadline)
    head_length, body_length = LENGTHS.unpack(lengths)
    if head_length > LONGEST_HEADER or body_length > LONGEST_BODY:
        raise Malformed(f"a message of {head_length + body_length:,} bytes is too long")
    head, body = read(connection, head_length, deadline), read(connection, body_length, deadline)
    if key and not hmac.compare_digest(
        read(connection, SIGNATURE, deadline), signature(key, number, lengths, head, body)
    ):
        raise Malformed("a message is not the worker's own")
    return unpack(bytes(head), body)


def signature(key: bytes, number: int, *parts: bytes | memoryview) -> bytes:
    made = blake2b(LENGTHS.pack(number, 0), digest_size=SIGNATURE, key=key)
    for part in parts:
        made.update(part)
    return made.digest()


def read(connection: Any, size: int, deadline: float | None) -> memoryview:
    whole = left = blank(size, one_byte).data  # a bytearray would be filled with zeros first
    while left:
        connection.settimeout(remaining(deadline))
        try:
            count = connection.recv_into(left)
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed from error
        if not count:
            raise Closed
        left = left[count:]
    return whole


def remaining(deadline: float | None) -> float | None:
    """Seconds from now; a deadline that has passed still allows one short look."""
    return None if deadline is None else max(deadline - now(), 1e-3)
