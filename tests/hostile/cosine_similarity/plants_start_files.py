# cheat: writes sitecustomize.py, conftest.py and torch.py where Python might find them; must fail
import site
import sys
from pathlib import Path

for place in {*sys.path, *site.getsitepackages(), str(Path.cwd()), str(Path(__file__).parent)}:
    for name in ("sitecustomize.py", "conftest.py", "hostile_was_here.pth"):
        target = Path(place) / name
        try:
            if not target.exists():
                target.write_text("import os; os._exit(0)")
        except OSError:
            pass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
