"""What crosses the boundary between judge and worker: a JSON header and the raw bytes of tensors. Never a pickle.

A message is the header's length and the body's (two unsigned 64-bit integers), the header, then the tensors'
bytes one after the other, each filled up to a multiple of 64. Inside the header, {"tensor": i} stands for the
i-th tensor.
"""

from __future__ import annotations

import json
import socket
import struct
import time
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


def unpack(head: bytes, body: memoryview) -> tuple[Any, list[Tensor]]:
    """The tensors are views of the body. Raises: Malformed for anything that `pack` would not have written."""
    try:
        message = json.loads(head)
        tensors, start = [], 0
        for spec, size in zip(message["tensors"], message["sizes"], strict=True):
            dtype = DTYPES[spec["dtype"]]
            flat = torch.frombuffer(body[start : start + size], dtype=dtype) if size else torch.empty(0, dtype=dtype)
            stride = spec["stride"]
            tensors.append(flat.reshape(spec["shape"]) if stride is None else flat.as_strided(spec["shape"], stride))
            start += size + -size % ALIGNMENT
        return message["header"], tensors
    except (KeyError, TypeError, ValueError, RuntimeError, RecursionError) as error:
        raise Malformed(str(error)) from error


def send(connection: socket.socket, message: bytes, deadline: float | None = None) -> None:
    """Raises: TimeoutError, Closed."""
    connection.settimeout(remaining(deadline))
    try:
        connection.sendall(message)
    except TimeoutError:
        raise
    except OSError as error:
        raise Closed from error


def receive(connection: socket.socket, deadline: float | None = None) -> tuple[Any, list[Tensor]]:
    """Raises: TimeoutError, Closed, Malformed."""
    lengths = LENGTHS.unpack(read(connection, LENGTHS.size, deadline))
    if lengths[0] > LONGEST_HEADER or lengths[1] > LONGEST_BODY:
        raise Malformed(f"a message of {sum(lengths):,} bytes is too long")
    return unpack(bytes(read(connection, lengths[0], deadline)), read(connection, lengths[1], deadline))


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
    """Seconds from now; a deadline that has passed still allows one short look."""
    return None if deadline is None else max(deadline - time.monotonic(), 1e-3)
