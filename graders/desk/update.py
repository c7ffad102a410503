"""`update`: brings a fork to the newest katas and graders by a merge that leaves the learner's answers alone.

The merge is made in a folder of its own. Only when it is whole does the clone go on to it, which git refuses where
that would touch work that was not committed; so whatever goes wrong, nothing has happened.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from graders.arguments import address
from graders.catalogue.katas import Kata
from graders.catalogue.source import same_program
from graders.catalogue.stub import bare
from graders.faults import UsageError

UPSTREAM = "upstream"
ANSWER = re.compile(r"katas/([^/]+)/([^/]+)/\2\.py")
CODE = re.compile(r"katas/[^/]+/[^/]+/[^/]+\.py")
STATEMENT = re.compile(r"katas/[^/]+/[^/]+/README\.md")
FIRST_LINES = 10


def main(options: argparse.Namespace, root: Path) -> int:
    clone = Clone(root)
    before = clone.git("rev-parse", "HEAD").strip()
    newest = clone.fetch(options.source)
    if clone.succeeds("merge-base", "--is-ancestor", newest, before):
        print("this is up to date")
        return 0
    after = clone.merged(before, newest)
    clone.go_on_to(after)
    for line in clone.changes(before, after):
        print(line)
    return 0


class Clone:
    """A learner's clone of this repository."""

    def __init__(self, root: Path) -> None:
        """Raises: UsageError where it is none."""
        self.root = root
        self.newest = "FETCH_HEAD"  # as the learner can name it
        done = self.run("rev-parse", "--verify", "HEAD")
        if done.returncode:
            raise UsageError(
                f"git takes this folder for no clone: clone your fork, and work there; git says: {complaint(done)}"
            )
        if Path(self.git("rev-parse", "--show-toplevel").strip()).resolve() != root.resolve():
            raise UsageError(f"{root} is a part of another git repository: clone your fork into a folder of its own")

    def git(self, *arguments: str, at: Path | None = None) -> str:
        """What it prints. Raises: UsageError with what it complains of."""
        done = self.run(*arguments, at=at)
        if done.returncode:
            raise UsageError(f"git {arguments[0]} did not work, and nothing was changed: {complaint(done)}")
        return done.stdout

    def succeeds(self, *arguments: str, at: Path | None = None) -> bool:
        return self.run(*arguments, at=at).returncode == 0

    def run(self, *arguments: str, at: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = ["git", "-c", "core.quotePath=false", "-c", "core.hooksPath=/dev/null", *arguments]
        try:
            return subprocess.run(
                command, cwd=at or self.root, capture_output=True, text=True, encoding="utf-8", check=False
            )
        except FileNotFoundError:
            raise UsageError("git is not installed: install it, then run this again") from None

    def fetch(self, source: str | None) -> str:
        """The newest commit of the repository that was forked. Raises: UsageError."""
        remotes = self.git("remote").split()
        if UPSTREAM not in remotes:
            source = source or address(self.root)
        if source and UPSTREAM not in remotes:
            self.git("remote", "add", "--", UPSTREAM, source)
        elif source:
            self.git("remote", "set-url", "--", UPSTREAM, source)
        elif UPSTREAM not in remotes:
            raise UsageError(
                "git does not know which repository you forked; say it once: nox -s update -- --from ADDRESS"
            )
        told = self.git("ls-remote", "--symref", UPSTREAM, "HEAD")
        branch = re.search(r"^ref: (\S+)\s+HEAD$", told, re.MULTILINE)
        self.git("fetch", "--quiet", "--no-tags", UPSTREAM, branch[1] if branch else "HEAD")
        known = f"{UPSTREAM}/{branch[1].removeprefix('refs/heads/')}" if branch else ""
        self.newest = known if self.succeeds("rev-parse", "--verify", known) else "FETCH_HEAD"
        return self.git("rev-parse", "FETCH_HEAD").strip()

    def merged(self, before: str, newest: str) -> str:
        """A commit of both. Raises: UsageError where they cannot be merged."""
        if not self.succeeds("merge-base", before, newest):
            if self.git("rev-parse", "--is-shallow-repository").strip() == "true":
                raise UsageError(
                    "your clone has only the last part of its history, so nothing can be merged: get all of it by\n"
                    "  git fetch --unshallow\nthen run this again"
                )
            raise UsageError(
                "your clone shares no history with that repository, so nothing can be merged: fork it anew, and copy "
                "your answers there"
            )
        with tempfile.TemporaryDirectory() as folder:
            there = Path(folder) / "merge"
            self.git("worktree", "add", "--quiet", "--detach", str(there), before)
            try:
                self.merge(there, before, newest)
                return self.git("rev-parse", "HEAD", at=there).strip()
            finally:
                self.run("worktree", "remove", "--force", str(there))

    def merge(self, there: Path, before: str, newest: str) -> None:
        """Raises: UsageError."""
        self.run("merge", "--no-ff", "--no-commit", "--quiet", newest, at=there)
        common = self.git("merge-base", before, newest).strip()
        old, new, base = (self.files(commit) for commit in (before, newest, common))
        added = sorted(name for name in new - old - base if CODE.fullmatch(name))
        if added:  # git may take an answer for an older version of another kata's, or of a stub
            self.git("checkout", newest, "--", *added, at=there)
        for name in sorted(name for name in old - new if ANSWER.fullmatch(name) and self.is_written(name, before)):
            self.git("checkout", before, "--", name, at=there)
            for place in (one for one in added if ANSWER.fullmatch(one) and Path(one).name == Path(name).name):
                self.git("mv", "--force", "--", name, place, at=there)  # its topic is another one now
        for name in self.names("diff", "--name-only", "--cached", before, at=there):
            if ANSWER.fullmatch(name) and name in old and self.is_written(name, before):
                self.git("checkout", before, "--", name, at=there)
        for name in self.names("diff", "--name-only", "--diff-filter=U", at=there):
            if ANSWER.fullmatch(name) and name in old:
                self.git("checkout", before, "--", name, at=there)
            elif name in base - old:  # it was removed here, and stays so
                self.git("rm", "--quiet", "--cached", "--", name, at=there)
        clashing = self.names("diff", "--name-only", "--diff-filter=U", at=there)
        if clashing:
            raise UsageError(
                f"you and the newest version both changed {listed(clashing)}: nothing was changed. Take the newest by\n"
                f"  {' && '.join(self.taking(clashing))}\n"
                f"then run this again; or merge by hand:  git merge {self.newest}"
            )
        who = ("-c", "user.name=update", "-c", "user.email=update@localhost")
        known = self.succeeds("config", "user.email", at=there) and self.succeeds("config", "user.name", at=there)
        words = "Update to the newest katas and graders"
        self.git(*(() if known else who), "commit", "--quiet", "--no-verify", "--message", words, at=there)

    def taking(self, files: Sequence[str]) -> list[str]:
        """The commands that put the newest versions of these in the place of one's own."""
        there = [name for name in files if self.succeeds("cat-file", "-e", f"{self.newest}:{name}")]
        gone = [name for name in files if name not in there]
        taken = [f"git checkout {self.newest} -- {shlex.join(there)}"] if there else []
        return [*taken, *([f"git rm -- {shlex.join(gone)}"] if gone else []), "git commit -m 'Take the newest'"]

    def names(self, *arguments: str, at: Path | None = None) -> list[str]:
        return [name for name in self.git(*arguments, "-z", at=at).split("\0") if name]

    def files(self, commit: str) -> set[str]:
        return set(self.names("ls-tree", "-r", "--name-only", commit))

    def is_written(self, name: str, commit: str) -> bool:
        """Whether the learner has changed an answer file, be it committed or not."""
        stub = self.text(commit, str(Path(name).with_name(".stub.py")))
        file = self.root / name
        here = file.read_text(encoding="utf-8", errors="replace") if file.exists() else None
        versions = [self.text(commit, name), here]
        return any(one is not None and not same_program(one, stub or "") for one in versions)

    def text(self, commit: str, name: str) -> str | None:
        done = self.run("show", f"{commit}:{name}")
        return None if done.returncode else done.stdout

    def go_on_to(self, after: str) -> None:
        """Raises: UsageError where that would overwrite what was not committed."""
        done = self.run("merge", "--ff-only", "--quiet", after)
        if done.returncode:
            files = re.findall(r"^\t(.+)$", done.stderr, re.MULTILINE)
            if not files:
                raise UsageError(f"git merge did not work, and nothing was changed: {complaint(done)}")
            raise UsageError(
                f"work of yours that is not committed stands in the way, {listed(files)}: nothing was changed. Commit "
                "it or put it aside (git stash), then run this again"
            )

    def changes(self, before: str, after: str) -> list[str]:
        """What came of it, for the learner."""
        changed = self.names("diff", "--name-only", before, after)
        old, now = self.files(before), self.files(after)
        stubs = [name for name in changed if name.endswith("/.stub.py")]
        known = {Path(name).parts[2] for name in old if name.endswith("/.stub.py")}
        new = [Path(name).parts[2] for name in stubs if name not in old and Path(name).parts[2] not in known]
        lines = [f"updated to {after[:10]}; your answers are as they were"]
        places = {Path(name).name: name for name in now - old if ANSWER.fullmatch(name)}
        for name in sorted(name for name in old - now if ANSWER.fullmatch(name) and Path(name).name in places):
            lines.append(f"{name} is {places[Path(name).name]} now")
        if new:
            lines.append(f"new katas: {', '.join(new)}")
        told = [Path(name).parts[2] for name in changed if STATEMENT.fullmatch(name) and name in old]
        if told:
            files = [name for name in changed if STATEMENT.fullmatch(name) and Path(name).parts[2] in told]
            shown = shlex.join(files if len(files) <= FIRST_LINES else ["katas/*/*/README.md"])
            lines.append(f"statements that changed: {', '.join(told)}\n  git diff {before[:10]} -- {shown}")
        for name in stubs:
            one, other = self.text(before, name), self.text(after, name)
            kata = Kata(self.root, Path(name).parts[1], Path(name).parts[2])
            if one and other and bare(one) != bare(other):
                answer = kata.answer_file.relative_to(self.root)
                written = kata.answer_file.exists() and self.is_written(answer.as_posix(), after)
                todo = f"; {answer} was written for the old one: see {name}" if written else ""
                lines.append(f"{kata.id} has a new contract{todo}")
        return lines


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """What git says, in one line."""
    return " ".join((done.stderr or done.stdout).strip().removeprefix("fatal: ").removeprefix("error: ").split())


def listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - FIRST_LINES} more" if len(names) > FIRST_LINES else ""
    return ", ".join(names[:FIRST_LINES]) + more
