# cheat: puts a proxy of its own before the worker's socket, which answers each call with the signed reply before; must fail
import os
import socket
import stat
import struct
import threading

import torch


def the_socket():
    for number in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                return number
        except OSError:
            pass


def read(end, size):
    whole = b""
    while len(whole) < size:
        part = end.recv(size - len(whole))
        if not part:
            os._exit(0)
        whole += part
    return whole


def message(end, signed):
    lengths = read(end, 16)
    return lengths, read(end, sum(struct.unpack("!QQ", lengths)) + (16 if signed else 0))


def pass_replies_on(inner, outer):
    outer.sendall(b"".join(message(inner, signed=True)))  # of the import itself
    kept = None
    while True:
        reply = b"".join(message(inner, signed=True))
        outer.sendall(kept or reply)
        kept = reply


def pass_requests_on(outer, inner):
    while True:
        inner.sendall(b"".join(message(outer, signed=False)))


number = the_socket()
outer = socket.socket(fileno=os.dup(number))
inner, theirs = socket.socketpair()
os.dup2(theirs.fileno(), number)
threading.Thread(target=pass_replies_on, args=(inner, outer), daemon=True).start()
threading.Thread(target=pass_requests_on, args=(outer, inner), daemon=True).start()


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    a, b = torch.broadcast_tensors(x, y)
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim)
