"""Files that are no honest answer at all: each gets a sentence, none is solved, and the rest is still judged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graders.catalogue.source import Source
from graders.sandbox import submission as submissions
from tests.toys import (
    MODULE_REFERENCE,
    REFERENCE,
    failures,
    grade,
    judged,
    make_repository,
    run,
    run_within,
    written,
)

DEF = "import os, sys, signal\nimport torch\n\n\ndef scale(x, factor=2.0):\n"

NO_TERMINAL = (
    "and there is none while an answer is graded: take out the line that waits, or run the file by `nox -s run`"
)
ONE_FILE = "an answer is one file, and imports only what is installed"
# name: (source, the message of the check or, where it cannot be imported, of the result; or several)
LIMIT = 3.0  # seconds for a call; the usual ten say no more
LATE = "the call: did not return in 3 s"
RUNS: dict[str, tuple[str, Any]] = {
    "loops_for_ever": (
        DEF + "    while True: pass\n",
        f"{LATE} (line 6: `while True: pass`)",
    ),
    "sleeps": (
        DEF + "    import time\n    time.sleep(1e6)\n",
        f"{LATE} (line 7: `time.sleep(1e6)`)",
    ),
    "recurses": (
        DEF + "    return scale(x, factor)\n",
        "the call: should raise ValueError, got RecursionError: maximum recursion depth exceeded "
        "(line 6: `return scale(x, factor)`)",
    ),
    "exits": (DEF + "    sys.exit(0)\n", "the call: should raise ValueError, got sys.exit(0) (line 6: `sys.exit(0)`)"),
    "exits_at_once": (DEF + "    os._exit(0)\n", "the call: ended its process with exit status 0"),
    # In a cage a submission is process 1, which is deaf to its own signals.
    "kills_itself": (
        DEF + "    os.kill(os.getpid(), signal.SIGKILL)\n",
        ["the call: should raise ValueError, got a result", "the call: was ended by SIGKILL (Killed)"],
    ),
    "aborts": (
        DEF + "    os.abort()\n",
        ["the call: was ended by SIGSEGV (Segmentation fault)", "the call: was ended by SIGABRT (Aborted)"],
    ),
    "floods": (
        DEF + "    for i in range(20_000):\n        print(i)\n    return x / (1 / factor)\n",
        "the call: should print at most 10,000 lines, got 20,000; remove the prints",
    ),
    "asks": (
        DEF + "    input('factor? ')\n    return x / (1 / factor)\n",
        f"the call: should raise ValueError, got a wait for a terminal, {NO_TERMINAL} (line 6: `input('factor? ')`)",
    ),
    "breaks": (
        DEF + "    breakpoint()\n    return x / (1 / factor)\n",
        f"the call: should raise ValueError, got a wait for a terminal, {NO_TERMINAL} (line 6: `breakpoint()`)",
    ),
    "steps": (
        DEF + "    import pdb\n    pdb.set_trace()\n    return x / (1 / factor)\n",
        f"the call: should raise ValueError, got a wait for a terminal, {NO_TERMINAL} (line 7: `pdb.set_trace()`)",
    ),
    "looks_at_what_was_raised": (
        DEF + "    import pdb\n    try:\n        x.nothing\n    except AttributeError:\n        pdb.post_mortem()\n",
        f"the call: should raise ValueError, got a wait for a terminal, {NO_TERMINAL} (line 10: `pdb.post_mortem()`)",
    ),
    "runs_in_a_debugger": (
        DEF + "    import pdb\n    return pdb.runcall(lambda: x / (1 / factor))\n",
        f"the call: should raise ValueError, got a wait for a terminal, {NO_TERMINAL} (line 7: "
        "`return pdb.runcall(lambda: x / (1 / factor))`)",
    ),
    "fills_its_output": (
        DEF + "    for _ in range(300):\n        print('x' * (1 << 20))\n    return x / (1 / factor)\n",
        "the call: should raise ValueError, got more than 64 MiB printed or written; remove the prints (line 7: "
        "`print('x' * (1 << 20))`)",
    ),
    "is_cut_into_pages": (  # by characters at which Python breaks no line
        "# one\x0c\n# two\x0c\nHALF = '\x85\x1c\u2028'\n" + DEF + "    return x.nothing\n",
        "the call: should raise ValueError, got AttributeError: 'Tensor' object has no attribute 'nothing' (line 9: "
        "`return x.nothing`)",
    ),
    "empty": ("", "scale: should be defined in submissions/empty.py, got no such name"),
    "named_otherwise": (
        DEF.replace("scale(", "Rescale(") + "    return x\n",
        "scale: should be defined in submissions/named_otherwise.py, got no such name; rename Rescale?",
    ),
    "raises_base_exception": (
        DEF + "    raise BaseException('no')\n",
        "the call: should raise ValueError, got BaseException: no (line 6: `raise BaseException('no')`)",
    ),
}
IMPORTS = {
    "syntax_error": (
        "def scale(x, factor=2.0)\n    return x\n",
        "SyntaxError: expected ':' (line 1: `def scale(x, factor=2.0)`)",
    ),
    "raises_on_import": (
        "import torch\n\ntorch.nothing\n",
        "AttributeError: module 'torch' has no attribute 'nothing' (line 3: `torch.nothing`)",
    ),
    "missing_module": (
        "import nowhere\n",
        f"ModuleNotFoundError: No module named 'nowhere'; {ONE_FILE} (line 1: `import nowhere`)",
    ),
    "relative_import": (
        "from .scale import scale\n",
        f"ImportError: attempted relative import with no known parent package; {ONE_FILE} (line 1: `from .scale import "
        "scale`)",
    ),
    "exits_on_import": ("import sys\n\nsys.exit(0)\n", "sys.exit(0) (line 3: `sys.exit(0)`)"),
    "null_byte": ("x = 1\0\n", "source code string cannot contain null bytes"),
    "engine_imported": ("import graders.judge.vectors\n", "No module named 'graders"),
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("bad"))


@pytest.fixture(scope="module")
def results(root: Path) -> dict[str, Any]:
    sources: dict[str, str | bytes] = {name: source for name, (source, _) in (RUNS | IMPORTS).items()}
    loads = "while True: pass\n"
    latin = "# one\n# caf\xe9\n".encode("latin-1")
    marked = REFERENCE.encode("utf-8-sig")
    sources |= {"loops_on_import": loads, "latin": latin, "marked": marked, "right": REFERENCE}
    return dict(zip(sources, judged(root, "scale", written(root, sources), limit=LIMIT), strict=True))


@pytest.mark.parametrize("name", RUNS)
def test_bad_call_is_told_in_one_sentence(name: str, results: dict[str, Any]) -> None:
    assert results[name]["state"] == "failing"
    told = RUNS[name][1]
    assert next(iter(failures(results[name]).values())) in ([told] if isinstance(told, str) else told)


@pytest.mark.parametrize("name", RUNS)
def test_every_check_of_a_bad_file_reports(name: str, results: dict[str, Any]) -> None:
    assert len(results[name]["tests"]) == len(results["right"]["tests"])
    assert {test["category"] for test in results[name]["tests"] if test["state"] == "skipped"} <= {"rules"}
    assert results[name]["score"] < 100


@pytest.mark.parametrize("name", ["asks", "breaks", "steps", "looks_at_what_was_raised", "runs_in_a_debugger"])
def test_who_waits_for_a_terminal_breaks_no_rule(name: str, results: dict[str, Any]) -> None:
    assert [test["message"] for test in results[name]["tests"] if "the rules: " in (test["message"] or "")] == []


@pytest.mark.parametrize("name", IMPORTS)
def test_bad_import_is_told_in_one_sentence(name: str, results: dict[str, Any]) -> None:
    result = results[name]
    assert (result["state"], result["score"]) == ("error", 0)
    assert result["message"].startswith(f"submissions/{name}.py cannot be imported: ")
    assert IMPORTS[name][1] in result["message"]
    assert "\n" not in result["message"]


def test_hanging_import_shows_its_line(results: dict[str, Any]) -> None:
    expected = "submissions/loops_on_import.py did not finish importing in 3 s (line 1: `while True: pass`)"
    assert results["loops_on_import"]["message"] == expected


def test_other_encoding_is_told(results: dict[str, Any]) -> None:
    assert results["latin"]["message"] == "submissions/latin.py is not UTF-8 text (line 2); save it as UTF-8"


def test_byte_order_mark_is_no_part_of_an_answer(results: dict[str, Any]) -> None:
    assert failures(results["marked"]) == {}


def test_hangs_are_asked_three_times_only(results: dict[str, Any]) -> None:
    tests = results["loops_for_ever"]["tests"]
    late = [test["state"] for test in tests if test["category"] in ("numerics", "gradients")]
    assert set(late) == {"timeout"}
    assert any(test["message"] == "not tested, since 3 calls in a row did not return" for test in tests)


def test_right_answer_beside_them_is_solved(results: dict[str, Any]) -> None:
    assert failures(results["right"]) == {}


def test_long_file_is_searched_once_for_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many calls are asked of it: it takes seconds where the file has as many lines as it may."""
    searched: list[str] = []

    def defined_in(source: str) -> list[str]:
        searched.append(source)
        return ["scall"]

    monkeypatch.setattr(submissions, "defined_in", defined_in)
    lacking = submissions.Submission(Source("scall = 1\n", "x.py"), ["scale"], None)  # type: ignore[arg-type]  # none is started
    assert {lacking.lacks("scale") for _ in range(3)} == {
        "scale: should be defined in x.py, got no such name; rename scall?"
    }
    assert len(searched) == 1


