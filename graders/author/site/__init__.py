"""`site`: the pages of the katas, made of their statements by MkDocs; no solution, mistake or hint is on them."""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from graders.arguments import address
from graders.author.site import notebooks
from graders.author.site.scores import scores_page
from graders.catalogue import katas, markup, texts
from graders.catalogue.katas import ASKED, LEVELS, Kata
from graders.faults import GraderError, UsageError
from graders.files import make_room
from graders.pages import environment

HERE = Path(__file__).parent


def main(options: argparse.Namespace, root: Path) -> int:
    out: Path = options.out.absolute()
    if out.is_dir() and any(out.iterdir()) and not (out / "sitemap.xml").exists():
        raise UsageError(f"{options.out} has other files; name an empty or a new folder with --out")
    make_room(out / "index.html", "name another folder with --out")
    scores = scores_page(options.scores) if options.scores else ""
    chosen = katas.all_katas(root)
    repository = os.environ.get("GITHUB_REPOSITORY") or address(root).removeprefix("https://github.com/")
    with tempfile.TemporaryDirectory() as folder:
        write_sources(Path(folder), chosen, root, scores, repository)
        command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--clean", "--site-dir", str(out)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise GraderError(f"MkDocs could not build the pages: {(done.stderr or done.stdout).strip()[-800:]}")
    for page in out.rglob("*.html"):
        mend(page)
    if repository:
        notebooks.write(out / "notebooks", chosen, repository)
    print(f"wrote {out}; open {(out / 'index.html').as_uri()}")
    serving = [sys.executable, "-m", "http.server", "--directory", str(out)]
    print(f"search works once it is served: {subprocess.list2cmdline(serving)}")  # with quotes where a path has spaces
    return 0


def mend(page: Path) -> None:
    """What the theme leaves out for those who do not see the page, or have no mouse."""
    text = page.read_text(encoding="utf-8")
    text = text.replace('<input class="md-option"', '<input tabindex="-1" class="md-option"')
    search = 'data-md-component="search" role="dialog"'
    page.write_text(text.replace(search, f'{search} aria-label="Search"'), encoding="utf-8")


def write_sources(folder: Path, chosen: list[Kata], root: Path, scores: str, repository: str) -> None:
    docs = folder / "docs"
    docs.mkdir()
    shutil.copy(HERE / "extra.css", docs)
    (docs / "index.md").write_text(front_page(chosen, repository), encoding="utf-8")
    (docs / "rules.md").write_text(markup.rules(), encoding="utf-8")
    if scores:
        (docs / "scores.md").write_text(scores, encoding="utf-8")
    for kata in chosen:
        page = docs / kata.topic / f"{kata.id}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(kata_page(kata, {one.id: one for one in chosen}, repository), encoding="utf-8")
    (folder / "mkdocs.yml").write_text(
        yaml.safe_dump(settings(chosen, bool(scores)), sort_keys=False), encoding="utf-8"
    )


def settings(chosen: list[Kata], scored: bool) -> dict[str, object]:
    """Of MkDocs. Nothing is asked of another host when a page is shown."""
    topics = itertools.groupby(chosen, key=lambda kata: kata.topic)
    pages = [{topic: [{kata.about.title: f"{topic}/{kata.id}.md"} for kata in group]} for topic, group in topics]
    scheme = {"primary": "custom", "accent": "custom"}
    return {
        "site_name": "Deep Learning Katas",
        "theme": {
            "name": "material",
            "font": False,
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default"} | scheme,
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate"} | scheme,
            ],
            "features": ["navigation.footer"],
        },
        "extra": {"generator": False},
        "extra_css": ["extra.css"],
        "plugins": ["search"],
        "use_directory_urls": False,
        "markdown_extensions": [*markup.EXTENSIONS],
        "nav": [
            {"The katas": "index.md"},
            {"What every kata asks": "rules.md"},
            *([{"Scores": "scores.md"}] if scored else []),
            *pages,
        ],
    }


def front_page(chosen: list[Kata], repository: str) -> str:
    """The map, with filters that need no script: each choice has an id, and each kata the ids that it belongs to."""
    goals = katas.goals(chosen[0].root) if chosen else {}
    known = {kata.id: classes(kata, goals) for kata in chosen}
    values: dict[str, dict[Any, Any]] = {
        "topic": {kata.topic: kata.topic for kata in chosen},
        "level": {level: level for level in LEVELS},
        "asked": {asked: asked for asked in ASKED},
        "path": {name: title for name, (title, _) in goals.items()},
    }
    filters = {kind: [(f"{kind}-{one}", text) for one, text in own.items()] for kind, own in values.items()}
    choices = [[None, *(one for one, _ in own)] for own in filters.values()]
    combined = [set(filter(None, some)) for some in itertools.product(*choices)]
    template = environment(HERE).get_template("index.md.jinja")
    return template.render(
        katas={kata.id: kata for kata in chosen},
        classes=known,
        filters=filters,
        empty=[sorted(some) for some in combined if not any(some <= own for own in known.values())],
        repository=repository,
    )


def classes(kata: Kata, goals: dict[str, tuple[str, list[str]]]) -> set[str]:
    """What the map's filters know it by."""
    paths = {f"path-{name}" for name, (_, members) in goals.items() if kata.id in members}
    return {f"level-{kata.about.level}", f"topic-{kata.topic}", f"asked-{kata.about.asked}", *paths}


def kata_page(kata: Kata, known: dict[str, Kata], repository: str) -> str:
    text = texts.text_of(kata)
    title, _, body = text.partition("\n")
    about = f"{kata.topic}, level {kata.about.level}, about {kata.about.minutes} minutes in an interview"
    about += f", also called {', '.join(kata.about.aliases)}" * bool(kata.about.aliases)
    about += f", asked {kata.about.asked}, as candidates report" * bool(kata.about.asked)
    start = f"```console\n$ nox -s watch -- {kata.id}\n```"
    if repository:
        start += f"\n\n[Open in Colab]({notebooks.address(kata, repository)})"
    folded = f"<details>\n<summary>What an interviewer asks next</summary>\n{markup.follow_up(kata)}\n\n</details>"
    page = f"{title}\n\n*{about}.*\n\n{start}\n{body}\n\n## Follow-up questions\n\n{folded}\n"
    addresses = {name: f"../{one.topic}/{name}.md" for name, one in known.items()}
    return markup.marked_up(page, addresses.get, rules="../rules.md")
