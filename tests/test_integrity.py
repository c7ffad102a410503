"""No submission harms the grade, the machine or the others: what `prove` cannot see of tests/hostile."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graders.arguments import command_line
from graders.author.prove import first_line, hostile_files, is_honest, isolation
from graders.catalogue import katas
from graders.faults import ROOT
from graders.worker import meter
from tests.toys import MODULE_REFERENCE, REFERENCE, failures, grade, run

KATA = katas.find(["cosine_similarity"])[0]
# The quick ones; those that hang or sleep are left to `prove`.
QUICK = (
    "a_thread_answers_later", "caches_by_pointer", "closes_every_descriptor", "exits_the_process", "fills_the_disk",
    "forges_a_reply_with_a_tensor", "forges_an_empty_reply", "forks_in_a_call", "keeps_shared_memory",
    "kills_everybody",
    "kills_its_group", "leaves_a_daemon", "leaves_a_mark", "leaves_by_namespaces", "leaves_state_behind",
    "makes_zombies", "needs_the_network", "patches_the_engine", "patches_torch_comparisons", "plants_start_files",
    "runs_the_reference", "starts_threads_without_end", "walks_the_frames", "writes_to_other_processes",
)  # fmt: skip


full = pytest.mark.skipif(isolation() != "full", reason="this system cannot isolate submissions fully")


@pytest.fixture
def own(tmp_path: Path) -> dict[str, str]:
    """An environment by which a run's processes and files can be told from others'."""
    (tmp_path / "scratch").mkdir()
    return {"KATA_RUN": str(tmp_path), "TMPDIR": str(tmp_path / "scratch")}


def left_behind(own: dict[str, str]) -> list[str]:
    """Processes, temporary files and shared memory that outlived the run."""
    mark = f"KATA_RUN={own['KATA_RUN']}\0".encode()
    found = [entry.name for entry in Path("/proc").glob("[0-9]*") if mark in environ(entry)]
    found += [str(path) for path in Path(own["TMPDIR"]).iterdir()]
    for place in (KATA.root, *map(Path, ("/tmp", "/var/tmp", "/dev/shm", "/", os.path.expanduser("~")))):
        found += [str(path) for path in place.glob("hostile_was_here*")]
    return found


def environ(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""  # it ended meanwhile, or is another's


def test_the_suite_is_large_and_says_what_it_expects() -> None:
    files = hostile_files(KATA)
    lines = [first_line(path) for path in files]
    assert sum(not is_honest(path) for path in files) >= 60
    assert all(line.startswith(("cheat: ", "broken: ", "honest: ")) for line in lines)
    ends = {"honest": ("; must pass",), "broken": ("; must fail",), "cheat": ("; must fail", "; must be flagged")}
    assert all(line.endswith(ends[line.partition(":")[0]]) for line in lines)
    assert len(set(lines)) == len(lines)


@full
def test_cheats_leave_nothing_behind_and_harm_no_neighbour(tmp_path: Path, own: dict[str, str]) -> None:
    """Each cheat is followed by an honest file, which must be solved; then nothing is left."""
    honest = KATA.reference_file
    files = [path for name in QUICK for path in (KATA.root / f"tests/hostile/{KATA.id}/{name}.py", honest)]
    output = tmp_path / "results.json"
    arguments = [part for path in files for part in ("--submission", str(path))]
    ran = run(KATA.root, "grade", KATA.id, *arguments, "--json", str(output), "--isolation", "strict", **own)
    assert ran.status == 1, ran
    document = json.loads(output.read_text())
    cheats, neighbours = document["results"][::2], document["results"][1::2]
    assert [result for result in cheats if result["state"] == "solved"] == []
    assert [result for result in neighbours if result["state"] != "solved"] == []
    assert document["env"]["isolation"] == "full"
    assert left_behind(own) == []


@full
def test_ctrl_c_prints_what_was_judged_and_leaves_nothing(toys: Path, own: dict[str, str]) -> None:
    (toys / "katas/toys/scale/scale.py").write_text("def scale():\n    pass\n")
    hangs = MODULE_REFERENCE.replace("return self", "while True: pass\n        return self")
    (toys / "katas/toys/affine/affine.py").write_text(hangs)
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | own
    process = subprocess.Popen(
        [*command_line(toys), "grade"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    first = process.stdout.readline()  # scale is judged, and then affine hangs
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"scale" in first
    assert b"1 failing, 1 not finished" in out
    assert b"Traceback" not in out + err
    assert left_behind(own) == []


@pytest.mark.skipif(sys.platform == "win32", reason="workers are not limited there")
def test_with_limits_alone_it_still_judges_and_says_so(toys: Path, own: dict[str, str]) -> None:
    orphan = REFERENCE + "\n\nimport os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(3600)\n"
    graded = grade(toys, "scale", {"orphan": orphan, "right": REFERENCE}, GRADERS_ISOLATION="limits", **own)
    assert graded["right"]["state"] == "solved"
    assert "os.fork (another process) may not be called in this kata" in graded["orphan"]["message"]
    assert left_behind(own) == []
    (toys / "katas/toys/scale/scale.py").write_text(REFERENCE)
    ran = run(toys, "grade", "scale", GRADERS_ISOLATION="limits")
    assert (ran.status, "isolation: limits; this system cannot isolate submissions fully" in ran.out) == (
        0,
        True,
    )


def test_strict_isolation_refuses_less(toys: Path) -> None:
    ran = run(toys, "grade", "scale", "--isolation", "strict", GRADERS_ISOLATION="limits")
    assert (ran.status, ran.out) == (2, "")
    assert "isolation is 'limits' here, not 'full'; see SECURITY.md" in ran.err


def test_files_beside_a_submission_are_not_loaded(toys: Path) -> None:
    names = ("torch", "conftest", "sitecustomize", "numpy", "__init__", "scale_test", "test_scale", "stringprep")
    for name in names:
        (toys / "katas/toys/scale" / f"{name}.py").write_text("raise SystemExit(0)")
    (toys / "katas/toys/scale/pytest.ini").write_text("[pytest]\npythonpath = .\naddopts = -p stringprep\n")
    grader = toys / "katas/toys/scale/grader.py"
    grader.write_text("import stringprep\n" + grader.read_text())
    (toys / "katas/toys/scale/scale.py").write_text("import torch, numpy\n\n" + REFERENCE)
    ran = run(toys, "grade", "scale")
    assert (ran.status, "PASS" in ran.out) == (0, True)


def test_threads_chosen_on_import_do_not_take_time(toys: Path) -> None:
    """All threads' time would count against a budget."""
    one = "    if torch.get_num_threads() != 1:\n        raise RuntimeError\n    return x / (1 / factor)"
    source = "import torch\n\ntorch.set_num_threads(3)\n" + REFERENCE.replace("    return x / (1 / factor)", one)
    assert grade(toys, "scale", {"threads": source})["threads"]["state"] == "solved"


