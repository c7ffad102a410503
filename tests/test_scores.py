"""The workflows that publish scores: their steps as bash runs them, with a bare repository in the place of GitHub's."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from graders.arguments import command_line
from graders.cohort.learners import slug
from graders.faults import ROOT
from tests.toys import REFERENCE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the workflows run on Linux")

GRADE, CLASSROOM = (
    yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))
    for name in ("grade.yml", "classroom.yml")
)
SVG = "{http://www.w3.org/2000/svg}"
ANSWER = "katas/toys/scale/scale.py"
IDENTITY = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def commit_of(number: int) -> str:
    return f"{number:040x}"


def named(workflow: Any, job: str, name: str) -> dict[str, Any]:
    (step,) = (one for one in workflow["jobs"][job]["steps"] if one.get("name") == name)
    return dict(step)


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True, env=IDENTITY | environment()
    )
    return done.stdout


def environment() -> dict[str, str]:
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


@dataclass
class Runner:
    """A machine of GitHub's, with a repository checked out; its `python` has the standard library alone."""

    folder: Path
    origin: Path
    programs: Path
    more: dict[str, str] = field(default_factory=dict)  # variables

    def install(self, name: str, script: str) -> None:
        file = self.programs / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def run(self, step: Mapping[str, Any], values: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """As GitHub runs it. `values` stand in for the expressions, by the variables that they are put into."""
        given = {name: str(value) for name, value in step.get("env", {}).items() if "${{" not in str(value)}
        expressions = step.get("env", {}).keys() - given.keys() - {"GIT_CONFIG_KEY_0"}
        assert expressions <= values.keys()
        variables = environment() | given | values | {"GIT_CONFIG_KEY_0": "credential.https://github.com.helper"}
        variables["PATH"] = f"{self.programs}:{variables['PATH']}"
        return subprocess.run(
            ["bash", "-e", "-c", step["run"]],
            cwd=self.folder / step.get("working-directory", "."),
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def publish(self, document: object, commit: str = commit_of(1)) -> subprocess.CompletedProcess[str]:
        """The step of grade.yml that publishes, on such a results.json."""
        text = document if isinstance(document, str) else json.dumps(document)
        (self.folder / "downloaded").mkdir(exist_ok=True)
        (self.folder / "downloaded" / "results.json").write_text(text, encoding="utf-8")
        step = named(GRADE, "publish", "Add the score to the branch `scores`")
        return self.run(step, {"GITHUB_SHA": commit, "TOKEN": "secret", "PUSHED": ""} | self.more)

    def published(self, name: str, branch: str = "scores") -> str:
        return git(self.origin, "show", f"{branch}:{name}")

    def rows(self, name: str = "README.md") -> list[str]:
        points = self.published(name).partition("</summary>")[2]
        return [line for line in points.splitlines() if line.startswith("|")][2:]

    def history(self) -> list[str]:
        return self.published("history.csv").splitlines()[1:]

    def edit_history(self, content: bytes, branch: str = "scores") -> None:
        """As its owner may, by hand."""
        blob = self.folder / "blob"
        blob.write_bytes(content)
        name = git(self.folder, "hash-object", "-w", str(blob)).strip()
        tree = subprocess.run(
            ["git", "-C", str(self.folder), "mktree"],
            input=f"100644 blob {name}\thistory.csv\n", capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip
        commit = git(self.folder, "commit-tree", tree, "-m", "by hand").strip()
        git(self.folder, "push", "--quiet", "--force", str(self.origin), f"{commit}:refs/heads/{branch}")


@pytest.fixture
def fork(tmp_path: Path) -> Runner:
    """With two katas, and a file that several katas share."""
    runner = Runner(tmp_path / "fork", tmp_path / "origin.git", tmp_path / "programs")
    runner.programs.mkdir()
    runner.install("python", f'exec {shlex.quote(sys.executable)} -S "$@"')
    shutil.copytree(ROOT / ".github", runner.folder / ".github")
    for kata in ("info_nce", "softmax"):
        (runner.folder / "katas" / "topic" / kata).mkdir(parents=True)
    (runner.folder / "katas/topic/shared.py").write_text("# no kata\n")
    git(tmp_path, "init", "--quiet", "--bare", str(runner.origin))
    git(runner.folder, "init", "--quiet", "--initial-branch=main")
    git(runner.folder, "remote", "add", "origin", str(runner.origin))
    git(runner.folder, "add", ".")
    git(runner.folder, "commit", "--quiet", "--message=katas")
    git(runner.folder, "push", "--quiet", "origin", "main")
    return runner


def results(**scores: int) -> dict[str, Any]:
    def state(score: int) -> str:
        return "solved" if score == 100 else "failing" if score else "todo"

    return {"results": [{"kata": kata, "state": state(score), "score": score} for kata, score in scores.items()]}


def test_first_push_makes_the_branch(fork: Runner) -> None:
    done = fork.publish(results(info_nce=38, softmax=100))
    assert (done.returncode, done.stderr) == (0, "")
    assert git(fork.origin, "ls-tree", "--name-only", "scores").split() == [
        "README.md", "badge.json", "history.csv", "history.svg",
    ]  # fmt: skip
    assert fork.rows() == [
        "| info_nce | failing | 38/100 | 38/100 |",
        "| softmax | solved | 100/100 | 100/100 |",
        "| **all** | | **138/200** | **138/200** |",
    ]
    (line,) = fork.history()
    assert line.split(",", 1)[1] == f"{commit_of(1)},138,200,info_nce=38 softmax=100"
    assert json.loads(fork.published("badge.json")) == {
        "schemaVersion": 1,
        "label": "katas, best",
        "message": "138/200",
        "color": "yellow",
    }
    assert "secret" not in done.stdout + git(fork.origin, "log", "-p", "scores")


def test_fork_shows_what_is_solved_and_where_to_try_it(fork: Runner) -> None:
    (fork.folder / "docs").mkdir()
    shutil.copy(ROOT / "docs/first_kata.ipynb", fork.folder / "docs")
    fork.publish(results(info_nce=38, softmax=100))
    text = fork.published("README.md")
    assert text.startswith("# 1 of 2 katas solved\n\n![The best and the current score after each push](history.svg)\n")
    assert re.search(r"^\| softmax \| topic \| \d{4}-\d\d-\d\d \|$", text, re.MULTILINE)
    assert "https://" not in text
    fork.more["GITHUB_REPOSITORY"] = "ada/her-katas"
    fork.publish(results(info_nce=100, softmax=38), commit_of(2))
    text = fork.published("README.md")
    assert text.startswith("# 2 of 2 katas solved\n")
    shown = [line for line in text.partition("<details>")[0].splitlines() if line.startswith("|")][2:]
    assert [line.partition(" | ")[0] for line in shown] == [
        f"| [{name}](https://github.com/ada/her-katas/tree/main/katas/topic/{name})" for name in ("softmax", "info_nce")
    ]
    for to in (
        "(https://img.shields.io/endpoint?url=https://raw.githubusercontent.com/ada/her-katas/scores/badge.json)",
        "(https://colab.research.google.com/github/ada/her-katas/blob/scores/first_kata.ipynb)",
        "(https://codespaces.new/ada/her-katas)",
    ):
        assert to in text
    first = json.loads(fork.published("first_kata.ipynb"))
    setup = "".join(first["cells"][1]["source"])
    assert setup.startswith('FORK = "https://github.com/ada/her-katas"')
    assert setup.count("YOU/YOUR-FORK") == 1  # by which the cell knows that nobody wrote an address
    assert "classroom" not in text


def test_worse_answer_leaves_the_best(fork: Runner) -> None:
    fork.publish(results(info_nce=38, softmax=100))
    fork.publish(results(info_nce=50, softmax=64), commit_of(2))
    assert fork.rows() == [
        "| info_nce | failing | 50/100 | 50/100 |",
        "| softmax | failing | 64/100 | 100/100 |",
        "| **all** | | **114/200** | **150/200** |",
    ]
    assert [line.split(",")[2] for line in fork.history()] == ["138", "114"]
    assert json.loads(fork.published("badge.json"))["message"] == "150/200"
    assert "Best 150 and current 114 of 200 points after push 2" in fork.published("history.svg")
    assert git(fork.origin, "rev-list", "--count", "scores").strip() == "2"


def test_kata_that_is_not_in_the_results_keeps_its_best(fork: Runner) -> None:
    fork.publish(results(info_nce=38, softmax=100))
    fork.publish(results(info_nce=38), commit_of(2))
    assert "| softmax | not graded | 0/100 | 100/100 |" in fork.rows()
    assert fork.rows()[-1] == "| **all** | | **38/200** | **138/200** |"


def test_commit_graded_again_adds_a_line_only_for_another_outcome(fork: Runner) -> None:
    for score, lines in ((100, 1), (100, 1), (38, 2), (100, 3)):
        fork.publish(results(softmax=score))
        assert len(fork.history()) == lines


def test_history_outlives_katas_that_come_and_go(fork: Runner) -> None:
    fork.publish(results(info_nce=38, softmax=100))
    (fork.folder / "katas" / "topic" / "softmax").rename(fork.folder / "katas" / "topic" / "moco")
    fork.publish(results(info_nce=40, moco=10), commit_of(2))
    assert fork.rows()[-1] == "| **all** | | **50/200** | **50/200** |"
    (fork.folder / "katas" / "topic" / "softmax").mkdir()
    fork.publish(results(info_nce=0, moco=0, softmax=0), commit_of(3))
    assert fork.rows()[-1] == "| **all** | | **0/300** | **150/300** |"


def test_branch_of_the_earlier_workflow_is_built_upon(fork: Runner) -> None:
    git(fork.folder, "push", "--quiet", "origin", "main:scores")
    assert fork.publish(results(softmax=100)).returncode == 0
    assert git(fork.origin, "rev-list", "--count", "scores").strip() == "2"
    assert len(fork.history()) == 1


HOSTILE_LINES = [
    "2026-11-22T10:00:00Z,{commit},1,200,softmax=1<script>alert(1)</script>",
    "2026-11-22T10:00:00Z,{commit},1,200,softmax=-5",
    "2026-11-22T10:00:00Z,{commit},1,200,softmax=nan",
    "2026-11-22T10:00:00Z,{commit},1,200,softmax=٣",
    "2026-11-22T10:00:00Z,{commit},99999999999999999999,200,softmax=1",
    '"><script>,{commit},1,200,softmax=1',
    "2026-11-22T10:00:00Z,{commit},1,200",
    "=HYPERLINK(1)",
    "<<<<<<< HEAD",
    "a" * 1_000_000,
    "a=1" * 100_000,
    "\x00\x1b[31m",
]


def test_lines_of_history_that_cannot_be_read_are_left_out(fork: Runner) -> None:
    good = f"2026-11-22T10:00:00Z,{commit_of(7)},100,200,softmax=100"
    bad = [line.format(commit=commit_of(8)) for line in HOSTILE_LINES]
    fork.edit_history("\r\n".join(["what,is,this", good, *bad]).encode() + b"\xff\xfe\x00")
    done = fork.publish(results(softmax=38))
    assert done.returncode == 0
    assert done.stderr == f"left out lines of history.csv that cannot be read: {len(bad) + 1}\n"
    assert fork.history()[0] == good
    assert len(fork.history()) == 2
    assert "| softmax | failing | 38/100 | 100/100 |" in fork.rows()
    drawn(fork.published("history.svg"), 2)


def test_hand_made_numbers_stay_within_bounds(fork: Runner) -> None:
    fork.edit_history(f"9999-99-99T99:99:99Z,{commit_of(7)},0,0,softmax=999 gone=100".encode())
    assert fork.publish(results(softmax=38)).returncode == 0
    assert fork.history()[0] == f"9999-99-99T99:99:99Z,{commit_of(7)},200,0,softmax=100 gone=100"
    assert fork.rows()[-1] == "| **all** | | **38/100** | **100/100** |"
    drawn(fork.published("history.svg"), 2)


def test_push_that_came_between_is_kept(fork: Runner) -> None:
    between = fork.programs / "between"
    line = f"2026-11-22T10:00:00Z,{commit_of(7)},100,200,info_nce=100"
    fork.edit_history(line.encode(), "between")
    fork.install(
        "python",
        f"if mkdir {between} 2>/dev/null; then git push --quiet origin refs/remotes/between:refs/heads/scores; fi\n"
        f'exec {shlex.quote(sys.executable)} -S "$@"',
    )
    git(fork.folder, "fetch", "--quiet", "origin", "between:refs/remotes/between")
    done = fork.publish(results(softmax=100))
    assert done.returncode == 0
    assert "[rejected]" in done.stderr
    assert [each.split(",")[1] for each in fork.history()] == [commit_of(7), commit_of(1)]


def test_branch_that_cannot_be_pushed_fails_with_a_sentence(fork: Runner) -> None:
    hook = fork.origin / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    fork.more = {"PAUSE": "0"}
    done = fork.publish(results(softmax=100))
    assert done.returncode == 1
    assert "::error::The branch scores could not be pushed, ten times" in done.stdout


def test_an_older_push_that_is_published_late_is_not_the_newest(fork: Runner) -> None:
    for run, score in ((4, 50), (2, 100), (2, 100), (7, 70), (5, 0)):
        fork.more = {"GITHUB_RUN_NUMBER": str(run), "PUSHED": f"{1_780_012_800 + 3600 * run}"}
        fork.publish(results(softmax=score), commit_of(run))
    dates = [line.partition(",")[0] for line in fork.history()]
    assert dates == [f"2026-05-29T0{run}:00:00Z" for run in (2, 4, 5, 7)]  # of the pushes
    assert [line.rsplit(",", 2)[1:] for line in fork.history()] == [
        ["softmax=100", "2"], ["softmax=50", "4"], ["", "5"], ["softmax=70", "7"],
    ]  # fmt: skip
    assert fork.rows() == ["| softmax | failing | 70/100 | 100/100 |", "| **all** | | **70/100** | **100/100** |"]


def test_four_that_publish_at_once_are_all_kept(fork: Runner, tmp_path: Path) -> None:
    fork.more = {"PAUSE": "1"}
    runners = [replace(fork, folder=tmp_path / f"clone{number}") for number in range(4)]
    for runner in runners:
        shutil.copytree(fork.folder, runner.folder)
    with ThreadPoolExecutor() as pool:
        done = [*pool.map(lambda one: one.publish(results(softmax=1), commit_of(runners.index(one))), runners)]
    assert [one.returncode for one in done] == [0] * 4
    assert sorted(line.split(",")[1] for line in fork.history()) == [commit_of(number) for number in range(4)]


def test_nothing_in_the_results_is_trusted(fork: Runner) -> None:
    hostile = [
        {"kata": "softmax", "state": "solved", "score": 10**9},
        {"kata": "softmax", "state": "solved", "score": 1},
        {"kata": "<script>", "state": "solved", "score": 100},
        {"kata": "a | b\n| c", "state": "solved", "score": 100},
        {"kata": "../../etc", "state": "solved", "score": 100},
        {"kata": "info_nce", "state": "| evil |", "score": 100},
    ]
    assert fork.publish({"results": hostile}).returncode == 0
    assert fork.rows() == ["| softmax | solved | 100/100 | 100/100 |", "| **all** | | **100/100** | **100/100** |"]
    fork.publish({"results": [{"kata": "softmax", "state": "failing", "score": -(10**9)}]}, commit_of(2))
    assert fork.rows()[0] == "| softmax | failing | 0/100 | 100/100 |"
    assert fork.publish({"results": []}, commit_of(3)).returncode == 0
    assert fork.rows()[0] == "| softmax | not graded | 0/100 | 100/100 |"


def test_table_alone_is_shown_on_the_page_of_the_run(fork: Runner) -> None:
    (fork.folder / "results.json").write_text(json.dumps(results(softmax=100)))
    summary = fork.folder / "summary"
    assert fork.run(named(GRADE, "grade", "Score table"), {"GITHUB_STEP_SUMMARY": str(summary)}).returncode == 0
    assert summary.read_text().splitlines()[2:] == ["| softmax | solved | 100/100 |", "| **all** | | **100/100** |"]


SCORE = '{"results": [{"kata": "softmax", "state": "solved", "score": %s}]}'
SCORES = ["Infinity", "-Infinity", "NaN", "1e999", "true", "null", '"100"', "[100]", "99.5", '"\\n::error::x"']
SCORES += ["1" * 10_000, "[" * 100_000]


@pytest.mark.parametrize(
    "document",
    ["", "[]", '{"results": [1]}', '{"results": [{"kata": []}]}', *(SCORE % score for score in SCORES)],
    ids=lambda document: document[-60:],
)
def test_what_is_no_document_leaves_the_branch_alone(fork: Runner, document: str) -> None:
    done = fork.publish(document)
    assert done.returncode == 2
    assert done.stderr.startswith("error: no results document: ")
    assert done.stderr.count("\n") == 1
    assert "::" not in done.stderr + done.stdout
    assert "scores" not in git(fork.origin, "branch", "--list")


@pytest.mark.parametrize("pushes", [1, 2, 30, 300])
def test_drawing_of_a_history(fork: Runner, pushes: int) -> None:
    lines = [
        f"2026-{1 + n // 28:02}-{1 + n % 28:02}T10:00:00Z,{commit_of(n + 9)},0,200,softmax={n % 101}"
        for n in range(pushes - 1)
    ]
    fork.edit_history("\n".join(lines).encode())
    fork.publish(results(softmax=100, info_nce=0))
    text = fork.published("history.svg")
    drawn(text, pushes)
    dates = [one for one in text.split("\n") if 'class="middle"' in one]
    assert len(dates) == min(pushes, 5)


def drawn(text: str, pushes: int) -> None:
    """It is an SVG of such elements alone, whose lines stay within the grid and have a step for each push."""
    root = ElementTree.fromstring(text)
    assert {one.tag.removeprefix(SVG) for one in root.iter()} == {
        "svg",
        "title",
        "desc",
        "style",
        "rect",
        "path",
        "text",
    }
    assert not any(name.startswith("on") or "href" in name for one in root.iter() for name in one.attrib)
    lines = {one.get("class"): one.get("d", "") for one in root.iter(f"{SVG}path") if "V" in one.get("d", "")}
    assert lines.keys() == {"best", "current"}
    for line in lines.values():
        steps = [step.split("H") for step in line.split("V")[1:]]
        assert len(steps) == pushes
        assert all(0 <= float(height) <= 160 and float(right) <= 600 for height, right in steps)
        assert float(steps[-1][1]) == 600
    heights = [float(step.split("H")[0]) for step in lines["best"].split("V")[1:]]
    assert heights == sorted(heights, reverse=True)


@pytest.mark.parametrize("workflow", [GRADE, CLASSROOM], ids=["grade", "classroom"])
def test_job_that_installs_or_runs_anything_holds_no_token(workflow: Any) -> None:
    for job in workflow["jobs"].values():
        text = json.dumps(job)
        if "pip install" in text or "nox" in text:
            assert job["permissions"] == {"contents": "read"}
            assert "secrets." not in text
            assert "github.token" not in text
        checkouts = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
        assert all(step["with"]["persist-credentials"] is False for step in checkouts)
        assert not any("${{" in step.get("run", "") for step in job["steps"])
    assert workflow["permissions"] == {}


NODE_24 = {"checkout": 5, "setup-python": 6, "upload-artifact": 6, "download-artifact": 7, "upload-pages-artifact": 5}


PREPARE = ".github/actions/prepare"


def test_actions_are_pinned_by_hash_on_what_runners_still_have_and_uv_comes_before_torch() -> None:
    for file in (ROOT / ".github").rglob("*.yml"):
        text = file.read_text(encoding="utf-8")
        for used in re.findall(r"uses: (.*)", text):
            if used.startswith(("./", "$/")):
                assert used in (f"$/{PREPARE}", "./.github/workflows/classroom.yml")
                continue
            pinned = re.fullmatch(r"actions/([a-z-]+)@[0-9a-f]{40} # v(\d+)\.\d+\.\d+", used)
            assert pinned, used
            assert int(pinned[2]) >= NODE_24.get(pinned[1], 5), used
        assert all("uv" in line.split() for line in text.splitlines() if "pip install" in line)
    (update,) = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert update["package-ecosystem"] == "github-actions"


def test_environment_is_kept_by_its_dependencies_but_not_where_strangers_code_ran() -> None:
    """What a class's answers could have written to would be there in the next run."""
    action = yaml.safe_load((ROOT / PREPARE / "action.yml").read_text(encoding="utf-8"))
    (cache,) = (one for one in action["runs"]["steps"] if one.get("uses", "").startswith("actions/cache@"))
    assert cache["if"] == "inputs.keep"
    assert cache["with"].keys() == {"path", "key"}  # and no restore-keys: another environment would do harm
    assert cache["with"]["path"] == ".venv"
    for part in ("hashFiles('pyproject.toml')", "inputs.keep", "runner.os", "steps.python.outputs.python-version"):
        assert part in cache["with"]["key"]
    kept = set()
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        for job in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].values():
            used = [one.get("with", {}) for one in job["steps"] if one.get("uses") == f"$/{PREPARE}"]
            assert len(used) == any("nox -s" in one.get("run", "") for one in job["steps"])
            kept |= {(file.stem, one.get("keep", "")) for one in used}
    assert kept == {
        ("ci", "author"), ("deep", "author"), ("deep", ""), ("grade", "learn"), ("classroom", ""), ("pages", ""),
    }  # fmt: skip


def test_private_copy_runs_one_short_job_on_linux() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    private = [job for job in jobs.values() if "vars.WHOLE_CI == 'true'" not in job["if"]]
    assert [job["runs-on"] for job in private] == ["ubuntu-latest"]
    assert "strategy" not in private[0]
    assert GRADE["jobs"]["grade"]["if"] == "vars.WHOLE_CI != 'true'"  # upstream publishes no 0 of its own


def test_pushes_are_published_one_after_the_other_and_none_is_dropped() -> None:
    assert GRADE["jobs"]["publish"]["concurrency"] == {"group": "scores", "queue": "max"}
    assert "concurrency" not in GRADE.keys() | GRADE["jobs"]["grade"].keys()
    assert CLASSROOM["concurrency"] == {"group": "classroom-${{ inputs.branch }}", "queue": "max"}


STEPS_WITH_A_TOKEN = [
    named(GRADE, "publish", "Add the score to the branch `scores`"),
    named(CLASSROOM, "collect", "Fetch the learners' repositories"),
    named(CLASSROOM, "publish", "Publish the points and the feedback"),
]


@pytest.mark.parametrize("step", STEPS_WITH_A_TOKEN, ids=lambda step: step["name"])
def test_only_githubs_own_host_gets_the_token(fork: Runner, step: dict[str, Any]) -> None:
    assert step["env"]["GIT_CONFIG_KEY_0"] == "credential.${{ github.server_url }}.helper"
    values = {"ROSTER": "", "BRANCH": "", "PUSHED": "", "TOKEN": "s3cret", "GIT_TERMINAL_PROMPT": "0"}
    for host, told in (("github.com", True), ("github.com.example.org", False), ("example.org", False)):
        asked = {"run": f"printf 'protocol=https\\nhost={host}\\n\\n' | git credential fill", "env": step["env"]}
        done = fork.run(asked, values)
        assert ("password=s3cret" in done.stdout) is told
        assert "s3cret" not in done.stderr


@pytest.mark.parametrize(
    ("visibility", "public", "status"),
    [
        ("private", "false", 0),
        ("public", "false", 1),
        ("internal", "false", 1),
        ("public", "true", 0),
        ("", "false", 1),
    ],
)
def test_grades_are_not_shown_to_everybody(fork: Runner, visibility: str, public: str, status: int) -> None:
    fork.install("gh", f'[ "$*" = "api repos/me/mine --jq .visibility" ] && echo {visibility}')
    step = named(CLASSROOM, "collect", "Refuse to show grades to everybody")
    done = fork.run(step, {"GITHUB_REPOSITORY": "me/mine", "PUBLIC": public, "GH_TOKEN": ""})
    assert done.returncode == status
    assert ("::error::" in done.stdout) == bool(status)


@pytest.fixture
def classroom(fork: Runner, toys: Path) -> Runner:
    """A copy of this repository with toy katas, and in `caller` a repository with the roster of two learners.

    The first one is late.
    """
    shutil.copytree(ROOT / "graders", fork.folder / "graders", ignore=shutil.ignore_patterns("__pycache__"))
    fork.folder.rename(copy := fork.folder.parent / "copy")
    fork.folder = copy
    lines = ["learner,repository,revision,until"]
    due = {"Ann | Lee": (datetime.now(UTC) - timedelta(hours=12)).isoformat()}
    for name, answer in (("Ann | Lee", REFERENCE), ("=bob", REFERENCE.replace("x / (1 / factor)", "x / factor"))):
        repository = toys / "learners" / name
        (repository / ANSWER).parent.mkdir(parents=True)
        (repository / ANSWER).write_text(answer)
        git(repository, "init", "--quiet", "--initial-branch=main")
        git(repository, "add", ".")
        git(repository, "commit", "--quiet", "--message=answer")
        lines.append(f"{name},{repository},main,{due.get(name, '')}")
    git(copy.parent, "clone", "--quiet", str(fork.origin), str(copy / "caller"))
    (copy / "caller" / "roster.csv").write_text("\n".join([*lines, f"eve,{toys / 'nowhere'},,"]))
    return fork


def test_class_is_collected_graded_and_published(classroom: Runner, toys: Path) -> None:
    collected = classroom.run(STEPS_WITH_A_TOKEN[1], {"ROSTER": "roster.csv", "TOKEN": "s3cret"})
    assert collected.returncode == 0, collected.stderr
    assert f"{toys / 'nowhere'} of eve cannot be had: " in collected.stdout
    files = list((classroom.folder / "collected").iterdir())
    assert sorted(file.name for file in files) == ["1.bundle", "2.bundle", "roster.csv"]
    assert not any(b"s3cret" in file.read_bytes() for file in files)
    shutil.rmtree(toys / "learners")  # what is graded is what was collected

    start = shlex.join(command_line(toys))
    classroom.install("nox", f'[ "$1 $2 $3" = "-s cohort --" ] && shift 3 && exec {start} cohort --workers 1 "$@"')
    values = {
        "KATAS": "scale",
        "SEED": "7",
        "UNTIL": "2100-01-01T00:00Z",
        "LATE": "10",
        "PYTHONPATH": str(ROOT),
        "HOME": str(toys),
    }
    graded = classroom.run(named(CLASSROOM, "grade", "Grade"), values)
    assert graded.returncode == 0, graded.stderr
    assert "3 learners, 2 answers" in graded.stdout
    assert "seed 7" in graded.stdout
    upload = CLASSROOM["jobs"]["grade"]["steps"][-1]["with"]["path"].split()
    downloaded = classroom.folder / "downloaded"
    downloaded.mkdir()
    for path in upload:
        (classroom.folder / path).rename(downloaded / Path(path).name)

    done = publish_class(classroom)
    assert done.returncode == 0, done.stderr
    assert git(classroom.origin, "ls-tree", "-r", "--name-only", "classroom").split() == [
        "README.md", *sorted(f"feedback/{slug(name)}.md" for name in ("Ann | Lee", "=bob", "eve")), "grades.csv",
    ]  # fmt: skip
    table = list(csv.reader(io.StringIO(classroom.published("grades.csv", "classroom"))))
    assert [row[0] for row in table] == ["learner", "Ann | Lee", "'=bob", "eve"]
    assert table[1][-3:] == ["90", "1", "90"]  # late, and solved
    assert table[3][-3:] == ["", "0", "0"]
    assert dict(zip(table[0], table[1], strict=True))["file"] == f"{slug('Ann | Lee')}.md"
    shown = classroom.published("README.md", "classroom")
    assert "| Ann &#124; Lee | 90 | 1 | 1 |" in shown
    assert "1 kata, 100 points each" in shown
    assert (classroom.folder / "summary").read_text() == shown
    assert "looks like  the factor divides" in classroom.published(f"feedback/{slug('=bob')}.md", "classroom")
    assert "nowhere at HEAD cannot be had" in classroom.published("feedback/eve.md", "classroom")


def publish_class(runner: Runner) -> subprocess.CompletedProcess[str]:
    values = {"BRANCH": "classroom", "TOKEN": "s3cret", "GITHUB_SHA": commit_of(1)}
    return runner.run(STEPS_WITH_A_TOKEN[2], values | {"GITHUB_STEP_SUMMARY": str(runner.folder / "summary")})


def test_nothing_that_the_class_wrote_is_trusted(classroom: Runner) -> None:
    downloaded = classroom.folder / "downloaded"
    feedback = downloaded / "feedback"
    feedback.mkdir(parents=True)
    names = [
        "<b>x</b>",
        "a|b",
        "a\nb",
        "[x](http://x)",
        "@team",
        "\u202eevil",
        "=1+1",
        "＝1+1",
        "::error::x",
        "`x`",
        "x" * 10_000,
    ]
    with (downloaded / "grades.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(
            [["learner", "scale", "solved", "total"], *([name, 10**9, 10**9, -5] for name in names)]
        )
    for name in ("fine.md", "no.html", "a b.md", ".hidden.md"):
        (feedback / name).write_text("text")
    (feedback / "huge.md").write_text("x" * (3 << 20))
    for number in range(20):
        (feedback / f"one-{number}.md").write_text("text")
    (feedback / "bytes.md").write_bytes(b"\xff\x00")
    (feedback / "link.md").symlink_to("/etc/passwd")
    (feedback / "folder.md").mkdir()
    done = publish_class(classroom)
    assert done.returncode == 0, done.stderr
    assert "::" not in done.stdout
    files = git(classroom.origin, "ls-tree", "-r", "--name-only", "classroom").split()
    assert files[:4] == ["README.md", "feedback/bytes.md", "feedback/fine.md", "feedback/huge.md"]
    assert len(files) == 2 + len(names)  # a file of feedback for each learner at most
    assert all(file.startswith("feedback/one-") for file in files[4:-1])
    assert len(classroom.published("feedback/huge.md", "classroom")) == 1 << 20
    rows = [line for line in classroom.published("README.md", "classroom").splitlines() if line.startswith("|")][2:]
    assert len(rows) == len(names)
    assert all(row.count("|") == 5 and row.endswith("| 100 | 1 | 1 |") and len(row) < 300 for row in rows)
    assert not any(sign in row for row in rows for sign in "<>[]@`=\u202e:")
    table = list(csv.reader(io.StringIO(classroom.published("grades.csv", "classroom"))))
    assert all(row[0].isprintable() and row[0][0] not in "=+-@" and row[1:] == ["100", "1", "100"] for row in table[1:])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "learner,<script>,solved,total\n",
        "learner,scale,total\nann,1,1\n",
        "learner,scale,solved,total\nann,NaN,0,1\n",
        "learner,scale,solved,total\nann,1,NaN,1\n",
        "learner,scale,solved,total\nann\n",
        "\x00",
        "a" * 200_000,
        pytest.param("learner,scale,solved,total\n" + "ann,1,0,1\n" * 700_000, id="large"),
    ],
)
def test_what_is_no_table_leaves_the_branch_alone(classroom: Runner, text: str) -> None:
    (classroom.folder / "downloaded").mkdir()
    (classroom.folder / "downloaded" / "grades.csv").write_text(text)
    done = publish_class(classroom)
    assert done.returncode == 2
    assert done.stderr.startswith("error: grades.csv is no table of points")
    assert "classroom" not in git(classroom.origin, "branch", "--list")


def test_example_in_the_documentation_calls_the_workflow_as_it_is() -> None:
    _, _, text = (ROOT / "docs" / "cohort.md").read_text(encoding="utf-8").partition("```yaml\n")
    (job,) = yaml.safe_load(text.partition("```")[0])["jobs"].values()
    called = CLASSROOM[True]["workflow_call"]  # YAML 1.1 reads `on` as true
    required = {name for name, one in called["inputs"].items() if one.get("required")}
    assert required <= job["with"].keys() <= called["inputs"].keys()
    assert job["secrets"].keys() == called["secrets"].keys()
    assert job["permissions"] == CLASSROOM["jobs"]["publish"]["permissions"]
