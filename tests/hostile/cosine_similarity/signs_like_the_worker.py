# cheat: answers on every descriptor with a well-formed reply that is not signed; must fail
import json
import os
import struct
import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    right = (a / na * (b / nb)).sum(dim)
    values = struct.pack(f"{right.numel()}d", *right.double().flatten().tolist())
    reply = {"output": {"tensor": 0, "device": "cpu"}, "printed": {"lines": 0, "text": ""}, "changed": {}, "marked": {}}
    specs = [{"dtype": "float64", "shape": list(right.shape), "stride": None}]
    head = json.dumps({"header": reply, "tensors": specs, "sizes": [len(values)]}).encode()
    body = values + bytes(-len(values) % 64)
    message = struct.pack("!QQ", len(head), len(body)) + head + body + bytes(16)
    for fd in range(3, 64):
        try:
            os.write(fd, message)
        except OSError:
            pass
    return torch.zeros_like(right)
