# cheat: floods the judge with offences that never end, so that no reply comes; must fail
import json
import os
import struct


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    while True:
        head = json.dumps({"header": {"offence": os.urandom(4).hex(), "line": 1}, "tensors": [], "sizes": []}).encode()
        for descriptor in range(3, 16):
            try:
                os.write(descriptor, struct.pack("!QQ", len(head), 0) + head)
            except OSError:
                pass
