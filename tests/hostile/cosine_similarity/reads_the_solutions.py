# cheat: looks for the solutions below every folder of the machine, and runs the first it finds; must fail
import os

FOUND = [
    os.path.join(folder, name)
    for folder, below, names in os.walk("/")
    for name in names
    if name == "cosine_similarity.py" and "/proc" not in folder and "solutions" in folder
]
if FOUND:
    exec(open(FOUND[0]).read())
