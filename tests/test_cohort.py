"""A class: each answer is judged once, as `grade` judges it, and nothing of a learner's tree is trusted."""

from __future__ import annotations

import argparse
import contextlib
import csv
import gzip
import io
import json
import os
import re
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import tarfile
import threading
import time
import tracemalloc
import zipfile
from collections import deque
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from distributed import Client, Nanny, Worker

from graders import __main__ as cli
from graders.arguments import command_line
from graders.author.bench.cohort import kill_a_worker
from graders.author.bench.measuring import family
from graders.author.forked import Ran
from graders.catalogue import katas
from graders.catalogue.source import LONGEST_SOURCE, Source
from graders.cohort import cluster, trees
from graders.cohort import judge as judging
from graders.cohort import learners as reading
from graders.cohort import main as cohort_command
from graders.cohort.classes import all_learners
from graders.cohort.judge import Judge, JudgeEnded, Verdict
from graders.cohort.learners import Learner
from graders.cohort.ledger import Ledger, Terms
from graders.faults import ROOT, UsageError
from graders.judge.results import Result
from tests import clusters
from tests.clusters import Shared, free_port
from tests.toys import MODULE_REFERENCE, REFERENCE, run

WRONG = REFERENCE.replace("x / (1 / factor)", "x / factor")
RENAMED = REFERENCE.replace("(x, factor", "(y, factor").replace("x / (1", "y / (1").replace("x times", "scaled:")
ANSWER = Path("katas/toys/scale/scale.py")


def a_class(folder: Path, **answers: str) -> Path:
    """Each has a clone with an answer to `scale`."""
    for name, answer in answers.items():
        file = folder / name / ANSWER
        file.parent.mkdir(parents=True)
        file.write_text(answer)
    return folder


def cohort(toys: Path, learners: Path, *more: str) -> Ran:
    return run(toys, "cohort", str(learners), "--out", str(toys / "out"), "--workers", "2", *more)


def table(toys: Path) -> dict[str, dict[str, str]]:
    with (toys / "out" / "grades.csv").open(encoding="utf-8") as stream:
        return {row["learner"]: row for row in csv.DictReader(stream)}


def points(toys: Path) -> dict[str, dict[str, str]]:
    return {name: {kata: row[kata] for kata in ("scale", "affine", "total")} for name, row in table(toys).items()}


def read(folder: Path, root: Path) -> dict[str, Learner]:
    return {one.name: one for one in all_learners(folder, katas.all_katas(root), root / "clones")}


def test_verdicts_are_those_of_grade_and_are_found_once(toys: Path) -> None:
    given = {"Ann Lee": REFERENCE, "Zoë": WRONG, "bob": "import sys\nsys.exit(0)\n", "carl": WRONG, "dora": RENAMED}
    folder = a_class(toys / "class", **given)
    (folder / "bob" / "affine.py").write_text(MODULE_REFERENCE)
    (folder / "empty").mkdir()
    ran = cohort(toys, folder, "--seed", "7", "--export", "canvas", "--export", "nbgrader", "--export", "gradescope")
    assert ran.status == 0, ran.err
    assert "6 learners, 6 answers, 5 of them distinct; 5 to be judged; seed 7" in ran.out
    told = points(toys)
    assert (told["Ann Lee"]["scale"], told["bob"]["scale"], told["bob"]["affine"]) == ("100", "0", "100")
    assert (told["empty"]["scale"], told["empty"]["total"]) == ("", "0")
    assert told["Zoë"] == told["carl"]
    for name in ("Ann Lee", "Zoë", "bob"):
        slug = reading.slug(name)
        output = toys / "one.json"
        run(toys, "grade", "scale", "--seed", "7", "--submission", str(folder / name / ANSWER), "--json", str(output))
        (alone,) = json.loads(output.read_text())["results"]
        own = json.loads((toys / "out" / "learners" / f"{slug}.json").read_text())["results"][0]
        assert own["source"] == ANSWER.as_posix()
        alone = json.loads(json.dumps(alone, ensure_ascii=False).replace(alone["source"], ANSWER.name))
        for one in (alone, own):
            one.pop("source"), one.pop("seconds"), one.pop("costs")
            for test in one["tests"]:
                test.pop("seconds")
        assert own == alone
    page = (toys / "out" / "index.html").read_text(encoding="utf-8")
    assert "<li><code>scale</code>: Zoë, carl</li>" in page
    reference = "<code>solutions/toys/scale/scale.py</code>"
    assert f"<li><code>scale</code>: Ann Lee, dora; equal to {reference}</li>" in page
    assert "empty: there is no file that is named like a kata" in page
    assert 'inverse</td><td class="number">2' in page
    card = (toys / "out" / "feedback" / table(toys)["Zoë"]["file"]).read_text(encoding="utf-8")
    assert "looks like  the factor divides; multiply by it" in card
    again = cohort(toys, folder, "--seed", "7")
    assert "0 to be judged" in again.out
    assert points(toys) == told
    check_exports(toys / "out")