def test_temporary_files_lie_in_the_scratch_folder_wherever_the_judges_own_did(toys: Path) -> None:
    note = "    with tempfile.TemporaryFile() as note:\n        note.write(b'x')\n    return x / (1 / factor)"
    source = "import tempfile\n\n" + REFERENCE.replace("    return x / (1 / factor)", note)
    assert grade(toys, "scale", {"note": source})["note"]["state"] == "solved"


def test_odd_paths_are_judged_or_refused_in_a_sentence(toys: Path) -> None:
    folder = toys / "sub missions ünï"
    folder.mkdir()
    (folder / "right one.py").write_text(REFERENCE)
    (folder / "link.py").symlink_to(folder / "right one.py")
    (folder / "zero.py").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.py")
    with (folder / "huge.py").open("wb") as stream:
        stream.truncate(50 << 20)
    (folder / "latin.py").write_bytes(b"# \xe9\n")
    (folder / "nul.py").write_bytes(b"x = 1\0\n")
    arguments = [part for path in sorted(folder.iterdir()) for part in ("--submission", str(path))]
    output = toys / "results.json"
    ran = run(toys, "grade", "scale", *arguments, "--json", str(output))
    assert (ran.status, "Traceback" in ran.err + ran.out) == (1, False)
    results = {Path(result["source"]).name: result for result in json.loads(output.read_text())["results"]}
    assert {name for name, result in results.items() if result["state"] == "solved"} == {"right one.py", "link.py"}
    (folder / "nowhere.py").symlink_to(folder / "gone.py")
    (folder / "loop.py").symlink_to(folder / "loop.py")
    for name in ("nowhere.py", "loop.py"):
        assert run(toys, "grade", "scale", "--submission", str(folder / name)).status == 2
    for name, wanted in {
        "zero.py": "is not a regular file; name a Python file",
        "pipe.py": "is not a regular file; name a Python file",
        "huge.py": "has 52,428,800 bytes; a submission should have at most 262,144",
        "latin.py": "is not UTF-8 text (line 1); save it as UTF-8",
        "nul.py": "source code string cannot contain null bytes",
    }.items():
        assert wanted in results[name]["message"], results[name]


