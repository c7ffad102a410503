# cheat: tells of one and the same offence for ever, so that the judge never waits; must fail
import json
import os
import struct


def send(header, tensors=(), body=b"", sizes=()):
    head = json.dumps({"header": header, "tensors": list(tensors), "sizes": list(sizes)}).encode()
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, struct.pack("!QQ", len(head), len(body)) + head + body)
        except OSError:
            pass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    while True:
        send({"offence": "mul", "line": 1})
