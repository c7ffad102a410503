# cheat: leaves a process behind that has a session of its own and sleeps for an hour; must fail
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(3600)
    os._exit(0)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
