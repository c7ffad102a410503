"""A notebook of each kata, for Colab: docs/first_kata.ipynb with the kata's name, its stub and the fork's address."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graders.catalogue.katas import Kata
from graders.catalogue.stub import stub_for
from graders.faults import GraderError

FIRST = Path("docs/first_kata.ipynb")
BRANCH = "notebooks"  # of the repository: pages.yml pushes them there, since Colab opens what lies in one
FORK = "https://github.com/YOU/YOUR-FORK"
STATEMENT = "katas/similarity/cosine_similarity/README.md"  # of the first kata
WORDS = (
    "# {title}\n\nRun the next cell, which makes an environment with PyTorch (a few minutes the first time) and shows "
    "the task.",
    "Write your answer here. The cell runs as usual, then is judged in processes of its own; its card appears below.",
    "What Colab holds is gone when its session ends: to keep an answer, write it into your fork, in\n"
    "`katas/{topic}/{id}/{id}.py`.",
)


def address(kata: Kata, repository: str) -> str:
    """Where Colab shows its notebook."""
    return f"https://colab.research.google.com/github/{repository}/blob/{BRANCH}/{kata.id}.ipynb"


def write(folder: Path, katas: list[Kata], repository: str) -> None:
    """Raises: GraderError."""
    folder.mkdir()
    for kata in katas:
        text = json.dumps(notebook(kata, repository), ensure_ascii=False, indent=1)
        (folder / f"{kata.id}.ipynb").write_text(text + "\n", encoding="utf-8")


def notebook(kata: Kata, repository: str) -> dict[str, Any]:
    """Raises: GraderError."""
    made: dict[str, Any] = json.loads((kata.root / FIRST).read_text(encoding="utf-8"))
    setup = "".join(made["cells"][1]["source"])
    statement = kata.statement.relative_to(kata.root).as_posix()
    for old, new in ((f'"{FORK}"', f'"https://github.com/{repository}"'), (STATEMENT, statement)):
        if setup.count(old) != 1:
            raise GraderError(f"{FIRST} should name {old} once in its first cell of code")
        setup = setup.replace(old, new)
    title, answer, end = (words.format(title=kata.about.title, topic=kata.topic, id=kata.id) for words in WORDS)
    texts = (title, setup, answer, f"%%kata {kata.id}\n{stub_for(kata)}".rstrip(), end)
    made["cells"] = made["cells"][: len(texts)]  # which are of the same kinds
    for cell, text in zip(made["cells"], texts, strict=True):
        cell["source"] = text
    return made
