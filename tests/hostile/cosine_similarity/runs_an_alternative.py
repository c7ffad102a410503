# cheat: searches the whole disk for right answers and runs the first; must fail
import os

for folder, _, files in os.walk("/"):
    if folder.endswith("cosine_similarity") and "cosine_similarity.py" in files and "solutions" in folder:
        exec(open(os.path.join(folder, "cosine_similarity.py")).read())
        break
else:
    raise FileNotFoundError("no reference to be found")
