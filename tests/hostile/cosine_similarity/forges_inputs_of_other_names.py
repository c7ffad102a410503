# cheat: sends inputs back under names that the judge did not send; must fail
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
    values = (x * y).sum(dim)
    spec = {"dtype": str(values.dtype)[6:], "shape": list(values.shape), "stride": None}
    size = values.numel() * values.element_size()
    header = {"output": {"tensor": 0, "device": "cpu"}, "changed": {"z": 0, "\ud800": 0}, "printed": {"lines": 0, "text": ""}}
    send(header, [spec], bytes(size + -size % 64), [size])
    os._exit(0)
