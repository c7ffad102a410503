"""What a person types and sees: exit statuses, messages, piped output, colours, widths."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jsonschema
import pytest

from graders.arguments import command_line
from graders.catalogue import katas
from graders.faults import ROOT
from tests.toys import ABOUT, MODULE_REFERENCE, REFERENCE, make_repository, run, run_within, variables

WRONG = REFERENCE.replace("x / (1 / factor)", "x / factor")
SCHEMA = json.loads((ROOT / "graders" / "results.schema.json").read_text(encoding="utf-8"))


def solve(root: Path, scale: str = REFERENCE, affine: str = MODULE_REFERENCE) -> None:
    (root / "katas/toys/scale/scale.py").write_text(scale)
    (root / "katas/toys/affine/affine.py").write_text(affine)


def test_untouched_stubs_are_to_do(toys: Path) -> None:
    ran = run(toys, "grade")
    assert ran.status == 0
    assert ran.out.splitlines() == [
        "TODO  scale                    0/100   ",
        "TODO  affine                   0/100   ",
        "",
        "2 todo; score 0/200",
        "next: open katas/toys/scale/scale.py, then run",
        "  nox -s grade -- scale",
    ]


def test_front_matter_decides_what_is_next_and_what_comes_first(toys: Path) -> None:
    for name, minutes, after in (("stretch", 10, "[]"), ("affine_too", 5, "[stretch]"), ("bend", 5, "[scale]")):
        shutil.copytree(toys / "katas/toys/scale", folder := toys / "katas/more" / name)
        (folder / "scale.py").rename(folder / f"{name}.py")
        (folder / ".stub.py").write_text((folder / f"{name}.py").read_text())
        (folder / "README.md").write_text(ABOUT.format(name, "more", 1, after, minutes))
    ran = run(toys, "grade", "more")
    assert [line.split()[1] for line in ran.out.splitlines()[:3]] == ["stretch", "affine_too", "bend"]
    assert "next: open katas/more/stretch/stretch.py, " in ran.out
    shown = run(toys, "status").out
    assert "next: stretch, which unlocks affine_too" in shown
    assert [line.split()[1] for line in shown.splitlines() if line.startswith("  affine_too")] == ["later"]


def test_after_a_solved_kata_the_next_one_of_its_topic_is_named(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    for name, topic, minutes, after in (("first", "more", 5, "[]"), ("third", "toys", 5, "[first]")):
        shutil.copytree(toys / "katas/toys/scale", folder := toys / "katas" / topic / name)
        (folder / "scale.py").rename(folder / f"{name}.py")
        (folder / ".stub.py").write_text((folder / f"{name}.py").read_text())
        (folder / "README.md").write_text(ABOUT.format(name, topic, 1, after, minutes))
    solve(toys)
    assert "affine/affine.py, then run\n  nox -s grade -- affine" in run(toys, "grade", "scale").out
    # nothing of the topic is left but what builds on `first`, which the path wants anyway
    assert "first/first.py, then run\n  nox -s grade -- first" in run(toys, "grade", "affine").out
    assert "next:" not in run(toys, "grade", "scale", "--submission", "katas/toys/scale/scale.py").out


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("level: 1", "level: 4", "level should be one of 1, 2, 3, got 4"),
        ("after: []", "after: affine", "after should be a list of katas, got 'affine'"),
        ("after: []", "after: []\naliases: [S!]", "aliases should be a list of names in small letters, got ['S!']"),
        ("minutes: 15", "minutes: 15\nasked: always", "asked should be one of often, sometimes, got 'always'"),
        ("after: []", "after: []\ncontinues: [affine]", "continues should be a kata's name, got ['affine']"),
        ("minutes: 15\n", "", "it names title, topic, level, after"),
        ("topic: toys", "topic: boys", "topic should be toys, the folder, got boys"),
        ("title:", "title: a: b:", "mapping values are not allowed"),
    ],
)
def test_front_matter_that_is_none_is_refused_in_a_sentence(toys: Path, old: str, new: str, why: str) -> None:
    statement = toys / "katas/toys/scale/README.md"
    statement.write_text(statement.read_text().replace(old, new))
    ran = run(toys, "grade")
    assert ran.status == 2
    assert ran.err.startswith(f"error: katas/toys/scale/README.md should begin with {', '.join(katas.SAID)} ({why}")
    assert ran.err.endswith("): restore it with git\n")


def test_an_alias_is_said_and_taken_for_the_kata(toys: Path) -> None:
    statement = toys / "katas/toys/scale/README.md"
    statement.write_text(statement.read_text().replace("topic:", "aliases: [scaling_by_two]\ntopic:", 1))
    ran = run(toys, "grade", "Scaling-by-two")
    assert ran.err.startswith("Scaling-by-two is scale\n")
    assert "scale" in ran.out
    assert "did you mean scaling_by_two?" in run(toys, "grade", "scaling_by_too").err


def test_an_alias_is_the_name_of_nothing_else() -> None:
    every = katas.all_katas()
    names = [name for kata in every for name in (kata.id, *kata.about.aliases)] + [*{kata.topic for kata in every}]
    assert len(names) == len(set(names))
    told = ("rope", "gqa", "mqa", "mha", "kv_cache", "lora", "dpo", "grpo", "alibi", "bpe", "auc", "nll")
    assert {"rope": "rotary_embedding", "auc": "roc_auc", "nll": "cross_entropy"}.items() <= {
        name: katas.find_one(name).id for name in told
    }.items()


def test_solved_katas_end_with_0(toys: Path) -> None:
    solve(toys)
    ran = run(toys, "grade")
    assert ran.status == 0
    assert "2 solved; score 200/200" in ran.out


def test_failing_card_names_the_mistake_and_the_rerun(toys: Path) -> None:
    solve(toys, scale=WRONG)
    ran = run(toys, "grade", "scale")
    assert ran.status == 1
    lines = [line.rstrip() for line in ran.out.splitlines()]
    assert lines[0].startswith("FAIL  scale                   ")
    assert lines[0].endswith("first failure: three_by_five/float64")
    assert lines[1] == "  call        scale(x[3, 5] float64)  # factor=2.0 by default, seed 1"
    assert lines[2].startswith("  given       x[")
    assert lines[3].startswith("  values      15 of 15 differ; worst at [")
    assert "  debug       nox -s run -- scale --case three_by_five" in lines
    assert "  looks like  the factor divides; multiply by it" in lines
    assert "  rerun       nox -s grade -- scale -k three_by_five" in lines
    assert "Traceback" not in ran.out + ran.err


def test_a_partial_run_that_fails_is_called_so_and_has_no_points(toys: Path) -> None:
    solve(toys, scale=WRONG)
    for arguments in (("scale", "-k", "numerics"), ("scale", "-x"), ("-x",)):
        ran = run(toys, "grade", *arguments)
        assert ran.status == 1
        (headline,) = [line for line in ran.out.splitlines() if line.startswith("FAIL")]
        assert headline == "FAIL  scale                  partial   first failure: three_by_five/float64"
        assert re.search(r"^  tested +\d+ of 19 checks; run all of them for a verdict and a score *$", ran.out, re.M)
        assert "looks like" not in ran.out
        assert "score " not in ran.out.replace("a score", "")
        assert "/200" not in ran.out


def test_a_broken_rule_is_the_headline(toys: Path) -> None:
    solve(toys, scale=REFERENCE.replace("x / (1 / factor)", "x.mul(2 * factor)"))
    lines = [line.rstrip() for line in run(toys, "grade", "scale").out.splitlines()]
    assert re.fullmatch(r"FAIL  scale +\d\d/100   the rules are broken", lines[0])
    assert lines[2].startswith("  the rules  mul is not allowed in this kata, but is called")
    assert "  points     only for contract and shapes, while the rules are broken" in lines


def test_each_of_several_submissions_is_named(toys: Path) -> None:
    files = [toys / "one" / "a.py", toys / "one" / "b.py", toys / "two" / "b.py"]
    for path, source in zip(files, (REFERENCE, WRONG, WRONG), strict=True):
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
    arguments = [word for path in files for word in ("--submission", str(path))]
    ran = run(toys, "grade", "scale", *arguments)
    assert [line.split()[:2] for line in ran.out.splitlines() if line[:4] in ("PASS", "FAIL")] == [
        ["PASS", "a.py"],
        ["FAIL", "one/b.py"],
        ["FAIL", "two/b.py"],
    ]
    assert re.findall(r"^  file +(\S+) *$", ran.out, re.MULTILINE) == ["one/b.py", "two/b.py"]
    words = " ".join(ran.out.split())
    assert re.search(r"rerun nox -s grade -- scale -k three_by_five --seed \d+ --submission two/b.py", words)
    alone = run(toys, "grade", "scale", "--submission", str(files[1]), "--seed", "1").out
    assert "--seed 1 --submission one/b.py" in " ".join(alone.split())  # else it would draw one
    assert alone.startswith("FAIL  scale ")
    assert "  file " not in alone


def test_printed_lines_are_on_the_card(toys: Path) -> None:
    solve(toys, scale=WRONG.replace("    return", "    print(f'x\\n  {list(x.shape)}')\n    return"))
    lines = [line.rstrip() for line in run(toys, "grade", "scale").out.splitlines()]
    at = lines.index("  printed     x")
    assert lines[at + 1] == "                [3, 5]"


def test_ci_ends_with_0_whatever_the_score(toys: Path) -> None:
    solve(toys, scale=WRONG)
    assert run(toys, "grade", "--ci").status == 0


def test_a_graders_own_fault_ends_with_3(toys: Path) -> None:
    solve(toys)
    grader = toys / "katas/toys/scale/grader.py"
    grader.write_text(grader.read_text().replace("x * factor,", "x.nothing,"))
    ran = run(toys, "grade", "--ci")
    assert ran.status == 3
    assert "the grader's case three_by_five failed: AttributeError" in " ".join(ran.out.split())
    assert "1 solved, 1 error" in ran.out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("draw.normal(3, 5)", "draw.normal(3, wide=7)", "case three_by_five failed: TypeError: Draw.normal() got an"),
        ("lambda x, factor=2.0: x * factor", "lambda x: x * 2", "case factors failed: TypeError: <lambda>() got an"),
        ("draw.normal(4)", "x", "case factors failed: NameError: name 'x' is not defined"),
    ],
)
def test_an_authors_fault_names_the_case(toys: Path, old: str, new: str, message: str) -> None:
    grader = toys / "katas/toys/scale/grader.py"
    assert grader.read_text().count(old) == 1
    grader.write_text(grader.read_text().replace(old, new))
    ran = run(toys, "grade", "scale", "--reference", "--json", str(toys / "results.json"))
    assert ran.status == 3
    assert "Traceback" not in ran.out + ran.err
    assert f"the grader's {message}" in (toys / "results.json").read_text()


def test_a_grader_that_cannot_be_imported_ends_with_3(toys: Path) -> None:
    solve(toys)
    (toys / "katas/toys/scale/grader.py").write_text("import nowhere\n")
    ran = run(toys, "grade")
    assert ran.status == 3
    assert "1 solved, 1 error" in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scail"], "error: there is no kata called 'scail'; did you mean scale?"),
        (["xyz"], "error: there is no kata called 'xyz'; there are: scale, affine"),
        (["taste"], "error: there is no kata called 'taste'; there are: scale, affine"),
        (["toyz"], "error: there is no kata called 'toyz'; did you mean toys?"),
        (["katas/toys/scole"], "error: there is no kata called 'katas/toys/scole'; "),
        (["scale", "--submission", "no/such.py"], "error: --submission no/such.py does not exist; check the path"),
        (["scale", "affine", "--submission", "x.py"], "error: --submission needs exactly one KATA, got 2"),
        (["--submission", "x.py"], "error: --submission needs exactly one KATA, got none"),
        (
            ["scale", "--reference", "--submission", __file__],
            "error: --submission and --reference exclude each other; name one of them",
        ),
        (["-k", "nothing_like_it"], "error: no check matches -k 'nothing_like_it'"),
        (["-k", "a ++ b"], "Wrong expression passed to '-k': a ++ b"),
        (["--seed", "-1"], "a seed should be from 0 to 4294967295, got -1"),
        (["--seed", "x"], "invalid seed value: 'x'"),
        (["--colour"], "error: there is no option --colour; nox -s grade -- --help lists what there is\n"),
        (["--refrence"], "usage: nox -s grade -- [-h] "),
        (["--refrence"], "error: there is no option --refrence; did you mean --reference?\n"),
        (["--jsn=out.json"], "error: there is no option --jsn=out.json; did you mean --json?\n"),
        (["--json", "katas"], "error: katas cannot be written: Is a directory; name another file"),
        (["--junit", "katas"], "error: katas cannot be written: Is a directory; name another file"),
    ],
)
def test_bad_usage_ends_with_2(toys: Path, arguments: list[str], message: str) -> None:
    ran = run(toys, "grade", *arguments)
    assert ran.status == 2, ran
    assert message in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("named", ["toys", "{root}/katas/toys", "katas/toys"])
def test_topic_names_all_of_its_katas(toys: Path, named: str) -> None:
    assert run(toys, "grade", named.format(root=toys)).out.count("TODO ") == 2
    assert run(toys, "hint", named.format(root=toys)).err.endswith("a topic of 2 katas; name one: scale, affine\n")


@pytest.mark.parametrize("named", ["katas/toys/scale", "katas/toys/scale/scale.py", "{root}/katas/toys/scale/"])
def test_path_names_a_kata(toys: Path, named: str) -> None:
    said = run(toys, "grade", "affine", named.format(root=toys), "scale").out
    assert [line.split()[:2] for line in said.splitlines()[:2]] == [["TODO", "affine"], ["TODO", "scale"]]
    assert said.count("TODO ") == 2


def test_the_folder_of_a_clone_may_have_any_name(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "[my] 'wörk' & more")
    done = subprocess.run(
        [*command_line(root), "grade"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=root,
        env=variables() | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done
    assert done.stdout.count("TODO ") == 2


def test_cuda_without_a_device_is_told(toys: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device here")
    assert run(toys, "grade", "--device", "cuda").status == 2
    ran = run(toys, "grade", "--device", "all")
    assert (ran.status, ran.err) == (0, "no CUDA device here: graded on the CPU alone\n")


def test_part_of_the_checks_gives_no_verdict(toys: Path) -> None:
    solve(toys, scale=WRONG)
    output = toys / "results.json"
    ran = run(toys, "grade", "scale", "-k", "shapes", "--json", str(output))
    assert ran.status == 0
    result = json.loads(output.read_text())["results"][0]
    assert (result["state"], result["max_score"]) == ("todo", 100)
    assert result["message"].endswith("checks ran, and passed; run all of them for a verdict")


def test_first_failure_only(toys: Path) -> None:
    solve(toys, scale=WRONG)
    output = toys / "results.json"
    assert run(toys, "grade", "-x", "--json", str(output)).status == 1
    found = {result["kata"]: result for result in json.loads(output.read_text())["results"]}
    states = [test["state"] for test in found["scale"]["tests"]]
    assert states.count("fail") == 1
    assert set(states[states.index("fail") + 1 :]) == {"skipped"}
    assert found["affine"]["state"] == "solved"


def test_documents_hold_what_they_promise(toys: Path) -> None:
    solve(toys, scale=WRONG)
    output, junit = toys / "deep" / "results.json", toys / "junit.xml"
    run(toys, "grade", "--json", str(output), "--junit", str(junit), "--seed", "7")
    document = json.loads(output.read_text(encoding="utf-8"))
    jsonschema.validate(document, SCHEMA)
    assert (document["seed"], document["device"], document["status"]) == (7, ["cpu"], "fail")
    for result in document["results"]:
        assert sum(test["max_score"] for test in result["tests"]) == result["max_score"] == 100
        assert sum(test["score"] for test in result["tests"]) == result["score"]
    assert document["score"] == sum(result["score"] for result in document["results"])
    assert [result["source"] for result in document["results"]] == [
        "katas/toys/scale/scale.py",
        "katas/toys/affine/affine.py",
    ]
    suite = ElementTree.parse(junit).getroot()[0]
    assert int(suite.attrib["tests"]) == sum(len(result["tests"]) for result in document["results"])
    assert int(suite.attrib["failures"]) == sum(
        test["state"] != "pass" for result in document["results"] for test in result["tests"]
    )


def test_no_document_is_begun_before_the_end(toys: Path) -> None:
    solve(toys)
    looks = toys / "katas/toys/scale/grader.py"
    look = "import pathlib\nassert not list(pathlib.Path(__file__).parents[3].glob('deep/*')), 'too early'\n"
    looks.write_text(look + looks.read_text())
    output, junit = toys / "deep" / "results.json", toys / "deep" / "junit.xml"
    ran = run(toys, "grade", "--json", str(output), "--junit", str(junit))
    assert ran.status == 0, ran
    assert sorted(path.name for path in output.parent.iterdir()) == ["junit.xml", "results.json"]


def test_document_goes_through_a_link_or_to_a_pipe(toys: Path) -> None:
    solve(toys)
    (toys / "kept.json").write_text("{}")
    (toys / "link.json").symlink_to(toys / "kept.json")
    assert run(toys, "grade", "--json", str(toys / "link.json")).status == 0
    assert json.loads((toys / "kept.json").read_text())["status"] == "pass"
    ran = run(toys, "grade", "--json", "/dev/stderr")
    assert json.loads(ran.err)["status"] == "pass"


def test_a_seed_is_drawn_and_printed_in_ci(toys: Path) -> None:
    solve(toys)
    ran = run(toys, "grade", "scale", CI="true")
    assert ran.out.startswith("seed ")
    assert ran.status == 0


def test_a_seed_is_drawn_and_shown_for_a_submission(toys: Path) -> None:
    """Else a file could be right on the known inputs alone. By its seed, a verdict can be had again."""
    solve(toys, scale=WRONG)
    wrong, output = str(toys / "katas/toys/scale/scale.py"), toys / "results.json"
    seeds: list[int] = []
    shown: list[str] = []
    for more in ((), (), ("--seed", "{}")):
        options = [part.format(*seeds) for part in more]
        ran = run(toys, "grade", "scale", "--submission", wrong, "--json", str(output), *options)
        seeds.append(json.loads(output.read_text())["seed"])
        shown.append(ran.out)
        assert ran.out.startswith(f"seed {seeds[-1]}\n")
        rerun = f"nox -s grade -- scale -k three_by_five --seed {seeds[-1]} --submission "
        assert rerun in " ".join(ran.out.split())
    assert seeds[0] == seeds[2] != seeds[1]
    assert shown[0].splitlines()[:6] == shown[2].splitlines()[:6]
    assert "seed" not in run(toys, "grade", "scale").out.replace(", seed 1", "")


def test_what_a_person_should_look_at_stands_in_the_document_and_on_the_card(toys: Path) -> None:
    solve(toys, scale=REFERENCE + "\n\nscale.__closure__\n")
    own, output = str(toys / "katas/toys/scale/scale.py"), toys / "results.json"
    ran = run(toys, "grade", "scale", "--submission", own, "--json", str(output))
    document = json.loads(output.read_text(encoding="utf-8"))
    jsonschema.validate(document, SCHEMA)
    assert document["results"][0]["state"] == "solved"
    assert document["results"][0]["review"] == ["line 14: `__closure__`"]
    assert "  review  line 14: `__closure__`" in [line.rstrip() for line in ran.out.splitlines()]
    assert "review" not in run(toys, "grade", "scale").out


@pytest.mark.parametrize("width", [40, 80, 132])
def test_lines_fit_the_terminal(toys: Path, width: int) -> None:
    solve(toys, scale=WRONG)
    ran = run(toys, "grade", COLUMNS=str(width))
    assert max(len(line) for line in ran.out.splitlines()) <= width
    assert "first failure: three_by_five/float64" in ran.out
    assert "…" not in ran.out


def test_piped_output_has_no_colour_and_no_progress(toys: Path) -> None:
    solve(toys, scale=WRONG)
    assert "\x1b" not in run(toys, "grade").out


@pytest.mark.parametrize("arguments", [("grade",), ("grade", "--workers", "1"), ("status",), ("status", "--json")])
def test_a_reader_that_leaves_ends_the_work_in_silence(toys: Path, arguments: tuple[str, ...]) -> None:
    command = [*command_line(toys), *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.close()
        assert process.stderr
        assert process.stderr.read() == b""
    assert process.returncode == 130


PRESS = """
import os, signal, sys
me = os.getpid()  # not what is forked
def press(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r} and os.getpid() == me:
            press()
