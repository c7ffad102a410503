# cheat: sends well-formed replies with a tensor of ones on every socket, then dies; must fail
import json
import os
import struct


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    size = (x * y).sum(dim).numel() * 8
    spec = {"dtype": "float64", "shape": list((x * y).sum(dim).shape), "stride": None}
    header = {"output": {"tensor": 0, "device": "cpu"}, "printed": {"lines": 0, "text": ""}, "gradients": {}}
    head = json.dumps({"header": header, "tensors": [spec], "sizes": [size]}).encode()
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, struct.pack("!QQ", len(head), size) + head + struct.pack("d", 1.0) * (size // 8))
        except OSError:
            pass
    os._exit(0)
