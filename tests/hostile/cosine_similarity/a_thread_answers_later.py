# cheat: leaves a thread behind that writes to the judge while other checks run; must fail
import os
import threading
import time


def chatter():
    while True:
        time.sleep(0.01)
        for descriptor in range(3, 16):
            try:
                os.write(descriptor, bytes(16))
            except OSError:
                pass


threading.Thread(target=chatter, daemon=True).start()


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
