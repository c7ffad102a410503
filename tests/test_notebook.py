"""`%%kata` in real notebooks, executed by real kernels in a clone of their own."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient

from graders.desk import attempts
from graders.desk.state import NOTEBOOK, State
from graders.faults import ROOT
from graders.judge.results import Outcome, Result
from tests.toys import REFERENCE, make_clone

WRONG = REFERENCE.replace("x / (1 / factor)", "x / factor")
HANGS = "def scale(x, factor=2.0):\n    while True:\n        pass\n"
MARKUP = (
    "def scale(x, factor=2.0):\n    print('<b>bold</b> & more')\n    raise TypeError('<script>alert(1)</script>')\n"
)
CHEAT = "import torch\ntorch.allclose = lambda *a, **k: True\ntorch.equal = torch.allclose\ngraders = None\n"
KERNEL = "judged"

CELLS = {
    "load": "import sys\nsys.path.insert(0, '..')\n%load_ext graders",
    "right": "%%kata scale\n" + REFERENCE,
    "tried": "scale(3.0)",
    "wrong": "%%kata scale\n" + WRONG + "\nprint('tried', scale(6.0))",
    "syntax": "%%kata scale\ndef scale(x:",
    "elsewhere": "helper = 2.0",
    "magic": "%%kata scale\n%time\ndef scale(x, factor=2.0):\n    return x * factor",
    "alone": "%%kata scale\ndef scale(x, factor=helper):\n    return x * factor",
    "raises": "%%kata scale\ndef scale(x, factor=2.0):\n    return y\n\nscale(1)",
    "cheat": "%%kata scale --seed 7\n" + CHEAT + WRONG,
    "hangs": "%%kata scale -k 'numerics and three_by_five and float64'\n" + HANGS,
    "markup": "%%kata scale -k three_by_five\n" + MARKUP,
    "unknown": "%%kata scail\n1",
    "none": "%%kata\n1",
    "option": "%%kata scale --colour\n1",
    "expression": "%%kata scale -k nothing_like_it\n1",
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a call may take 2 seconds, not 10."""
    root = make_clone(tmp_path_factory.mktemp("clone"))
    limits = root / "graders/sandbox/submission.py"
    text = limits.read_text(encoding="utf-8")
    assert "\nLIMIT_SECONDS = 10.0" in text
    limits.write_text(text.replace("\nLIMIT_SECONDS = 10.0", "\nLIMIT_SECONDS = 2.0"), encoding="utf-8")
    (root / "notes").mkdir()
    return root


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Kernels run this interpreter, and nothing of the user's; the folder that all they leave must be in."""
    home = tmp_path_factory.mktemp("kernel")
    folder = home / "share/kernels" / KERNEL
    folder.mkdir(parents=True)
    spec = {"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": KERNEL}
    (folder / "kernel.json").write_text(json.dumps(spec | {"language": "python"}))
    (home / "scratch").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(home / name))
        patch.setenv("JUPYTER_PATH", str(home / "share"))
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        patch.setenv("TMPDIR", str(home / "scratch"))
        patch.delenv("CI", raising=False)
        yield home / "scratch"


@pytest.fixture(scope="module")
def outputs(clone: Path, kernel: Path) -> dict[str, list[Any]]:
    """By cell, of one notebook that lies in a folder of the clone."""
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]  # type: ignore[no-untyped-call]
    notebook = nbformat.v4.new_notebook(cells=cells)  # type: ignore[no-untyped-call]  # it has no types
    where = {"metadata": {"path": str(clone / "notes")}}
    NotebookClient(notebook, timeout=120, kernel_name=KERNEL, resources=where, allow_errors=True).execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def card(found: list[Any]) -> list[str]:
    """The lines of the one card there."""
    (shown,) = [output.data for output in found if output.output_type == "display_data"]
    assert set(shown) == {"text/plain", "text/html"}
    lines: list[str] = shown["text/plain"].splitlines()
    assert all(len(line) <= 80 and line == line.rstrip() and "\x1b" not in line for line in lines)
    return lines


def text_of(found: list[Any], kind: str) -> str:
    return "".join(output.text for output in found if output.output_type == "stream" and output.name == kind)


def traceback_of(found: list[Any]) -> str:
    (error,) = [output for output in found if output.output_type == "error"]
    return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback))


def test_a_right_answer_passes_and_can_be_tried_in_the_next_cell(outputs: dict[str, list[Any]]) -> None:
    assert re.fullmatch(r"PASS  scale {18}100/100   19 checks in \d+\.\d s", card(outputs["right"])[0])
    assert len(outputs["right"]) == 1
    assert outputs["tried"][0].data["text/plain"] == "6.0"


def test_a_wrong_answer_gets_the_card_that_names_the_mistake(outputs: dict[str, list[Any]]) -> None:
    lines = card(outputs["wrong"])
    assert lines[0].startswith("FAIL  scale ")
    assert lines[1] == "  call        scale(x[3, 5] float64)  # factor=2.0 by default, seed 1"
    assert lines[-3:] == [
        "  looks like  the factor divides; multiply by it",
        "  rerun       %%kata scale -k three_by_five",
        "  hint        nox -s hint -- scale",
    ]
    assert text_of(outputs["wrong"], "stdout") == "tried 3.0\n"


