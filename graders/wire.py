"""What crosses the boundary between judge and worker: a JSON header and the raw bytes of tensors. Never a pickle.

A message is the header's length and the body's (two unsigned 64-bit integers), the header, then the tensors'
bytes one after the other, each filled up to a multiple of 64. Inside the header, {"tensor": i} stands for the
i-th tensor.
"""

from __future__ import annotations

import json
import math
import socket
import struct
import time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from graders.visible import visible

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
        strides, span = None, tensor.numel()
        if not tensor.is_contiguous():
            strides = tensor.stride()
            span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, strides, strict=True))
        flat = tensor.as_strided((span,), (1,))
        chunk = flat.view(torch.uint8).numpy().data if span else b""
        chunks += [chunk, bytes(-len(chunk) % ALIGNMENT)]
        specs.append({"dtype": dtype_name(tensor.dtype), "shape": list(tensor.shape), "stride": strides})
    head = json.dumps({"header": header, "tensors": specs, "sizes": [len(chunk) for chunk in chunks[::2]]}).encode()
    return b"".join([LENGTHS.pack(len(head), sum(map(len, chunks))), head, *chunks])


def unpack(head: bytes, body: memoryview, believed: bool = True) -> tuple[Any, list[Tensor]]:
    """The tensors are views of the body. Raises: Malformed for anything that `pack` would not have written.

    Of a side that is not `believed`, every number is small, and every tensor is what came, byte for byte: no strides,
    by which few bytes would claim to be many.
    """
    try:
        message = json.loads(head.decode(), **({} if believed else NUMBERS))
        tensors, start = [], 0
        for spec, size in zip(message["tensors"], message["sizes"], strict=True):
            dtype, shape, stride = DTYPES[spec["dtype"]], spec["shape"], spec["stride"]
            if not believed:
                check_size(dtype, shape, stride, size)
            flat = torch.frombuffer(body[start : start + size], dtype=dtype) if size else torch.empty(0, dtype=dtype)
            if not believed and dtype == torch.bool and (flat.view(torch.uint8) > 1).any():
                raise ValueError("a truth value is neither 0 nor 1")
            tensors.append(flat.reshape(shape) if stride is None else flat.as_strided(shape, stride))
            start += size + -size % ALIGNMENT
        if start != len(body):
            raise ValueError(f"{len(body):,} bytes came for tensors of {start:,}")
        return message["header"], tensors
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:  # a RecursionError is the last
        raise Malformed(visible(str(error), 200)) from error


def check_size(dtype: torch.dtype, shape: Any, stride: Any, size: Any) -> None:
    """Raises: ValueError unless a tensor of this shape has this many bytes, one after the other."""
    whole = all(type(length) is int and length >= 0 for length in (*shape, size))
    if not whole or len(shape) > MOST_AXES or math.prod(length or 1 for length in shape) >= LARGEST:
        raise ValueError("a tensor's shape is none")
    if stride is not None or size != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"a tensor's {size:,} bytes are not those of its shape")


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


NUMBERS: dict[str, Any] = {"parse_constant": refuse, "parse_int": small, "parse_float": finite}  # of a JSON parser


def send(connection: socket.socket, message: bytes, deadline: float | None = None) -> None:
    """Raises: TimeoutError, Closed."""
    connection.settimeout(remaining(deadline))
    try:
        connection.sendall(message)
    except TimeoutError:
        raise
    except OSError as error:
        raise Closed from error


def receive(
    connection: socket.socket, deadline: float | None = None, longest: int | None = None
) -> tuple[Any, list[Tensor]]:
    """`longest` is the bytes of tensors that may come from a side that is not believed; None believes it.

    Raises: TimeoutError, Closed, Malformed.
    """
    lengths = LENGTHS.unpack(read(connection, LENGTHS.size, deadline))
    if longest is not None and (lengths[0] > LONGEST_HEADER or lengths[1] > longest):
        raise Malformed(f"a message of {sum(lengths):,} bytes is too long")
    head, body = bytes(read(connection, lengths[0], deadline)), read(connection, lengths[1], deadline)
    return unpack(head, body, believed=longest is None)


def read(connection: socket.socket, size: int, deadline: float | None) -> memoryview:
    whole = left = np.empty(size, np.uint8).data  # a bytearray would be filled with zeros first
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
    """Seconds from now. Raises: TimeoutError where none are left, else bytes that come one by one would have no end."""
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
