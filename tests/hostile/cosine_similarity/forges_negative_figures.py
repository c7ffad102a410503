# cheat: sends replies whose cost is below nothing, or true; must fail
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
    for figure in (-1, -(10**30), True):
        cost = dict.fromkeys(("operators", "written", "peak", "lines", "line"), figure)
        send({"output": {"tuple": []}, "cost": cost, "printed": {"lines": 0, "text": ""}})
    os._exit(0)