def test_an_error_in_the_cell_gets_the_usual_traceback_and_the_card(outputs: dict[str, list[Any]]) -> None:
    assert "SyntaxError: incomplete input" in traceback_of(outputs["syntax"])
    assert "the cell cannot be imported: SyntaxError" in " ".join(card(outputs["syntax"]))
    shown = traceback_of(outputs["raises"])
    assert "----> 5 scale(1)" in shown  # as the notebook counts
    assert "NameError: name 'y' is not defined" in shown
    assert "notebook.py" not in shown
    assert card(outputs["raises"])[0].startswith("ERROR scale ")


def test_line_that_only_ipython_understands_is_told(outputs: dict[str, list[Any]]) -> None:
    lines = " ".join(" ".join(card(outputs["magic"])).split())
    assert "the cell cannot be imported: SyntaxError: invalid syntax (line 2: `%time`)" in lines
    assert lines.endswith("plain Python: put lines that begin with % or ! into another cell")


def test_what_another_cell_defines_is_not_there_and_that_is_said(outputs: dict[str, list[Any]]) -> None:
    lines = " ".join(" ".join(card(outputs["alone"])).split())
    assert "the cell cannot be imported: NameError: name 'helper' is not defined (line 2: " in lines
    assert lines.endswith("note a cell is judged on its own: import and define in it all that it uses")


def test_a_cell_that_patches_torch_changes_no_verdict(outputs: dict[str, list[Any]]) -> None:
    lines = card(outputs["cheat"])
    assert lines[0].startswith("FAIL  scale ")
    assert "  rerun       %%kata scale -k three_by_five --seed 7" in lines


def test_an_endless_loop_is_judged_as_a_timeout(outputs: dict[str, list[Any]]) -> None:
    lines = " ".join(" ".join(card(outputs["hangs"])).split())
    assert re.search(r"the call did not return in 2 s \(line [34]: `(while True:|pass)`\)", lines)


def test_html_says_the_same_and_is_escaped(outputs: dict[str, list[Any]]) -> None:
    assert "<script>alert(1)</script>" in " ".join(card(outputs["markup"]))
    for name in ("right", "wrong", "markup"):
        page = outputs[name][-1].data["text/html"]
        assert set(re.findall(r"</?(\w+)", page)) <= {"div", "strong", "dl", "dt", "dd"}
        assert " ".join(card(outputs[name])).split()[0] in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; more" in page


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("unknown", "there is no kata called 'scail'; did you mean scale?"),
        ("none", "which kata does this cell answer? Type %%kata KATA; there are: scale, affine"),
        ("option", "unrecognized arguments: --colour; type %%kata KATA [-k EXPR] [--seed N]"),
        ("expression", "no check matches -k 'nothing_like_it'"),
    ],
)
def test_bad_usage_is_one_sentence(outputs: dict[str, list[Any]], cell: str, sentence: str) -> None:
    assert text_of(outputs[cell], "stderr") == f"UsageError: {sentence}\n"
    assert all(output.output_type in ("stream", "execute_result") for output in outputs[cell])


def test_attempts_are_remembered_but_not_parts(outputs: dict[str, list[Any]], clone: Path) -> None:
    state = State(clone)
    found = [event for event in state.events() if event.kind == "attempt"]
    state.close()
    assert [event.body["state"] for event in found] == ["solved", "failing", *["error"] * 4, "failing"]
    assert {event.body["via"] for event in found} == {"notebook"}
    assert found[0].body["source"] == "# %%kata scale\n" + REFERENCE
    assert (found[1].body["mistake"], found[-1].body["seed"]) == ("inverse", 7)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
def test_the_stop_button_ends_the_judge_or_the_cell(clone: Path, kernel: Path) -> None:
    manager, client = start_new_kernel(kernel_name=KERNEL, cwd=str(clone))
    try:
        client.execute("%load_ext graders", reply=True, timeout=60)
        hangs = client.execute("%%kata scale\n" + HANGS, stop_on_error=False)  # else the next may be dropped unread
        wait(lambda: judges(kernel))  # whose servers and workers have a blank command line
        time.sleep(HANG_SECONDS)
        manager.interrupt_kernel()
        content = reply(client, hangs)
        assert (content["ename"], content["evalue"]) == ("UsageError", "interrupted: nothing was judged")
        assert (judges(kernel), list(kernel.iterdir())) == ([], [])
        began = client.execute("%%kata scale\nfrom pathlib import Path\nPath('began').touch()\nwhile True: pass")
        wait((clone / "began").exists)
        manager.interrupt_kernel()
        content = reply(client, began)
        assert (content["status"], content["ename"]) == ("error", "KeyboardInterrupt")
        assert judges(kernel) == []
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def reply(client: BlockingKernelClient, request: str) -> dict[str, Any]:
    """What that request was answered; a kernel slow to start also answers each that asked whether it is there."""
    while True:
        message = client.get_shell_msg(timeout=60)
        if message["parent_header"]["msg_id"] == request:
            content: dict[str, Any] = message["content"]
            return content


