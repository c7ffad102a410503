# cheat: finds the reference solution on disk and runs that; must fail
import os
from pathlib import Path

HERE = Path(__file__).resolve()
PLACES = [*HERE.parents, Path.cwd(), Path(os.environ.get("PWD", "/"))]

for place in PLACES:
    for found in place.glob("solutions/*/cosine_similarity/cosine_similarity.py"):
        exec(found.read_text())

if "cosine_similarity" not in globals():
    raise FileNotFoundError("no reference to be found")
