"""What people do beside the mathematics is refused in no kata: prints, asserts, copies, modes, TorchScript, vmap."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict

import pytest

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.faults import ROOT
from graders.sandbox.launcher import Launcher, new_launcher
from graders.sandbox.messages import Measured, Request
from graders.sandbox.submission import Submission

SOURCE = (ROOT / "tests/honest/acts.py").read_text(encoding="utf-8")
ACTS = re.findall(r"^@act\ndef (\w+)", SOURCE, re.MULTILINE)
MEASURED = ("prints", "shows", "asserts", "decorates")  # where the cost is counted: these leave most to torch's Python
# What the statement forbids.
FORBIDDEN = {
    "numerical_gradient": ["differentiates", "maps"],
    "activations": ["differentiates"],
    "linear_scan": ["computes", "has_tensors_of_rows_of_any_length"],
    "matmul_backward": ["differentiates"],
    "mlp_backprop": ["differentiates"],
    "attention_backward": ["differentiates"],
    "rms_norm": ["differentiates"],
    "info_nce_gradient": ["differentiates"],
    "weight_init": ["holds_layers"],
    "resumable_loader": ["iterates"],
    "flash_attention": ["uses_torch_beside_the_mathematics", "differentiates"],
    "gradient_checkpointing": ["uses_torch_beside_the_mathematics", "differentiates"],
}


def groups() -> dict[str, tuple[list[str], tuple[str, ...]]]:
    """By its first kata's name, what is honest in all katas that forbid the same, and all that these ban."""
    alike = defaultdict[tuple[str, ...], list[Kata]](list)
    for kata in katas.all_katas():
        alike[tuple(FORBIDDEN.get(kata.id, ()))].append(kata)
    return {
        some[0].id: (
            [act for act in ACTS if act not in forbidden],
            tuple(sorted({ban for kata in some for ban in kata.grader.banned})),
        )
        for forbidden, some in alike.items()
    }


GROUPS = groups()


@pytest.fixture(scope="module")
def refused() -> dict[str, list[str]]:
    """What each group refused: in a process of its own, since workers are forked before torch has run anything."""
    command = (sys.executable, "-c", f"from {__name__} import main; main()")
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, list[str]] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("group", GROUPS)
def test_nothing_honest_is_refused(group: str, refused: dict[str, list[str]]) -> None:
    assert refused[group] == []


def main() -> None:
    launcher = new_launcher()
    print(json.dumps({name: refusals(*group, launcher) for name, group in GROUPS.items()}))
    launcher.close()


def refusals(honest: list[str], banned: tuple[str, ...], launcher: Launcher) -> list[str]:
    submission = Submission(Source(SOURCE, "acts.py"), ["failures"], launcher, banned)
    found = list[str]()
    calls: tuple[tuple[list[str], Measured], ...] = ((honest, ""), ([*MEASURED], "cost"))
    for names, measured in calls:
        reply = submission.ask(Request("failures", ("failures",), {"names": names}, 1, measured=measured))
        found += [reply.died] if reply.died else []
        found += [submission.explain(reply.raised)] if reply.raised else []
        found += [f"{name} is refused (line {line})" for name, line in reply.banned_calls]
        found += [str(one) for one in reply.result] if isinstance(reply.result, list) else []
    submission.close()
    return found
