# cheat: writes files wherever it can: beside itself, at home, among the packages, in the temporary folder; must fail
import os
import tempfile
from pathlib import Path

import torch

PLACES = [Path(__file__).parent, Path(torch.__file__).parent, Path(os.__file__).parent, Path("/"), Path("/tmp")]
PLACES += [Path("/var/tmp"), Path("/dev/shm"), Path("/home"), Path("/root"), Path(tempfile.gettempdir()), Path.cwd().parent]
for place in PLACES:
    try:
        (place / "hostile_was_here").write_text("solved")
    except OSError:
        pass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