def test_a_link_that_leads_out_of_its_folder_shows_nothing_of_what_is_there(toys: Path) -> None:
    """Neither as a submission nor in the place of the learner's own answer."""
    (toys / "secret.txt").write_text("secret = of somebody else\n")
    folder = toys / "submissions"
    folder.mkdir()
    (folder / "link.py").symlink_to("../secret.txt")
    (folder / "chain.py").symlink_to("link.py")
    arguments = [part for name in ("link.py", "chain.py") for part in ("--submission", str(folder / name))]
    own = toys / "katas/toys/scale/scale.py"
    own.unlink()
    own.symlink_to(toys / "secret.txt")
    for ran, links in ((run(toys, "grade", "scale", *arguments), 2), (run(toys, "grade", "scale"), 1)):
        text = " ".join(ran.out.split())
        assert ran.status == 1
        assert text.count("is a link that leads out of its folder; name the file itself") == links
        assert "somebody" not in ran.out + ran.err


def test_no_text_of_a_submission_steers_who_reads_it(toys: Path) -> None:
    """Neither a terminal, nor a workflow's log, nor whoever writes the documents."""
    codes = "\\n::error::x\\n##[error]x\\x1b[2J\\u202e\\ud800\\x85"
    head = "def scale(x, factor=2.0):\n"
    sources = {
        "message": f'{head}    raise RuntimeError("{codes}")\n',
        "name": f'{head}    raise type("::error::x\\u202e\\x1b[2J", (RuntimeError,), {{}})("{codes}")\n',
        "line": f"{head}    return x.nothing  # ::error::x \u202e \x0c::error::x\n",
        "import": f'raise RuntimeError("{codes}")\n',
        "prints": f'{head}    import os\n    os.write(1, b"\\x1b[2J\\n::error::x\\n\\xff")\n    return x\n',
        "returns": f'{head}    return type("X", (), {{"__module__": "{codes}"}})()\n',
        "default": f'def scale(x, factor="{codes}"):\n    return x\n',
        "huge": f'{head}    raise type("X" * 400_000, (RuntimeError,), {{}})("x" * 400_000)\n',
        "odd\u202e\x1bname::error::x": f"{head}    return x.nothing\n",
        "right": REFERENCE,
    }
    junit = toys / "junit.xml"
    found = grade(toys, "scale", sources, "--junit", str(junit))
    assert [name for name, result in found.items() if result["state"] == "solved"] == ["right"]
    written = (toys / "results.json").read_text(encoding="utf-8")
    assert len(written) < 200_000
    arguments = [part for name in sources for part in ("--submission", str(toys / "submissions" / f"{name}.py"))]
    shown = run(toys, "grade", "scale", *arguments)
    assert (shown.status, "1 solved, " in shown.out) == (1, True)
    for text in (written, junit.read_text(encoding="utf-8"), shown.out):
        assert not re.search(r"(?<! aten)::(?=[A-Za-z])|##\[", text.replace("grader.py::", "").replace('"::', ""))
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", text)


