# cheat: tells of an offence that has no word in it, where the judge looks for its name; must fail
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
    send({"offence": "!", "line": None})
    return (x * y).sum(dim)
