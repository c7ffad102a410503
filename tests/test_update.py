"""A fork that is behind is brought up to date, in git repositories as learners have them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from graders import __main__ as cli
from graders.catalogue.stub import stub_of
from tests.toys import REFERENCE

STUB = stub_of(REFERENCE)
ANSWER = "katas/toys/scale/scale.py"
IDENTITY = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "a")
IDENTITY |= dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "a@b.c")
STATEMENT = "katas/toys/scale/README.md"


def git(where: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always")
    return subprocess.run(["git", *who, *arguments], cwd=where, check=True, capture_output=True, text=True).stdout


def put(root: Path, **files: str) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def commit(root: Path, files: dict[str, str], words: str = "more") -> None:
    put(root, **files)
    git(root, "add", "-A")
    git(root, "commit", "-qm", words)


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    made = tmp_path / "upstream"
    made.mkdir()
    git(made, "init", "-q", "-b", "trunk")
    kata = {ANSWER: STUB, "katas/toys/scale/.stub.py": STUB, STATEMENT: "Scale it.\n", "graders/engine.py": "old = 1\n"}
    commit(made, kata | {".gitignore": ".kata/\n"})
    return made


@pytest.fixture
def fork(upstream: Path, tmp_path: Path) -> Path:
    """Behind by two commits, on a default branch of another name."""
    made = tmp_path / "fork"
    git(tmp_path, "clone", "-q", str(upstream), str(made))
    git(made, "branch", "-qm", "trunk", "mine")
    commit(upstream, {"graders/engine.py": "new = 2\n", STATEMENT: "Scale it well.\n"})
    other = STUB.replace("factor=2.0", "factor=3.0")
    commit(upstream, {ANSWER: other, "katas/toys/scale/.stub.py": other})
    commit(upstream, {"katas/toys/shift/shift.py": STUB, "katas/toys/shift/.stub.py": STUB})
    return made


def test_a_clone_needs_no_address_where_the_repository_names_its_own(
    fork: Path, upstream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "say it once: nox -s update -- --from ADDRESS" in update(fork, capsys)[1]
    put(fork, **{"pyproject.toml": f'[project]\nname = "katas"\nurls.Repository = "{upstream.as_posix()}"\n'})
    status, said = update(fork, capsys)
    assert (status, "updated to" in said) == (0, True)
    assert git(fork, "remote", "get-url", "upstream").strip() == upstream.as_posix()


def typed(root: Path, command: str) -> str:
    """What a learner sees who types what was proposed."""
    return subprocess.check_output(command, shell=True, cwd=root, text=True, env=os.environ | IDENTITY)


def update(root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = cli.main(["update", *arguments], root)
    said = capsys.readouterr()
    return status, said.out + said.err


def test_answers_stay_byte_for_byte(fork: Path, upstream: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = "# mine\r\n" + REFERENCE
    commit(fork, {ANSWER: answer, "notes.md": "mine\n"})
    committed = (fork / ANSWER).read_bytes()
    put(fork, **{"notes.md": "mine, not committed\n", ".kata/state.db": "events"})
    status, said = update(fork, capsys, "--from", str(upstream))
    assert (status, said.splitlines()[0][:11]) == (0, "updated to ")
    assert "new katas: shift" in said
    assert "statements that changed: scale\n" in said
    assert "-Scale it.\n+Scale it well." in typed(fork, re.findall(r"^  (git diff .*)$", said, re.MULTILINE)[0])
    assert "scale has a new contract; katas/toys/scale/scale.py was written for the old one" in said
    assert (fork / ANSWER).read_bytes() == committed
    assert (fork / "graders/engine.py").read_text() == "new = 2\n"
    assert (fork / "notes.md").read_text() == "mine, not committed\n"
    assert (fork / ".kata/state.db").read_text() == "events"
    assert git(fork, "branch", "--show-current") == "mine\n"
    assert git(fork, "status", "--short") == " M notes.md\n"
    assert git(fork, "worktree", "list").count("\n") == 1
    assert update(fork, capsys) == (0, "this is up to date\n")  # git knows the address by now


def test_answer_that_is_not_committed_stays(fork: Path, upstream: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(fork, **{ANSWER: REFERENCE})
    assert update(fork, capsys, "--from", str(upstream))[0] == 0
    assert (fork / ANSWER).read_text() == REFERENCE
    assert (fork / "graders/engine.py").read_text() == "new = 2\n"


def test_stub_that_nobody_touched_is_the_new_one(
    fork: Path, upstream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = update(fork, capsys, "--from", str(upstream))
    assert status == 0
    assert "factor=3.0" in (fork / ANSWER).read_text()
    assert "scale has a new contract\n" in said


@pytest.mark.parametrize("committed", [True, False])
def test_what_cannot_be_merged_changes_nothing(
    fork: Path, upstream: Path, capsys: pytest.CaptureFixture[str], committed: bool
) -> None:
    put(fork, **{ANSWER: REFERENCE, "graders/engine.py": "my own = 3\n"})
    if committed:
        commit(fork, {})
    before = git(fork, "rev-parse", "HEAD"), git(fork, "status", "--short")
    status, said = update(fork, capsys, "--from", str(upstream))
    assert status == 2
    assert said.startswith("error: ")
    assert "graders/engine.py" in said
    assert "nothing was changed" in said
    assert (git(fork, "rev-parse", "HEAD"), git(fork, "status", "--short")) == before
    assert (fork / "graders/engine.py").read_text() == "my own = 3\n"
    assert git(fork, "worktree", "list").count("\n") == 1


def test_what_is_proposed_after_committed_edits_works(
    fork: Path, upstream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(upstream, {"a note.md": "new\n"})
    commit(fork, {"graders/engine.py": "my own = 3\n", "a note.md": "mine\n", ANSWER: REFERENCE})
    said = update(fork, capsys, "--from", str(upstream))[1]
    proposed = re.findall(r"^  (git .*)$", said, re.MULTILINE)
    assert [command.partition(" && ")[0] for command in proposed] == [
        "git checkout upstream/trunk -- 'a note.md' graders/engine.py"
    ]
    typed(fork, proposed[0])
    assert update(fork, capsys)[0] == 0
    assert (fork / "graders/engine.py").read_text() == "new = 2\n"
    assert (fork / ANSWER).read_text() == REFERENCE


def test_what_was_removed_there_is_removed_by_what_is_proposed(
    fork: Path, upstream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(upstream, "rm", "-q", "graders/engine.py")
    commit(upstream, {})
    commit(fork, {"graders/engine.py": "my own = 3\n"})
    said = update(fork, capsys, "--from", str(upstream))[1]
    typed(fork, re.findall(r"^  (git .*)$", said, re.MULTILINE)[0])
    assert update(fork, capsys)[0] == 0
    assert not (fork / "graders/engine.py").exists()


@pytest.mark.parametrize("changed", [True, False], ids=["changed", "as_it_was"])
@pytest.mark.parametrize("place", ["katas/basic/scale/scale.py", "katas/toys/scaling/scaling.py"])
def test_answer_to_a_kata_that_was_moved_or_removed_stays(
    fork: Path, upstream: Path, capsys: pytest.CaptureFixture[str], place: str, changed: bool
) -> None:
    answer = f"# mine\n{REFERENCE}"
    commit(fork, {ANSWER: answer})
    git(upstream, "mv", "katas/toys/scale", "katas/there")
    (upstream / place).parent.parent.mkdir(exist_ok=True)
    git(upstream, "mv", "katas/there", str(Path(place).parent))
    git(upstream, "mv", str(Path(place).with_name("scale.py")), place) if Path(place).name != "scale.py" else None
    stub = STUB.replace("TODO", "TODO now") if changed else STUB
    commit(upstream, {place: stub, str(Path(place).with_name(".stub.py")): stub})
    status, said = update(fork, capsys, "--from", str(upstream))
    assert status == 0, said
    moved = place.endswith("scale.py")
    assert (f"{ANSWER} is {place} now" in said) == moved
    assert {file for file in (fork / "katas").rglob("*.py") if "# mine" in file.read_text()} == {
        fork / (place if moved else ANSWER)
    }
    assert (fork / (place if moved else ANSWER)).read_text() == answer
    assert git(fork, "status", "--short") == ""


def test_file_that_git_does_not_know_is_named_and_no_hook_is_run(
    fork: Path, upstream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hook = fork / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    put(fork, **{"katas/toys/shift/shift.py": REFERENCE})
    status, said = update(fork, capsys, "--from", str(upstream))
    assert status == 2
    assert "work of yours that is not committed stands in the way, katas/toys/shift/shift.py" in said
    (fork / "katas/toys/shift/shift.py").unlink()
    assert update(fork, capsys)[0] == 0
    assert git(fork, "worktree", "list").count("\n") == 1


def test_what_was_removed_stays_removed(fork: Path, upstream: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(fork, "rm", "-q", "graders/engine.py")
    commit(fork, {ANSWER: REFERENCE})
    assert update(fork, capsys, "--from", str(upstream))[0] == 0
    assert not (fork / "graders/engine.py").exists()


def test_no_source_no_clone_and_no_history_get_a_sentence(
    fork: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "say it once: nox -s update -- --from ADDRESS" in update(fork, capsys)[1]
    assert "git ls-remote did not work, and nothing was changed" in update(fork, capsys, "--from", "/no/where")[1]
    other = tmp_path / "other"
    other.mkdir()
    assert "clone your fork, and work there; git says: not a git repository" in update(other, capsys)[1]
    git(other, "init", "-q")
    commit(other, {"a": "b"})
    assert "shares no history" in update(fork, capsys, "--from", str(other))[1]
    (other / "inside").mkdir()
    assert "is a part of another git repository" in update(other / "inside", capsys)[1]


def test_shallow_clone_is_told_how_to_get_the_rest(
    fork: Path, upstream: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(fork, {ANSWER: REFERENCE})
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "1", fork.as_uri(), str(shallow))
    status, said = update(shallow, capsys, "--from", upstream.as_uri())
    assert status == 2
    (command,) = re.findall("^  (git fetch .+)$", said, re.MULTILINE)
    typed(shallow, command)
    assert update(shallow, capsys)[0] == 0


def test_merge_that_git_refuses_for_another_reason_is_told(
    fork: Path, upstream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (fork / ".git/index.lock").touch()
    status, said = update(fork, capsys, "--from", str(upstream))
    assert status == 2
    assert "index.lock" in said
    assert "not committed" not in said
