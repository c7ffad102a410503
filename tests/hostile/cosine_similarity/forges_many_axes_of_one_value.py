# cheat: sends one value as a tensor of 2^40 elements along axes that all have a stride of 0; must fail
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
    spec = {"dtype": "uint8", "shape": [1024] * 4, "stride": [0] * 4}
    send({"output": {"tuple": [{"tensor": 0, "device": "cpu"}] * 16}, "printed": {"lines": 0, "text": ""}}, [spec], bytes(64), [1])
    os._exit(0)
