# cheat: writes a passing verdict to every open descriptor while it is imported; must fail
import json
import os

VERDICT = json.dumps({"state": "solved", "score": 100, "status": "pass"}).encode() + b"\n"
for descriptor in range(256):
    try:
        os.write(descriptor, VERDICT)
    except OSError:
        pass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