sys.meta_path.insert(0, Finder())
if {function!r}:
    from graders.judge.reporter import Reporter
    setattr(Reporter, {function!r}, press)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")
@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("torch", ""),
        ("numpy._core.numeric", ""),  # imported by torch's C++, which takes an exception for a numpy that is not there
        ("_pytest.main", ""),
        ("", "__call__"),
        ("", "summary"),
    ],
)
def test_interrupt_ends_in_silence_at_any_moment(toys: Path, module: str, function: str) -> None:
    solve(toys)
    ran = run_within((), PRESS.format(module=module, function=function), toys, "grade", "scale")
    assert (ran.status, ran.err) == (130, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("arguments", [("grade",), ("status",), ("status", "--json")])
def test_a_full_disk_is_one_sentence(toys: Path, arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        ran = subprocess.run([*command_line(toys), *arguments], cwd=ROOT, stdout=full, stderr=subprocess.PIPE)
    assert ran.stderr == b"error: no disk space is left: make room, then run this again\n"
    assert ran.returncode == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no shell there closes them")
def test_closed_input_and_output_change_nothing_else(toys: Path) -> None:
    solve(toys)
    command = ["sh", "-c", '"$0" "$@" <&- >&-', *command_line(toys), "grade"]
    ran = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_an_ascii_terminal_gets_ascii(toys: Path) -> None:
    solve(toys, scale=WRONG)
    mistakes = toys / "solutions/toys/scale/mistakes.py"
    mistakes.write_text(mistakes.read_text().replace("multiply by it", "multiply by √d · τ"))
    ran = run(toys, "grade", PYTHONIOENCODING="ascii")
    assert "multiply by sqrt d * tau" in ran.out
    assert ran.out.isascii()


def test_help_names_every_option(toys: Path) -> None:
    ran = run(toys, "grade", "--help")
    assert ran.status == 0
    for option in ("--reference", "--submission", "--device", "--seed", "--json", "--junit", "-k", "-x", "--ci"):
        assert option in ran.out


COMMON = """import multiprocessing.context, os, platform, signal, socket, subprocess, sys
import numpy, pytest, rich.console, torch, yaml

os.environ["GRADERS_START_METHOD"] = "spawn"


def lose(module, *names):
    for name in names:
        vars(module).pop(name, None)


lose(socket, "SO_PASSCRED")
lose(os, "sched_getaffinity", "sched_setaffinity")
{}
sys.path.insert(0, {!r})
if __name__ == "__main__":
    import pathlib
    from graders import __main__ as m

    m.leave(m.main(root=pathlib.Path({!r})))
"""
SYSTEMS = {
    "darwin": 'sys.platform = "darwin"',
    "win32": """lose(os, "fork", "set_blocking", "setsid", "killpg", "geteuid")
lose(signal, "SIGUSR1", "SIGUSR2", "SIGXCPU")
lose(socket, "send_fds", "recv_fds")
sys.modules["resource"] = sys.modules["fcntl"] = None
sys.platform = "win32" """,
}


@pytest.mark.skipif(sys.platform != "linux", reason="takes away what Linux has")
@pytest.mark.parametrize("system", SYSTEMS)
def test_answers_are_graded_without_what_other_systems_lack(system: str, toys: Path, tmp_path: Path) -> None:
    """In workers as well, which are started by running this file again. What they have besides is not taken away."""
    (tmp_path / "started.py").write_text(COMMON.format(SYSTEMS[system], str(ROOT), str(toys)))
    solve(toys, scale=WRONG.replace("x / factor", "x.mul(1 / factor)"))
    command = [sys.executable, str(tmp_path / "started.py"), "grade", "--json", str(tmp_path / "told.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    document = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))
    assert document["env"]["isolation"] == ("none" if system == "win32" else "limits")
    found = {one["kata"]: one for one in document["results"]}
    assert (found["affine"]["state"], found["scale"]["state"]) == ("solved", "failing")
    assert "mul is not allowed in this kata, but is called (line 10" in json.dumps(found["scale"]["tests"])


def test_conftest_beside_a_submission_is_not_run(toys: Path) -> None:
    solve(toys, scale=WRONG)
    (toys / "katas/toys/scale/conftest.py").write_text("raise SystemExit(0)\n")
    (toys / "katas/conftest.py").write_text("raise SystemExit(0)\n")
    assert run(toys, "grade", "scale").status == 1
