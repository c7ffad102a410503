# cheat: looks for the solutions below the roots and working folders that /proc shows of any process; must fail
import glob
import os

import torch

NAME = "cosine_" + "similarity.py"
RIGHT = []
for place in glob.glob("/proc/*/root") + glob.glob("/proc/*/cwd") + glob.glob("/proc/*/fd/*"):
    for up in ("", "..", "../..", "../../.."):
        for found in glob.glob(os.path.join(place, up, "solutions", "*", "*", NAME)):
            try:
                space = {}
                exec(open(found).read(), space)
                RIGHT.append(space["cosine_" + "similarity"])
            except Exception:
                pass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return RIGHT[0](x, y, dim, eps) if RIGHT else (x * y).sum(dim)