HANG_SECONDS = 4  # in which a judge gets as far as the call that hangs


def judges(scratch: Path) -> list[str]:
    """Processes that were started on a cell in that folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = process.read_text()
        except OSError:  # it ended meanwhile
            continue
        found += [text] if f"{scratch}/kata-cell-" in text else []
    return found


def wait(until: Any) -> None:
    for _ in range(600):
        if until():
            return
        time.sleep(0.1)
    raise AssertionError("it never came to that")


def test_the_first_notebook_sets_itself_up_and_judges(tmp_path: Path, kernel: Path) -> None:
    kata = Path("similarity/cosine_similarity")
    for name in ("docs", "graders", "katas" / kata, "solutions" / kata):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("noxfile.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    borrow_environment(tmp_path)
    notebook = nbformat.read(tmp_path / "docs/first_kata.ipynb", 4)  # type: ignore[no-untyped-call]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
    (wrong,) = [cell for cell in notebook.cells if cell.source.startswith("%%kata")]
    right = (ROOT / "solutions" / kata / "cosine_similarity.py").read_text(encoding="utf-8")
    notebook.cells.append(nbformat.v4.new_code_cell("%%kata cosine_similarity\n" + right))  # type: ignore[no-untyped-call]
    where = {"metadata": {"path": str(tmp_path / "docs")}}
    NotebookClient(notebook, timeout=120, kernel_name=KERNEL, resources=where).execute()
    lines = card(wrong.outputs)
    assert lines[0].startswith("FAIL  cosine_similarity ")
    assert "  looks like  eps is added to the product of the norms" in "\n".join(lines)
    assert card(notebook.cells[-1].outputs)[0].startswith("PASS  cosine_similarity      100/100")


def test_the_first_notebook_says_what_it_needs_outside_of_a_clone(tmp_path: Path, kernel: Path) -> None:
    notebook = nbformat.read(ROOT / "docs/first_kata.ipynb", 4)  # type: ignore[no-untyped-call]
    notebook.cells = notebook.cells[:2]
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=120, kernel_name=KERNEL, resources=where, allow_errors=True).execute()
    said = "UsageError: write the address of your fork into the first line of this cell, then run it again\n"
    assert text_of(notebook.cells[1].outputs, "stderr") == said
    assert not list(tmp_path.iterdir())


def borrow_environment(clone: Path) -> None:
    """Makes a `.venv` that has what this interpreter has, and that nox takes for its own."""
    venv.create(clone / ".venv", symlinks=sys.platform != "win32")
    paths = {"base": str(clone / ".venv"), "platbase": str(clone / ".venv")}
    Path(sysconfig.get_path("purelib", vars=paths), "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    digest = hashlib.sha256((clone / "pyproject.toml").read_bytes()).hexdigest()[:16]
    (clone / ".venv" / f".learn-{digest}").touch()


def test_a_stub_in_a_file_does_not_begin_anew_what_was_done_in_a_notebook(tmp_path: Path) -> None:
    state = State(tmp_path)
    skipped = [Outcome("contract/signature", "contract", "skipped", 100, "not started: the stub is untouched")]
    passed = [Outcome("contract/signature", "contract", "pass", 100)]
    untouched = Result("scale", "toys", "scale.py", todo=True, outcomes=skipped, planned=1)
    attempts.record(state, Result("scale", "toys", "cell.py", source_text="x", outcomes=passed, planned=1), 1, NOTEBOOK)
    attempts.record(state, untouched, 1, "grade")
    assert [event.kind for event in state.events()] == ["attempt"]
    attempts.record(state, untouched, 1, NOTEBOOK)
    assert [event.kind for event in state.events()] == ["attempt", "start"]
    state.close()


def test_to_import_graders_costs_nothing() -> None:
    code = "import sys, graders; assert not {'torch', 'IPython', 'pytest'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    code = "import sys, graders.notebook.magic; assert not {'torch', 'numpy', 'pytest', 'rich'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_the_clones_own_python_judges_else_a_kernels_that_has_all_it_needs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from IPython.core.error import UsageError

    from graders.notebook import magic as notebook

    monkeypatch.setattr(notebook, "ROOT", tmp_path)
    assert notebook.find_python() == sys.executable
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").touch()
    assert notebook.find_python() == str(tmp_path / ".venv/bin/python")
    (tmp_path / ".venv/bin/python").unlink()
    monkeypatch.setattr(notebook, "NEEDED", ("pytest", "no_such_thing"))
    with pytest.raises(UsageError, match=f"needs no_such_thing: run `nox -s grade` once in {tmp_path}, or `%pip"):
        notebook.find_python()
