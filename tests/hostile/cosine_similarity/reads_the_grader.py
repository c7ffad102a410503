# cheat: imports the grader and answers with its oracle; must fail
import os
from pathlib import Path

HERE = Path(__file__).resolve()
PLACES = [*HERE.parents, Path.cwd(), Path(os.environ.get("PWD", "/"))]

for place in PLACES:
    for found in place.glob("katas/*/cosine_similarity/grader.py"):
        space = {}
        exec(found.read_text(), space)
        cosine_similarity = space["GRADER"].answers[0].oracle

if "cosine_similarity" not in globals():
    raise FileNotFoundError("no grader to be found")
