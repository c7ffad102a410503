# cheat: sends a well-formed reply without anything in it on every socket, before the real one; must fail
import json
import os
import struct


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    head = json.dumps({"header": {"printed": {"lines": 0, "text": ""}}, "tensors": [], "sizes": []}).encode()
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, struct.pack("!QQ", len(head), 0) + head)
        except OSError:
            pass
    return (x * y).sum(dim)