def test_what_no_float_and_no_card_can_show_is_a_failing_submission(toys: Path) -> None:
    head = "def scale(x, factor=2.0):\n"
    found = grade(
        toys,
        "scale",
        {
            "bytes": f'{head}    raise RuntimeError(f"you tried to allocate {{10**400}} bytes")\n',
            "blank": f'{head}    print("\\n")\n    return x\n',
            "infinite": "def scale(x, factor=float('inf')):\n    return x\n",
            "large": "def scale(x, factor=10**400):\n    return x\n",
            "right": REFERENCE,
        },
    )
    assert [result["state"] for result in found.values()] == ["failing"] * 4 + ["solved"]
    for name, default in (("infinite", "'inf'"), ("large", f"'1{'0' * 79}'")):
        wanted = f"default of factor in scale: should be 2.0, got {default}"
        assert failures(found[name])["contract/signature"] == wanted


def test_a_hang_in_native_code_and_a_full_memory_are_told(toys: Path) -> None:
    head = "import re\nimport torch\n\n\ndef scale(x, factor=2.0):\n"
    found = grade(
        toys,
        "scale",
        {
            "native": head + "    return re.match('(a+)+$', 'a' * 64 + 'b')\n",
            "memory": head + "    return torch.zeros(10**12)\n",
        },
        "-k",
        "three_by_five",
    )
    assert failures(found["native"])["shapes/three_by_five"].startswith("the call: did not return in 10 s (line 6: ")
    said = failures(found["memory"])["shapes/three_by_five"]
    assert "out of memory: your code asked for 3,725.3 GiB in one go, and may use 4 GiB in all (line 6: " in said


FILTERED = """
import os, resource, signal, threading
from graders.sandbox import system_calls
system_calls.forbid()
def refused(call):
    try:
        call()
    except OSError:
        return True
    return False
thread = threading.Thread(target=print, args=("a thread runs",))
thread.start()
thread.join()
parent = os.getppid()
calls = {
    "fork": os.fork,
    "memory": lambda: os.memfd_create("x"),
    "spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "handler": lambda: signal.signal(signal.SIGALRM, print),
    "program": lambda: os.execv("/bin/true", ["true"]),
    "limits of another": lambda: resource.prlimit(parent, resource.RLIMIT_CORE, resource.prlimit(parent, 4)),
    "processors of another": lambda: os.sched_setaffinity(parent, os.sched_getaffinity(parent)),
    "priority of another": lambda: os.setpriority(os.PRIO_PROCESS, parent, os.getpriority(os.PRIO_PROCESS, parent)),
    "scheduler of another": lambda: os.sched_setscheduler(parent, os.SCHED_OTHER, os.sched_param(0)),
    "a handle of another": lambda: os.pidfd_open(parent),
    **{f"signal to {pid}": lambda pid=pid: os.kill(pid, 0) for pid in (os.getppid(), 0, -1, -os.getpgid(0))},
}
os.kill(os.getpid(), 0)
resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
os.sched_setaffinity(0, os.sched_getaffinity(os.getpid()))
signal.pthread_kill(threading.get_ident(), 0)
print([name for name, call in calls.items() if not refused(call)])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux filters system calls")
def test_the_filter_of_system_calls_leaves_threads_alone_and_refuses_the_rest() -> None:
    ran = subprocess.run([sys.executable, "-c", FILTERED], capture_output=True, text=True, cwd=ROOT, check=False)
    assert ran.stdout.splitlines() == ["a thread runs", "[]"], ran.stderr


def test_lines_of_pythons_own_importer_count_as_an_installed_librarys() -> None:
    importer = [importlib._bootstrap._find_spec, importlib._bootstrap_external._path_join]  # type: ignore[attr-defined]
    assert all(meter.is_installed(function.__code__) for function in importer)
    pretended = compile("for i in range(9): i", "<frozen importlib._bootstrap>", "exec")
    assert not meter.is_installed(pretended)
