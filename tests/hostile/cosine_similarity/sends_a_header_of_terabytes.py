# cheat: announces a message of 2^60 bytes on every socket, so that the judge runs out of memory; must fail
import os
import struct


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, struct.pack("!QQ", 1 << 60, 1 << 60))
        except OSError:
            pass
    return (x * y).sum(dim)
