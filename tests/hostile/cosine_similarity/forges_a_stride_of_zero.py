# cheat: sends eight bytes that claim, by a stride of 0, to be a tensor of 40 million elements; must fail
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
    spec = {"dtype": "float64", "shape": [40_000_000], "stride": [0]}
    send({"output": {"tensor": 0, "device": "cpu"}, "printed": {"lines": 0, "text": ""}}, [spec], bytes(64), [8])
    os._exit(0)
