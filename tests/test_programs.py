"""Programs of symptom rounds: what a run shows, and that bugs tell by it; `prove` runs all of them."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from graders.author import check
from graders.author.programs import left_in, of_the_right_files
from graders.author.prove import chosen_katas, chosen_parts
from graders.catalogue import katas
from graders.catalogue.bugs import Bug, bugs_of, planted
from graders.catalogue.programs import LEAST_BUGS, MOST_IN_A_FILE, MOST_IN_A_PROGRAM, Output, Program, programs
from graders.debugging.commands import claim, show_hint, tell_commands
from graders.debugging.draw import draw_program
from graders.debugging.session import DebugSession
from graders.debugging.symptom import SymptomRound, drawn
from graders.debugging.words import matcher_of
from graders.desk.debugged import PlantedBug
from graders.desk.state import State
from graders.faults import ROOT, UsageError
from graders.judge.planting import Planting
from graders.judge.program_run import run_here, with_bugs
from graders.sandbox.launcher import Launcher, new_launcher
from graders.sitting.terminal import Streams
from tests.sittings import flat

NAMES = ("gpt", "grpo")
# One of each kind: a crash, NaN, a loss that stays, one that is too low, samples, a resume; and for GRPO as the issue
# of these rounds names them.
TOLD = {
    "gpt": {
        "model/merged_by_view": "It stops in line ",
        "trainer/cleared_before_the_step": "The loss stays at log V",
        "model/next_token_seen": "The loss is 0.0",
        "trainer/optimizer_not_loaded": "After a resume from a checkpoint, losses differ by ",
    },
    "grpo": {
        "grpo/old_of_the_reference": "In the first epoch of a step a ratio is ",
        "grpo/loss_is_the_gain": "The reward stays at 0.0",
    },
}


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    made = new_launcher()
    yield made
    made.close()


def bug_of(program: Program, path: str) -> dict[str, list[Bug]]:
    part, name = path.split("/")
    (one,) = (one for one in program.parts if one.id == part)
    return {part: [bug for bug in bugs_of(one) if bug.name == name]}


@pytest.mark.parametrize("name", NAMES)
def test_program_without_bugs_shows_no_symptom(name: str) -> None:
    assert not [*of_the_right_files(Program(ROOT, name), 7)]


@pytest.mark.parametrize(("name", "path"), [(name, path) for name, paths in TOLD.items() for path in paths])
def test_bug_tells_by_its_symptom(name: str, path: str) -> None:
    program = Program(ROOT, name)
    output = run_here(with_bugs(program, bug_of(program, path)), program.script, 7)
    assert program.symptom(output).startswith(TOLD[name][path])


def test_symptom_says_no_more_of_a_reward_than_the_run_shows() -> None:
    shown = "step {0}   reward {1}   entropy {2}   off 0.0   moved 0.3   kl 0.5\n"

    def symptom(*figures: tuple[float, float]) -> str:
        lines = [shown.format(10 * step or 1, *pair) for step, pair in enumerate(figures)]
        return Program(ROOT, "grpo").symptom(
            Output("".join(lines) + "of 1000 new answers 0.11 are right   length 3.0\n")
        )

    assert symptom((0.06, 2.38), (0.23, 2.1), (0.01, 2.0)) == (
        "The reward is 0.01 at the last step and 0.23 at best: of new answers, 11% are right."
    )
    assert symptom((0.06, 2.38), (0.02, 0.2)) == "The reward stays at 0.02. The entropy falls to 0.20."


@pytest.mark.parametrize(("later", "told"), [((3.2, 3.3), "stays at log V"), ((9.0, 3.3), "is 9.00 at step 10;")])
def test_loss_that_leaves_log_v_does_not_stay_there(later: tuple[float, ...], told: str) -> None:
    losses = (3.25, *later)
    lines = [f"step {10 * at or 1}   loss {loss}   rate 0.0012\n" for at, loss in enumerate(losses)]
    assert told in Program(ROOT, "gpt").symptom(Output("log V 3.2189\n" + "".join(lines)))


@pytest.mark.parametrize(("name", "part"), [(name, part.id) for name in NAMES for part in Program(ROOT, name).parts])
def test_each_part_passes_its_grader_and_its_bugs_are_told_apart(name: str, part: str, launcher: Launcher) -> None:
    (one,) = (one for one in Program(ROOT, name).parts if one.id == part)
    planting, bugs = Planting(one, launcher), bugs_of(one)
    try:
        assert planting.failure(()) is None
        first, second = next(
            pair for seed in range(99) if len(pair := next(Program(ROOT, name).samples(seed))[part]) == MOST_IN_A_FILE
        )
        assert planting.is_good([first, second])
        left = planting.left(planted(planting.right, [second]), [first, second])
        assert ({*left.bugs}, left.new) == ({second.name}, False)
        assert all(bug.changes for bug in bugs)
    finally:
        planting.close()


@pytest.mark.parametrize("name", NAMES)
def test_seed_draws_bugs_that_go_together(name: str) -> None:
    program = Program(ROOT, name)
    counts = set()
    for seed in range(40):
        bugs = next(program.samples(seed))
        assert bugs == next(program.samples(seed))
        assert max(map(len, bugs.values())) <= MOST_IN_A_FILE
        counts.add(sum(map(len, bugs.values())))
        assert bugs == next(program.samples(seed, sum(map(len, bugs.values()))))  # as the report says
        assert len([*left_in(bugs)]) == 1 + sum(map(len, bugs.values()))
    assert counts == {*range(LEAST_BUGS, min(MOST_IN_A_PROGRAM, MOST_IN_A_FILE * len(program.parts)) + 1)}


def test_first_hint_at_a_bug_is_its_symptom_alone(capsys: pytest.CaptureFixture[str]) -> None:
    def run(bugs: Mapping[str, Sequence[Bug]]) -> Output:
        return Output("", sum(map(len, bugs.values())))

    good: Any = SimpleNamespace(is_good=lambda some: True)
    progress: list[str] = []
    found, symptom = draw_program(Program(ROOT, "gpt"), 4, 0, lambda part: good, run, progress.append)
    assert progress == ["planting bugs: 4 in gpt, choice 1 of at most 12"]
    told = [one.alone[bug.name] for one in found for bug in one.bugs]
    assert (symptom, told) == ("It ends with exit status 4.", ["It ends with exit status 1."] * 4)
    bug = PlantedBug("name", "sentence", 1, [1], [], [], "check", "call", alone=told[0])
    played: Any = SimpleNamespace(terminal=Streams(), say=print, report=SimpleNamespace(bugs=[bug]))
    show_hint(played, bug, 1)
    assert told[0] in capsys.readouterr().out


def test_output_is_read_by_its_fields() -> None:
    output = Output("log V 3.2581\nstep    1   loss   3.2862   rate 0.00080\nstep   10   loss      nan   rate 8e-3\n")
    assert output.numbers("log V") == [3.2581]
    assert output.curve("rate") == [(1, 0.0008), (10, 0.008)]
    assert [step for step, loss in output.curve("loss") if loss != loss] == [10]


def test_crash_is_told_by_the_last_line_of_the_programs_own() -> None:
    frames = "".join(
        f'  File "{file}", line {line}, in f\n    f()\n'
        for file, line in (("/x/train.py", 76), ("/x/model.py", 53), ("/lib/torch/nn.py", 9))
    )
    output = Output(f"Traceback (most recent call last):\n{frames}RuntimeError: mat1 and mat2\n", 1)
    assert output.crash == "It stops in line 53 of model.py: RuntimeError: mat1 and mat2"
    assert Output("killed\n", -9).crash == "It ends with exit status -9."
    assert not Output("fine\n").crash


def test_curve_falls_from_its_highest_to_its_lowest_point() -> None:
    lines = drawn([(1, 4.0), (50, 1.0), (100, 0.0)], "loss").splitlines()
    assert lines[0].startswith("    4.00 |*")
    assert lines[-3].startswith("    0.00 |")
    assert lines[-3].endswith("*")
    assert max(map(len, lines)) <= 72
    assert lines[-1].split() == ["1", "loss", "by", "step", "100"]


def options(*names: str, changed: str | None = None, part: tuple[int, int] = (1, 1)) -> argparse.Namespace:
    return argparse.Namespace(katas=[*names], changed=changed, shard=part)


@pytest.mark.parametrize(("name", "count", "most"), [("grpo", 5, 4), ("gpt", 1, 5)])
def test_round_that_no_program_can_hold_is_refused(name: str, count: int, most: int) -> None:
    asked: Any = argparse.Namespace(symptom=name, bugs=count)
    with pytest.raises(UsageError, match=f"a symptom round of {name} has from 2 to {most} bugs"):
        DebugSession(asked, ROOT, None, None, None).drawn_program(1, print)


def test_one_bug_is_refused_before_anything_is_planted(tmp_path: Path) -> None:
    """In the page that is said in the form, which stays as it is filled in."""
    nothing = dict.fromkeys(("resume", "new", "topic", "level", "set", "slow", "minutes", "seed"))
    asked = argparse.Namespace(symptom="gpt", bugs=1, katas=[], **nothing)
    with (
        contextlib.closing(State(tmp_path)) as state,
        pytest.raises(UsageError, match="a symptom round has 2 bugs or more"),
    ):
        DebugSession.check(asked, state)


def a_symptom_round(name: str, **report: Any) -> SymptomRound:
    program, terminal = Program(ROOT, name), Streams()
    usual = {"left": [], "verdict": "", "extended": []} | report
    files: list[Any] = [
        SimpleNamespace(kata=part, pace=None, terminal=terminal, report=SimpleNamespace(**usual))
        for part in program.parts
    ]
    return SymptomRound(files, program)


def test_round_goes_on_once_nothing_of_it_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """Not while something fails that no bug breaks: nobody would have been told of it."""
    for report in ({"left": ["a bug"]}, {"verdict": "failing"}):
        assert a_symptom_round("gpt", **report).extension is None
    going_on = a_symptom_round("gpt", verdict="solved")
    assert going_on.extension
    assert going_on.extension.kata == "mini_gpt_cache"
    tell_commands(going_on, "")
    assert "judge model.py as the kata mini_gpt_cache" in flat(capsys.readouterr().out)
    claim(going_on, "model 1 x")
    assert capsys.readouterr().out == "all planted bugs are gone: there is none left to claim\n"


def test_help_says_what_a_symptom_round_takes(capsys: pytest.CaptureFixture[str]) -> None:
    tell_commands(a_symptom_round("grpo", left=["a bug"]), "")
    shown = flat(capsys.readouterr().out)
    assert "bug FILE LINE WHY claim" in shown
    assert "submit judge all files" in shown
    assert "run FILE run train.py, or FILE beside it" in shown
    assert "hint, hints, diff and restore also take a file: policy, grpo" in shown


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("gpt/trainer/rate_a_hundred_times_too_small", "highest is 1.2e-4, below lowest"),
        ("grpo/policy/without_an_end", "answers that never ended are rewarded"),
    ],
)
def test_plain_words_mean_the_bug(path: str, words: str) -> None:
    program, name, bug = path.split("/")
    (part,) = (one for one in Program(ROOT, program).parts if one.id == name)
    mistakes = [one for one in part.mistakes if not one.slow]
    assert mistakes[int(matcher_of(part, mistakes).scores(words).argmax())].name == bug


def test_prove_takes_a_program_by_its_name_and_all_of_them_without_names(tmp_path: Path) -> None:
    assert programs(ROOT) == [*NAMES]
    assert not programs(tmp_path)
    assert [part.id for part in chosen_parts(options("grpo"), ROOT)] == ["policy", "grpo"]
    assert not chosen_katas(options("grpo"), ROOT)
    assert len(chosen_parts(options(), ROOT)) == 5
    assert not chosen_parts(options("softmax"), ROOT)
    assert not chosen_parts(options(part=(2, 3)), ROOT)


def test_check_takes_no_program_for_a_kata() -> None:
    assert {kata.id for kata in check.chosen_katas([], ROOT)} == {kata.id for kata in katas.all_katas(ROOT)}
