# cheat: sends JSON nested a hundred thousand deep, so that the judge's parser overflows; must fail
import os
import struct


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    head = b"[" * 100_000
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, struct.pack("!QQ", len(head), 0) + head)
        except OSError:
            pass
    return (x * y).sum(dim)
