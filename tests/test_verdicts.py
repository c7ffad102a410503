"""Verdicts on what is saved: the card before the mistake is known, and what is newer ends what is under way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from graders.catalogue import katas
from graders.desk.state import State
from graders.desk.verdicts import AnswerFile, Verdicts
from graders.judge.results import Result
from graders.judge.warm import WarmJudge
from graders.sandbox.launcher import new_launcher
from tests.toys import REFERENCE

WRONG = REFERENCE.replace("x / (1 / factor)", "x / factor")
SLEEPS = WRONG.replace("    return x / factor", "    import time\n    time.sleep(5)\n    return x / factor")


@pytest.fixture
def judge() -> Iterator[WarmJudge]:
    made = WarmJudge(new_launcher())
    assert made.launcher.isolation
    yield made
    made.close()
    made.launcher.close()


def test_the_card_is_there_before_the_mistake_is_looked_for(toys: Path, judge: WarmJudge) -> None:
    file = AnswerFile(katas.find_one("scale", toys), "web")
    seen: list[tuple[bool, str | None, bool]] = []

    def early(result: Result) -> None:
        card = verdicts.last[file]
        seen.append((result.complete and not result.done, result.mistake, card.result is result))

    verdicts = Verdicts(judge, early=early)
    for text, mistake in ((WRONG, "inverse"), (REFERENCE, None)):
        file.path.write_text(text)
        verdict = verdicts.of(file, State(toys))
        assert verdict
        assert verdict.result
        assert (verdict.result.done, verdict.result.mistake) == (True, mistake)
        assert ("now pass" in verdict.since) == (mistake is None)
    assert seen == [(True, None, True)]


def test_a_newer_file_ends_the_verdict_under_way_and_an_idle_judge_is_left_alone(toys: Path, judge: WarmJudge) -> None:
    file = AnswerFile(katas.find_one("scale", toys), "web")
    verdicts = Verdicts(judge, ending="g")
    for wish, interrupted in (("h", False), (file, True), ("g", True)):
        verdicts.tell(wish)
        assert not judge.interrupted  # nothing is judged
        assert verdicts.outdated == interrupted
        verdicts.wishes.get()
    file.path.write_text(SLEEPS)
    newer = threading.Timer(1, verdicts.tell, [file])
    newer.start()
    assert verdicts.of(file, State(toys)) is None
    newer.join()
    assert judge.interrupted
    assert verdicts.of(file, State(toys)) is None  # it still waits
    verdicts.wishes.get()
    file.path.write_text(REFERENCE)
    verdict = verdicts.of(file, State(toys))
    assert verdict
    assert verdict.result
    assert verdict.result.state == "solved"