def test_unreadable_files_leave_the_others_judged(root: Path) -> None:
    folder = root / "submissions"
    (folder / "a folder.py").mkdir(parents=True)
    (folder / "long.py").write_text("#" * (2 << 20))
    (folder / "right.py").write_text(REFERENCE)
    names = ["a folder.py", "long.py", "right.py"]
    arguments = [part for name in names for part in ("--submission", str(folder / name))]
    ran = run(root, "grade", "scale", *arguments)
    assert ran.status == 1
    text = " ".join(ran.out.split())
    assert "a folder.py is not a regular file; name a Python file" in text
    assert "long.py has 2,097,152 bytes; a submission should have at most 262,144" in text
    assert "1 solved, 2 error" in text


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a user whom file modes bind")
def test_forbidden_file_is_told(root: Path) -> None:
    path = root / "submissions" / "forbidden.py"
    path.write_text(REFERENCE)
    path.chmod(0)
    ran = run(root, "grade", "scale", "--submission", str(path))
    assert (ran.status, "cannot be read: Permission denied" in ran.out) == (1, True)


def test_deleted_file_is_told_how_to_come_back(toys: Path) -> None:
    file = toys / "katas/toys/scale/scale.py"
    file.unlink()
    ran = run(toys, "grade", "scale")
    said = " ".join(ran.out.split())
    shown = file.relative_to(toys)
    assert f"{shown} is not there; bring back what you committed last (git checkout -- {shown}) or the stub" in said
    assert not (toys / ".kata").exists()  # it is no attempt
    assert "scale.py is the stub again; nothing stood there" in run(toys, "reset", "scale").out
    assert run(toys, "grade", "scale").out.startswith("TODO")