def check_exports(out: Path) -> None:
    head, possible, *rows = csv.reader(io.StringIO((out / "canvas.csv").read_text(encoding="utf-8")))
    assert head[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert (possible[0].strip(), possible[5:]) == ("Points Possible", ["100", "100"])
    assert all(len(row) == len(head) for row in rows)
    for row in csv.DictReader(io.StringIO((out / "nbgrader.csv").read_text(encoding="utf-8"))):
        assert float(row["score"]) <= float(row["max_score"])
    told = json.loads((out / "gradescope" / reading.slug("Ann Lee") / "results.json").read_text())
    assert {(one["name"], one["score"], one["max_score"]) for one in told["tests"]} == {
        ("scale", 100, 100),
        ("affine", 0, 100),
    }


def test_what_is_new_meets_a_seed_that_nobody_has_seen_and_what_was_judged_keeps_its_verdict(
    toys: Path, shared: Shared
) -> None:
    bobs = WRONG.replace("return x / factor", "scaled = x / factor\n    return scaled")
    folder = a_class(toys / "class", ann=REFERENCE, bob=bobs)

    def seeds() -> dict[str, str]:
        return {file.stem: file.read_text(encoding="utf-8") for file in (toys / "out" / "feedback").iterdir()}

    assert cohort(toys, folder, *shared).status == 0
    first = seeds()
    (folder / "bob" / ANSWER).write_text(f"{bobs.replace('scaled', 'product')}# resubmitted\n")
    assert "1 to be judged" in cohort(toys, folder, *shared).out
    assert seeds() == first  # it is the same program, which meets the same inputs
    (folder / "bob" / ANSWER).write_text(bobs.replace("x / factor", "x / factor + 0"))
    second = cohort(toys, folder, *shared)
    assert "1 to be judged" in second.out
    after = seeds()
    assert after["ann"] == first["ann"]
    told = [re.search(r"Seed (\d+)\.", each["bob"]) for each in (first, after)]
    assert told[0]
    assert told[1]
    assert told[0][1] != told[1][1]
    assert json.loads((toys / "out" / "learners" / "bob.json").read_text())["seed"] == int(told[1][1])
    assert "0 to be judged" in cohort(toys, folder, *shared).out


def test_killed_run_goes_on_where_it_was(toys: Path) -> None:
    answers = {f"learner {number}": f"# {number}\n{WRONG}" for number in range(20)}
    folder = a_class(toys / "class", **answers)
    command = [*command_line(toys), "cohort", str(folder), "--out", str(toys / "out"), "--workers", "2", "--seed", "1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True) as process:
        until = time.monotonic() + 90
        while judged(toys) < 5 and time.monotonic() < until:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    before = judged(toys)
    assert 5 <= before < 20
    ran = cohort(toys, folder, "--seed", "1")
    assert ran.status == 0, ran.err
    assert f"{20 - before} to be judged" in ran.out
    assert {row["scale"] for row in table(toys).values()} == {table(toys)["learner 0"]["scale"]}
    assert judged(toys) == 20


def test_run_whose_only_worker_is_killed_goes_on_with_another_and_ctrl_c_is_one_sentence(toys: Path) -> None:
    folder = a_class(toys / "class", **{f"learner {number}": f"# {number}\n{WRONG}" for number in range(200)})
    command = [*command_line(toys), "cohort", str(folder), "--out", str(toys / "out"), "--workers", "1", "--seed", "1"]

    def wait_for(count: int) -> None:
        until = time.monotonic() + 90
        while judged(toys) < count and time.monotonic() < until:
            time.sleep(0.05)

    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        wait_for(3)
        assert kill_a_worker(family(process.pid))
        before = judged(toys)
        wait_for(before + 6)  # more than waited with the scheduler
        os.killpg(process.pid, signal.SIGINT)
        told, _ = process.communicate(timeout=60)
    assert before + 6 <= judged(toys) < 200, told
    assert process.returncode == 130
    assert "Traceback" not in told
    assert told.splitlines()[-1].startswith("stopped; what was judged is kept")


def test_results_in_the_folder_of_learners_are_refused(toys: Path) -> None:
    folder = a_class(toys / "class", ann=REFERENCE)
    for out in (folder, folder / "results"):
        ran = run(toys, "cohort", str(folder), "--out", str(out))
        assert ran.status == 2
        assert ran.err == f"error: {out} lies in {folder}, as if it were a learner's: name or move it elsewhere\n"
    assert [one.name for one in folder.iterdir()] == ["ann"]


def test_ctrl_c_while_workers_begin_is_one_sentence(toys: Path) -> None:
    command = [*command_line(toys), "cohort", str(a_class(toys / "class", ann=WRONG)), "--out", str(toys / "out")]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        until, begun = time.monotonic() + 90, False
        while not begun and time.monotonic() < until:
            with contextlib.suppress(psutil.Error):
                begun = any("spawn_main" in " ".join(one.cmdline()) for one in family(process.pid))
            time.sleep(0.05)
        time.sleep(0.5)  # it imports by now, which takes two seconds
        os.killpg(process.pid, signal.SIGINT)
        told, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told.splitlines()[1:] == ["stopped; what was judged is kept: run the same again, and it goes on"]


def judged(toys: Path, out: str = "out") -> int:
    file = toys / out / "results.sqlite"
    try:
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT COUNT(*) FROM verdicts").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_judge_that_is_killed_is_replaced_and_one_that_always_dies_is_told(toys: Path) -> None:
    judge = Judge(toys)
    try:
        judge.process.kill()
        assert judge.grade("scale", Source(REFERENCE, "scale.py"), 1).result.state == "solved"
        greets = "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(('full', '')))"
        judge.command = [*judge.command[:2], greets]
        judge.process.kill()
        with pytest.raises(JudgeEnded, match="ended 3 times at this answer"):
            judge.grade("scale", Source("", "scale.py"), 1)
    finally:
        judge.close()


def test_grader_is_imported_once_for_all_answers(toys: Path) -> None:
    """What a judge keeps is kept for that grader's own cases."""
    grader = toys / "katas" / "toys" / "scale" / "grader.py"
    imported = toys / "imported"
    grader.write_text(f"{grader.read_text()}\nprint('again', file=open({str(imported)!r}, 'a'))\n")
    judge = Judge(toys)
    try:
        states = [judge.grade("scale", Source(text, "scale.py"), 1).result.state for text in (REFERENCE, WRONG)]
    finally:
        judge.close()
    assert states == ["solved", "failing"]
    assert imported.read_text() == "again\n"


def test_answers_are_found_where_they_belong_and_nowhere_else(toys: Path) -> None:
    folder = a_class(toys / "class", ann=REFERENCE)
    (folder / "ann" / "solutions").mkdir()
    (folder / "ann" / "solutions" / "affine.py").write_text("no answer")
    (folder / "ann" / "old").mkdir()
    (folder / "ann" / "old" / "scale.py").write_text("an older one")
    for name, files in {"two": ("a/scale.py", "b/scale.py"), "flat": ("scale.py", "a/b/scale.py")}.items():
        for file in files:
            (folder / name / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / file).write_text(file)
    found = read(folder, toys)
    assert found["ann"].answers["scale"].text == REFERENCE
    assert "affine" not in found["ann"].answers
    assert found["two"].answers == {}
    assert found["two"].notes == ["a/scale.py and b/scale.py may both be the answer to scale; neither was graded"]
    assert found["flat"].answers["scale"].text == "scale.py"


def test_links_are_not_followed_and_large_files_not_read(toys: Path) -> None:
    folder = toys / "class"
    (folder / "ann").mkdir(parents=True)
    (toys / "secret.py").write_text("secret")
    (folder / "ann" / "scale.py").symlink_to(toys / "secret.py")
    (folder / "ann" / "affine.py").write_text(MODULE_REFERENCE)
    (folder / "linked").symlink_to(toys)
    (folder / "bob").mkdir()
    with (folder / "bob" / "scale.py").open("wb") as stream:
        stream.truncate(100 << 20)
    found = read(folder, toys)
    assert [*found["ann"].answers] == ["affine"]
    assert found["ann"].notes == ["scale.py is a link, and links are not followed: scale was not graded"]
    assert found["ann"].unread
    assert found["linked"].notes == ["linked is a link, and links are not followed; put the folder itself here"]
    large = found["bob"].answers["scale"]
    judge = Judge(toys)
    message = judge.grade("scale", large, 1).result.message or ""
    judge.close()
    assert f"scale.py has {100 << 20:,} bytes; a submission should have at most {LONGEST_SOURCE:,}" in message


def test_archives_are_looked_through_and_never_unpacked(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = toys / "class"
    folder.mkdir()
    with zipfile.ZipFile(folder / "ann.zip", "w") as archive:
        archive.writestr("fork-main/katas/toys/scale/scale.py", REFERENCE)
        archive.writestr("../../affine.py", "outside")
        link = zipfile.ZipInfo("fork-main/katas/toys/affine/affine.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with tarfile.open(folder / "bob.tar.gz", "w:gz") as archive:
        for name, content in (("/scale.py", REFERENCE.encode()), ("big/affine.py", bytes(LONGEST_SOURCE + 1))):
            one = tarfile.TarInfo(name)
            one.size = len(content)
            archive.addfile(one, io.BytesIO(content))
        other = tarfile.TarInfo("affine.py")
        other.type, other.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(other)
    (folder / "carl.zip").write_bytes(b"no archive")
    (folder / "notes.txt").write_text("of the instructor")
    found = read(folder, toys)
    assert sorted(found) == ["ann", "bob", "carl"]
    assert found["ann"].answers["scale"].text == REFERENCE
    assert "affine" not in found["ann"].answers
    assert found["bob"].answers["scale"].text == REFERENCE
    assert found["bob"].answers["affine"].unreadable.startswith(f"has {LONGEST_SOURCE + 1:,} bytes")
    assert "no .zip that can be read" in found["carl"].notes[0]
    assert not (toys / "affine.py").exists()
    monkeypatch.setattr(trees, "MOST_UNPACKED", 1000)
    assert "unpacks to more than 1 GB" in read(folder, toys)["bob"].notes[0]


def test_roster_of_repositories(toys: Path) -> None:
    repository = toys / "her fork"
    a_class(toys, **{"her fork": REFERENCE})
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"], ["tag", "v1"]):
        subprocess.run([*git, *arguments], check=True)
    (repository / ANSWER).write_text(WRONG)
    os.symlink("/etc/passwd", repository / "affine.py")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "two"], check=True)
    roster = toys / "class.csv"
    roster.write_text(f"learner,repository,revision\nann,{repository},v1\nbob,{repository},\neve,/nowhere,\n")
    found = read(roster, toys)
    assert found["ann"].answers["scale"].text == REFERENCE
    assert found["bob"].answers["scale"].text == WRONG
    assert "affine" not in found["bob"].answers
    assert found["eve"].notes[0].startswith("/nowhere at HEAD cannot be had: ")
    for text, why in (("name,where\n", "should begin with the line"), ("learner,repository\n,x\n", "line 2 of")):
        roster.write_text(text)
        with pytest.raises(UsageError, match=why):
            read(roster, toys)


def test_second_run_reads_what_a_repository_has_now_or_says_that_it_cannot(toys: Path, shared: Shared) -> None:
    def git(*arguments: str) -> None:
        safe = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", "-C", str(repository), *safe, *arguments], check=True, capture_output=True)

    def commit(text: str) -> None:
        (repository / ANSWER).write_text(text)
        git("add", ".")
        git("commit", "-qm", "one more")

    def texts() -> dict[str, str]:
        return {name: one.answers["scale"].text for name, one in read(roster, toys).items()}

    repository, roster = toys / "fork", toys / "class.csv"
    a_class(toys, fork=REFERENCE)
    git("init", "-q", "-b", "main")
    commit("# one")
    git("tag", "v1")
    git("branch", "topic")
    roster.write_text(f"learner,repository,revision\nann,{repository},\nbob,{repository},v1\n")
    (toys / "clones").mkdir()
    assert texts() == {"ann": "# one", "bob": "# one"}
    git("branch", "-m", "main", "trunk")
    git("branch", "-m", "topic", "topic/x")
    commit("# two")
    git("tag", "--force", "v1")
    assert texts() == {"ann": "# two", "bob": "# two"}
    ann = read(roster, toys)["ann"]
    assert re.fullmatch(r"[0-9a-f]{10}", ann.commit)
    assert ann.committed
    assert (datetime.now(UTC) - ann.committed).days == 0
    repository.rename(toys / "away")
    assert texts() == {"ann": "# two", "bob": "# two"}
    ann = read(roster, toys)["ann"]
    assert ann.unread
    assert "cannot be reached now" in ann.notes[0]
    assert cohort(toys, roster, *shared).status == 1  # with clones of its own, in which nothing was fetched before
    repository_back = toys / "away"
    repository_back.rename(repository)
    assert cohort(toys, roster, *shared).status == 0
    before = points(toys)
    repository.rename(repository_back)
    ran = cohort(toys, roster, *shared)
    assert (ran.status, points(toys)) == (1, before)
    assert "2 learners not read, or not wholly, see their notes: ann, bob" in ran.out
    assert all("cannot be reached now" in row["notes"] for row in table(toys).values())


def test_lost_machines_leave_no_verdict_and_a_part_of_the_katas_changes_only_its_part(
    toys: Path, shared: Shared, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lost() -> None:
        raise JudgeEnded("the judge's process ended 3 times at this answer")

    with pytest.raises(cluster.NotGraded, match="not graded: the judge's process ended 3 times"):
        cluster.verdict(argparse.Namespace(result=lost), Terms(1, "full", ""))
    folder = a_class(toys / "class", ann=REFERENCE)
    (folder / "ann" / "affine.py").write_text(MODULE_REFERENCE)
    assert cohort(toys, folder, *shared, "--seed", "1", "--kata", "scale").status == 0
    asked = argparse.Namespace(learners=folder, out=toys / "out", kata=["affine"], seed=1, isolation="strict")
    asked.export, asked.json, asked.until, asked.late, asked.gradebook, asked.earlier = [], None, None, None, None, []
    asked.assignment = []
    told = cluster.ungraded(katas.find(["affine"], toys)[0], "not graded: gone")
    with monkeypatch.context() as patched:
        patched.setattr(cohort_command, "judge_all", lambda jobs, *_: {job.key: told for job in jobs})
        assert cohort_command.main(asked, toys) == 1
    assert "1 learner not wholly graded, since machines were lost" in (said := capsys.readouterr().out)
    assert said.strip().endswith(": ann")
    assert points(toys)["ann"] == {"scale": "100", "affine": "", "total": "100"}
    assert "not graded" in (toys / "out" / "index.html").read_text(encoding="utf-8")
    assert cohort(toys, folder, *shared, "--seed", "1", "--kata", "affine").status == 0
    assert points(toys)["ann"] == {"scale": "100", "affine": "100", "total": "200"}


def test_repositories_with_like_addresses_are_not_mistaken(toys: Path) -> None:
    rows = ["learner,repository"]
    for owner, text in (("ann-lee/forks", REFERENCE), ("ann/lee-forks", WRONG)):
        folder = toys / owner
        folder.mkdir(parents=True)
        (folder / "scale.py").write_text(text)
        git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c"]
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
            subprocess.run([*git, *arguments], check=True)
        rows.append(f"{owner},{folder}")
    roster = toys / "class.csv"
    roster.write_text("\n".join(rows))
    (toys / "clones").mkdir()
    for _ in range(2):
        found = read(roster, toys)
        assert found["ann-lee/forks"].answers["scale"].text == REFERENCE
        assert found["ann/lee-forks"].answers["scale"].text == WRONG
        for clone in (toys / "clones").iterdir():  # as a run leaves them that is killed meanwhile
            (clone / "HEAD").unlink()
            clone.rename(f"{clone}.part")


def test_what_cannot_be_read_costs_nothing_but_itself_and_is_told(toys: Path) -> None:
    folder = a_class(toys / "class", Ann=REFERENCE)
    with zipfile.ZipFile(folder / "Bob.ZIP", "w") as archive:
        archive.writestr("scale.py", REFERENCE)
        archive.writestr("affine.py", MODULE_REFERENCE)
    written = (folder / "Bob.ZIP").read_bytes()
    (folder / "Bob.ZIP").write_bytes(written.replace(b"def scale", b"def sc4le", 1))  # so its sum is wrong
    (folder / "Ann.zip").write_bytes(written)
    (folder / "Cid.rar").write_bytes(b"Rar!")
    found = all_learners(folder, katas.all_katas(toys), toys / "clones")
    one, other = (each for each in found if each.name == "Ann")
    assert one.slug != other.slug
    for ann in (one, other):
        assert ann.notes == [f"another learner has the same name; the files of this one are called {ann.slug}"]
    bob, cid = (next(each for each in found if each.name == name) for name in ("Bob", "Cid.rar"))
    assert len(bob.answers) == 1
    assert "cannot be read out of Bob.ZIP" in bob.notes[0]
    assert cid.notes == ["Cid.rar cannot be looked through; put a .zip or a .tar here"]


def test_archives_that_would_fill_the_memory_or_are_damaged_are_a_note(toys: Path) -> None:
    folder = a_class(toys / "class", ann=REFERENCE)
    header = tarfile.TarInfo("PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, 1 << 32
    with gzip.open(folder / "bob.tgz", "wb") as stream:
        stream.write(header.tobuf() + bytes(1 << 20))
    with zipfile.ZipFile(folder / "carl.zip", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("scale.py", REFERENCE)
    with zipfile.ZipFile(folder / "dora.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("scale.py", REFERENCE * 9)
    written = bytearray((folder / "dora.zip").read_bytes())
    written[60:90] = bytes(30)
    (folder / "dora.zip").write_bytes(written)
    with gzip.open(folder / "eve.tar.gz", "wb") as stream:
        stream.write(bytes(range(256)) * 100)
    (folder / "eve.tar.gz").write_bytes((folder / "eve.tar.gz").read_bytes()[:100])
    notes = {one.name: one.notes for one in read(folder, toys).values() if one.notes}
    assert notes["bob"] == ["the .tar has a header of more than 1 MB; pack it anew"]
    assert notes["carl"] == ["scale.py is compressed in a rare way in carl.zip; a usual .zip can be read"]
    assert notes["dora"][0].startswith("scale.py cannot be read out of dora.zip: ")
    assert notes["eve"][0].startswith("eve.tar.gz is no .tar that can be read: ")
    assert len(notes) == 4


def test_a_small_archive_of_many_large_files_is_a_note_and_costs_no_memory(toys: Path) -> None:
    folder = a_class(toys / "class", ann=REFERENCE)
    with tarfile.open(folder / "bob.tar.gz", "w:gz", compresslevel=1) as archive:
        for number in range(600):
            one = tarfile.TarInfo(f"katas/toys/x{number}/x{number}.py")
            one.size = 1 << 18
            archive.addfile(one, io.BytesIO(b"#" * one.size))
    tracemalloc.start()
    try:
        learners = read(folder, toys)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert learners["bob"].notes == ["bob.tar.gz holds more than 32 MB of Python files; leave out what is no answer"]
    assert learners["ann"].answers
    assert peak < 64 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
def test_names_that_are_no_text_do_not_stop_the_class(toys: Path, shared: Shared) -> None:
    folder = a_class(toys / "class", ann=REFERENCE)
    odd = folder / os.fsdecode(b"caf\xe9") / os.fsdecode(b"\xff") / "scale.py"
    odd.parent.mkdir(parents=True)
    odd.write_text(WRONG)
    with tarfile.open(folder / "bob.tar", "w", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        one = tarfile.TarInfo("é/scale.py")
        one.size = len(WRONG)
        archive.addfile(one, io.BytesIO(WRONG.encode()))
    ran = cohort(toys, folder, *shared, "--json", str(toys / "all.json"))
    assert ran.status == 0, ran.err
    assert (
        (toys / "out" / "feedback" / f"{reading.slug('caf?')}.md").read_text(encoding="utf-8").startswith("# caf\\?\n")
    )
    everyone = json.loads((toys / "all.json").read_text(encoding="utf-8"))["learners"]
    assert {one["name"]: one["results"][0]["source"] for one in everyone.values()} == {
        "ann": ANSWER.as_posix(),
        "bob": "?/scale.py",
        "caf?": "?/scale.py",
    }


def test_pages_count_no_stub_blame_no_check_for_what_is_no_program_and_promise_no_more_isolation(
    toys: Path, shared: Shared
) -> None:
    stub = (toys / ANSWER).read_text()
    folder = a_class(toys / "class", ann=REFERENCE, bob=stub, carl="import nowhere", dora="", eve="# nothing\n")
    ran = cohort(toys, folder, *shared, "--export", "gradescope", "--isolation", "limits")
    assert ran.status == 0, ran.err
    assert json.loads((toys / "out" / "learners" / "ann.json").read_text())["env"]["isolation"] == "limits"
    page = (toys / "out" / "index.html").read_text(encoding="utf-8")
    assert '<th scope="row">scale</th><td class="number">4</td><td class="number">1</td>' in page
    assert "/calls<" not in page
    assert page.count("<li><code>scale</code>") == 1  # ann's is the reference; stubs are no programs
    told = {
        name: json.loads((toys / "out" / "gradescope" / name / "results.json").read_text())["tests"]
        for name in ("bob", "carl")
    }
    assert [one["output"] for one in told["bob"] if one["name"] == "scale"] == ["to do"]
    assert "cannot be imported" in next(one["output"] for one in told["carl"] if one["name"] == "scale")


def test_thousand_learners(toys: Path, shared: Shared) -> None:
    folder = a_class(toys / "class", **{f"learner {n}": (REFERENCE, WRONG, "import")[n % 3] for n in range(1000)})
    ran = cohort(toys, folder, *shared, "--seed", "1")
    assert ran.status == 0, ran.err
    assert "1000 learners, 1000 answers, 3 of them distinct; 3 to be judged" in ran.out
    found = [row["scale"] for row in table(toys).values()]
    assert (found.count("100"), found.count("0")) == (334, 333)
    assert len(list((toys / "out" / "feedback").iterdir())) == 1000


def test_full_disk_loses_no_verdict(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "results.sqlite")
    document = {"kata": "scale", "seed": 1, "text": "x" * 10_000}
    ledger.add("one", "one", document, 1.0)
    pages_now = ledger.connection.execute("PRAGMA page_count").fetchone()[0]
    ledger.connection.execute(f"PRAGMA max_page_count = {pages_now}")
    with pytest.raises(
        UsageError, match=r"cannot be written \(database or disk is full\); what was judged so far is kept"
    ):
        ledger.add("two", "two", document, 1.0)
    ledger.close()
    again = Ledger(tmp_path / "results.sqlite")
    assert again.find("one") == document
    assert again.find("two") is None
    again.add("two", "two", document, 1.0)
    again.close()


def test_files_of_ones_own_in_the_results_folder_stay(toys: Path) -> None:
    folder = a_class(toys / "class", ann=REFERENCE)
    own = toys / "out" / "feedback" / "thesis.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    ran = cohort(toys, folder)
    assert ran.status == 2
    assert ran.err == f"error: {own.parent} is not from an earlier run: name a new folder with --out\n"
    assert own.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nowhere"], "should be a folder or a .zip of learners, or a roster that ends in .csv"),
        (["empty"], "has no learners"),
    ],
)
def test_bad_arguments_are_one_sentence(toys: Path, arguments: list[str], why: str) -> None:
    (toys / "empty").mkdir()
    a_class(toys / "full", ann=REFERENCE)
    ran = cohort(toys, toys / arguments[0], *arguments[1:])
    assert ran.status == 2
    assert ran.err.startswith("error: ")
    assert why in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("said", [None, b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["away", "silent", "a_page"])
@pytest.mark.parametrize("scheme", ["tcp", "tls"])
def test_scheduler_that_does_not_answer_is_one_sentence(
    said: bytes | None, scheme: str, toys: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster, "ANSWERING", 1)
    folder = a_class(toys / "class", ann=REFERENCE)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"{scheme}://127.0.0.1:{1 if said is None else server.getsockname()[1]}"
        threading.Thread(target=answer, args=(server, said), daemon=True).start()
        assert cli.main(["cohort", str(folder), "--out", str(toys / "out"), "--scheduler", address], toys) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: no Dask scheduler answers at {address} (")
    assert told.count("\n") == 1


def answer(server: socket.socket, said: bytes | None) -> None:
    """Takes what comes, until the server is closed, and says this."""
    with contextlib.suppress(OSError), contextlib.ExitStack() as taken:
        while True:
            connection = taken.enter_context(server.accept()[0])
            connection.sendall(said or b"")


@pytest.mark.parametrize(("memory", "count"), [(64 << 30, 3), (5 << 30, 2), (1 << 30, 1)])
def test_small_machine_gets_fewer_workers(memory: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(n_workers: int, **_: object) -> None:
        raise RuntimeError(f"{n_workers} are too many")

    monkeypatch.setattr(cluster, "CPU_COUNT", 3)
    monkeypatch.setattr(cluster, "MEMORY_LIMIT", memory)
    monkeypatch.setattr(cluster, "LocalCluster", full)
    asked = argparse.Namespace(scheduler=None, workers=None)
    with pytest.raises(UsageError, match=rf"no {count} workers can be started here \({count} are too many\)"):
        cluster.cluster(asked).__enter__()


def test_workers_that_cannot_begin_again_end_the_run_with_a_sentence(
    toys: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = a_class(toys / "class", ann=REFERENCE, bob=WRONG)
    by_kata = cluster.by_kata

    async def no_memory(nanny: Nanny) -> None:
        raise OSError(12, "Cannot allocate memory")

    def killed(jobs: list[cluster.Job]) -> dict[str, deque[cluster.Job]]:
        monkeypatch.setattr(Nanny, "instantiate", no_memory)
        for process in psutil.Process().children():
            if "spawn_main" in " ".join(process.cmdline()):
                process.kill()
        return by_kata(jobs)

    monkeypatch.setattr(cluster, "by_kata", killed)
    monkeypatch.setattr(cluster, "PATIENCE", 3)
    begun = time.monotonic()
    assert cli.main(["cohort", str(folder), "--out", str(toys / "out"), "--workers", "2"], toys) == 2
    assert time.monotonic() - begun < 60
    said = capsys.readouterr().err
    assert said.startswith("error: the workers of this machine ended, and none could be started again for 3 seconds")
    assert said.endswith("what was judged is kept: make room in its memory, then run the same again\n")


def test_machine_of_a_cluster_may_vanish_and_come_back(toys: Path) -> None:
    answers = {f"learner {number}": f"# {number}\n{(REFERENCE, WRONG)[number % 2]}" for number in range(40)}
    folder = a_class(toys / "class", **answers)
    with contextlib.ExitStack() as stack:
        address, _ = clusters.scheduler(stack)
        working = [clusters.worker(stack, address, "--host", f"127.0.0.{number}") for number in range(2, 6)]
        arguments = [str(folder), "--out", str(toys / "out"), "--scheduler", address, "--seed", "1"]
        command = [*command_line(toys), "cohort", *arguments]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            until = time.monotonic() + 120
            while judged(toys) < 4 and time.monotonic() < until:
                time.sleep(0.02)
            clusters.end(working[0])
            assert judged(toys) < 40
            clusters.worker(stack, address, "--host", "127.0.0.2")
            told, _ = process.communicate(timeout=180)
    assert process.returncode == 0, told
    assert [row["scale"] for row in table(toys).values()].count("100") == 20
    assert judged(toys) == 40


def test_two_classes_on_one_scheduler_keep_their_seeds_and_leave_nothing_there(toys: Path) -> None:
    with contextlib.ExitStack() as stack:
        address, _ = clusters.scheduler(stack)
        clusters.worker(stack, address)
        running: dict[int, subprocess.Popen[bytes]] = {}
        counts = {1: 60, 2: 6}
        for seed, count in counts.items():  # their answers are the same
            answers = {f"learner {number}": f"# {number}\n{(REFERENCE, WRONG)[number % 2]}" for number in range(count)}
            folder = a_class(toys / f"class{seed}", **answers)
            arguments = [str(folder), "--out", str(toys / f"out{seed}"), "--scheduler", address, "--seed", str(seed)]
            command = [*command_line(toys), "cohort", *arguments]
            running[seed] = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True)
            stack.callback(clusters.end, running[seed])
        until = time.monotonic() + 90
        while judged(toys, "out2") < 1 and time.monotonic() < until:
            time.sleep(0.02)
        assert judged(toys, "out1") < counts[1]
        for seed, process in running.items():
            told, _ = process.communicate(timeout=180)
            assert process.returncode == 0, told
            with contextlib.closing(sqlite3.connect(toys / f"out{seed}" / "results.sqlite")) as connection:
                documents = [json.loads(text) for (text,) in connection.execute("SELECT document FROM verdicts")]
            assert [one["seed"] for one in documents] == [seed] * counts[seed]
            assert [one["state"] for one in documents].count("solved") == counts[seed] // 2
        with Client(address, set_as_default=False) as client:
            until = time.monotonic() + 20
            while (left := client.run(plugins_left)) != {one: [] for one in left} and time.monotonic() < until:
                time.sleep(0.1)
            assert list(left.values()) == [[]]


def plugins_left(dask_worker: Worker) -> list[str]:
    return [name for name in dask_worker.plugins if name.startswith("judge")]


def test_verdict_whose_own_record_differs_from_its_key_is_refused() -> None:
    asked, result = Terms(seed=1, isolation="full", graders="a"), Result("scale", "toys", "scale.py")
    others = {"seed": 2, "isolation": "limits", "graders": "b"}
    for name, value in others.items():
        told = Verdict(result, 0.1, replace(asked, **{name: value}))  # type: ignore[arg-type]
        future = argparse.Namespace(result=lambda told=told: told)
        with pytest.raises(cluster.NotGraded, match="its judge had"):
            cluster.verdict(future, asked)
    for wanted in ("full", "limits"):
        assert not replace(asked, isolation=wanted).met_by(replace(asked, isolation="none"))
    better = Verdict(result, 0.1, asked)
    assert cluster.verdict(argparse.Namespace(result=lambda: better), replace(asked, isolation="limits"))


def slurm_of_toys(programs: Path) -> dict[str, str]:
    """Programs in the place of SLURM's, and the environment in which they are found."""
    programs.mkdir()
    for name, text in {
        "sbatch": 'if [ "$1" = --test-only ]; then ! grep "p none" >&2; exit; fi\n'
        'cp "$1" "$0.$$"; bash "$0.$$" >/dev/null 2>&1 & echo "Submitted batch job $!"; echo $! >> "${0%/*}/jobs"',
        "squeue": 'for job in $(cat "${0%/*}/jobs"); do kill -0 "$job" && echo "$job"; done; true',
        "scancel": 'kill "$@"',
    }.items():
        (programs / name).write_text(f"#!/bin/bash\n{text}\n")
        (programs / name).chmod(0o755)
    (programs / "jobs").touch()
    return os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}


def test_slurm_gets_jobs_that_are_workers_and_another_for_one_that_it_ended(toys: Path) -> None:
    folder = a_class(toys / "class", ann=REFERENCE, bob=WRONG)
    environment = slurm_of_toys(toys / "bin")
    options = [*["--jobs", "2", "--processors", "1", "--memory", "1GB", "--queue", "short", "--port"], str(free_port())]
    program = "from docs.cluster import slurm; slurm.ROUND = 1; slurm.main()"
    with subprocess.Popen(
        [sys.executable, "-c", program, *options],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True,
    ) as slurm:  # fmt: skip
        assert slurm.stdout
        address = slurm.stdout.readline().split()[-1]
        ran = run(toys, "cohort", str(folder), "--out", str(toys / "out"), "--scheduler", address, "--seed", "1")
        os.kill(int((toys / "bin" / "jobs").read_text().split()[0]), signal.SIGTERM)
        until = time.monotonic() + 60
        while len(list((toys / "bin").glob("sbatch.*"))) < 3 and time.monotonic() < until:
            time.sleep(0.1)
        os.killpg(slurm.pid, signal.SIGINT)
        assert slurm.wait(60) == 0
    assert ran.status == 0, ran.err
    assert table(toys)["ann"]["scale"] == "100"
    first, second, _again = (job.read_text() for job in (toys / "bin").glob("sbatch.*"))
    assert "#SBATCH -p short" in first
    assert "#SBATCH -t 02:00:00" in second


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--queue", "none"], "SLURM takes no such job: #SBATCH -p none"),
        (["--interface", "none"], "Dask's scheduler cannot start ("),
    ],
)
def test_what_slurm_refuses_is_one_sentence(toys: Path, options: list[str], why: str) -> None:
    command = [sys.executable, "-m", "docs.cluster.slurm", "--port", str(free_port()), *options]
    environment = slurm_of_toys(toys / "bin")
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {why}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_scheduler_that_is_killed_is_one_sentence(toys: Path) -> None:
    folder = a_class(toys / "class", **{f"learner {number}": f"# {number}\n{WRONG}" for number in range(300)})
    with contextlib.ExitStack() as stack:
        address, scheduler = clusters.scheduler(stack)
        clusters.worker(stack, address)
        arguments = [str(folder), "--out", str(toys / "out"), "--scheduler", address, "--seed", "1"]
        command = [*command_line(toys), "cohort", *arguments]
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            until = time.monotonic() + 90
            while judged(toys) < 3 and time.monotonic() < until:
                time.sleep(0.02)
            busy = cohort(toys, folder)
            clusters.end(scheduler)
            told, _ = process.communicate(timeout=120)
    assert process.returncode == 2, told
    assert told.splitlines()[-1].startswith(f"error: the scheduler of {address} is gone")
    assert "Traceback" not in told
    assert 3 <= judged(toys) < 300
    assert (busy.status, busy.err.count("\n")) == (2, 1)
    assert "another run writes into" in busy.err


def test_damaged_ledger_says_what_to_do(toys: Path) -> None:
    folder = a_class(toys / "class", ann=REFERENCE)
    (toys / "out").mkdir()
    file = toys / "out" / "results.sqlite"
    ledger = Ledger(file)
    for number in range(200):
        ledger.add(str(number), str(number), {"kata": "scale", "seed": 1, "text": "x" * 2000}, 1.0)
    ledger.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ledger.close()
    content = bytearray(file.read_bytes())
    content[4096 : len(content) // 2] = bytes(len(content) // 2 - 4096)
    for damaged in (bytes(content), b"no database at all" * 100):
        file.write_bytes(damaged)
        ran = cohort(toys, folder)
        assert ran.status == 2
        assert "is damaged" in ran.err
        assert "delete results.sqlite, then run the same again; what it held is graded anew" in ran.err
        assert ran.err.count("\n") == 1
        for beside in (toys / "out").glob("results.sqlite-*"):
            beside.unlink()


def test_worker_whose_judge_ends_at_once_is_one_sentence(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "CHILD", "import sys; sys.exit(1)")
    plugin = judging.Judging(toys, "full")
    worker = argparse.Namespace(name="one", address="tcp://x", plugins={plugin.name: plugin})
    with pytest.raises(RuntimeError, match="a judge cannot work on tcp://x: its process ended as it began"):
        plugin.setup(worker)  # type: ignore[arg-type]
    # Dask only logs that, where the worker came after the run began, and gives it tasks.
    monkeypatch.setattr(judging, "get_worker", lambda: worker)
    with pytest.raises(JudgeEnded, match="the worker has no judge of this run"):
        judging.grade(plugin.name, "scale", Source(REFERENCE, "scale.py"), 1)
