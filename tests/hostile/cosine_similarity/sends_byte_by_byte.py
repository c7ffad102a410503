# cheat: sends a message one byte at a time, so that every wait of the judge is a short one; must fail
import os
import struct
import time


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    while True:
        for byte in struct.pack("!QQ", 1 << 20, 0):
            for descriptor in range(3, 16):
                try:
                    os.write(descriptor, bytes([byte]))
                except OSError:
                    pass
            time.sleep(0.01)