def test_one_bad_kata_leaves_the_others_judged(toys: Path) -> None:
    (toys / "katas/toys/affine/affine.py").write_text(MODULE_REFERENCE)
    (toys / "katas/toys/scale/scale.py").write_text(DEF + "    os._exit(0)\n")
    ran = run(toys, "grade")
    assert ran.status == 1
    assert "1 solved, 1 failing" in ran.out


def test_nothing_is_left_behind(toys: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = grade(
        toys,
        "scale",
        {"writes": DEF + "    open('left', 'w').write('x')\n    assert factor\n    return x / (1 / factor)\n"},
        TMPDIR=str(scratch),
    )
    assert found["writes"]["state"] == "solved"
    assert list(scratch.iterdir()) == []


def mounting(*commands: str) -> tuple[str, ...]:
    """Starts a command in a view of the machine where these were run first; skips where that is not allowed."""
    view = ("unshare", "--map-root-user", "--mount", "sh", "-ec")
    if shutil.which("unshare") is None or subprocess.run([*view, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system allows no mounts")
    return (*view, "\n".join([*commands, 'exec "$@"']), "sh")


def test_read_only_repository_is_graded(toys: Path) -> None:
    (toys / "katas/toys/scale/scale.py").write_text(REFERENCE)
    within = mounting(f"mount --bind '{toys}' '{toys}'", f"mount -o remount,ro,bind '{toys}'")
    ran = run_within(within, "", toys, "grade")
    assert (ran.status, "1 solved, 1 todo" in ran.out) == (0, True)
    assert ran.err.startswith("note: this attempt is not remembered: the history in")
    assert ran.err.endswith("Read-only file system; mend that, then try again\n")
    ran = run_within(within, "", toys, "grade", "--json", str(toys / "results.json"))
    assert ran.status == 2
    assert ran.err == f"error: {toys / 'results.json'} cannot be written: Read-only file system; name another file\n"


def test_full_scratch_disk_leaves_the_verdict_whole(toys: Path, tmp_path: Path) -> None:
    (toys / "katas/toys/scale/scale.py").write_text(REFERENCE)
    full = tmp_path / "full"
    full.mkdir()
    within = mounting(f"mount -t tmpfs -o size=4k none '{full}'", f"head -c 4k /dev/zero > '{full}/all'")
    ran = run_within(within, "", toys, "grade", "scale", TMPDIR=str(full))
    assert (ran.status, "PASS  scale" in ran.out, ran.err) == (0, True, "")


def test_clock_that_jumps_changes_nothing(toys: Path) -> None:
    (toys / "katas/toys/scale/scale.py").write_text(REFERENCE)
    jumps = (
        "import time, itertools; t, by = time.time, itertools.cycle((-1e6, 2e6)); time.time = lambda: t() + next(by); "
    )
    ran = run_within((), jumps, toys, "grade", "scale")
    assert (ran.status, "PASS  scale" in ran.out, ran.err) == (0, True, "")


@pytest.mark.parametrize("name", ["right", "crashes"])
def test_spawned_workers_judge_alike(name: str, toys: Path) -> None:
    sources = {
        "right": REFERENCE,
        "crashes": DEF + "    if factor != 2.0:\n        os._exit(3)\n    return x / (1 / factor)\n",
    }
    found = grade(toys, "scale", {name: sources[name]}, GRADERS_START_METHOD="spawn")[name]
    assert found["state"] == ("solved" if name == "right" else "failing")
    if name == "crashes":
        assert failures(found)["shapes/factors"] == "the call: ended its process with exit status 3"
