"""Honest mistakes that show only in some way of making a call, and honest answers that look like them."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.toys import failures, grade, make_repository

GRADER = """
import torch
from graders.kata import Answer, Case, Grader

GRADER = Grader(
    answers=(
        Answer(
            "mix(a, b, c)",
            oracle=lambda a, b, c: a * b - c,
            differentiable=("a", "b", "c"),
            cases=(
                Case("three_by_five", lambda draw: {name: draw.normal(3, 5) for name in "abc"}),
                Case("equal_rows", lambda draw: {"a": draw.normal(5).expand(4, 5).clone(), "b": draw.normal(4, 5),
                                                 "c": torch.zeros(4, 5)}),
                Case("infinite", lambda draw: {"a": draw.normal(6), "b": draw.normal(6),
                                               "c": draw.normal(6).fill_(-torch.inf)}, gradients="none"),
                Case("negative_zeros", lambda draw: {"a": draw.normal(6), "b": draw.normal(6),
                                                     "c": -torch.zeros(6, dtype=torch.float64)}),
                Case("three_axes", lambda draw: {name: draw.normal(2, 3, 4) for name in "abc"}, raises=ValueError),
            ),
        ),
    ),
)
"""
REFUSAL = "    if a.dim() > 2:\n        raise ValueError('no')\n"
RIGHT = f"import torch\n\n\ndef mix(a, b, c):\n{REFUSAL}    return a * b - c\n"

OWN = (
    """import torch


class Mix(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, c):
        ctx.save_for_backward(a, b)
        ctx.mine = a.clone(), b.clone()
        return a * b - c

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return b * g, a * g, -g


def mix(a, b, c):
"""
    + f"{REFUSAL}    return Mix.apply(a, b, c)\n"
)
SAVED = "        a, b = ctx.saved_tensors\n        return b * g, a * g, -g\n"


def first(line: str) -> str:
    """The right answer with a line before its last."""
    return RIGHT.replace("    return", f"    {line}\n    return")


def result(expression: str) -> str:
    return RIGHT.replace("a * b - c", expression)


LEFT_ALONE, TWICE, STRIDED = (
    f"robustness/{name}" for name in ("inputs_left_alone", "same_answer_twice", "non_contiguous")
)
# name: (source, the check that should fire, what stands in its message)
WRONG = {
    "two_of_three": (
        first("a = a.detach() if (a.requires_grad, b.requires_grad, c.requires_grad) == (True, True, False) else a"),
        TWICE,
        "gradient of a (float64, a and b requiring grad): should flow, got none",
    ),
    "half_under_no_grad": (
        result("a * b - c if torch.is_grad_enabled() or a.dtype != torch.float16 else a * b"),
        TWICE,
        "values (float16, under no_grad): ",
    ),
    "strided_half": (
        result("a * b - c if a.is_contiguous() or a.dtype != torch.bfloat16 else a * b"),
        STRIDED,
        "values (bfloat16, strided): ",
    ),
    "reads_from_where_memory_begins": (
        result("torch.as_strided(a.contiguous(), a.shape, torch.empty(a.shape).stride(), 0) * b - c"),
        TWICE,
        "values (float64, parts of larger tensors): ",
    ),
    "writes_in_the_strides_of_an_input": (
        first("a = torch.empty_strided(a.shape, a.stride(), dtype=a.dtype).copy_(a.detach()) + a - a.detach()"),
        STRIDED,
        "the call (float64, strided and expanded): should return, got RuntimeError: unsupported operation",
    ),
    "reads_what_is_expanded_from_memory": (
        first("b = torch.as_strided(b, b.shape, torch.empty(b.shape).stride()) if 0 in b.stride() else b"),
        STRIDED,
        "b the same along its last axis, strided and expanded",
    ),
    "multiplies_what_it_saved_in_place": (
        OWN.replace(SAVED, "        a, b = ctx.mine\n        return b.mul_(g), a.mul_(g), -g\n"),
        TWICE,
        "requiring grad, backward a second time): 15 of 15 differ",
    ),
    "lets_go_of_what_it_saved": (
        OWN.replace(SAVED, "        a, b = ctx.mine\n        del ctx.mine\n        return b * g, a * g, -g\n"),
        TWICE,
        "requiring grad, backward a second time): should return, got AttributeError",
    ),
    "no_parameters": (
        first("assert type(a) is torch.Tensor"),
        TWICE,
        "the call (float64, inputs as nn.Parameter): should return, got AssertionError",
    ),
    "keyed_by_version": (
        first("kept[id(a), a._version] = 1") + "\n\nkept = {}\n",
        TWICE,
        "the call (float64, under inference_mode): should return, got RuntimeError: Inference tensors do not track",
    ),
    "keyed_by_tensor": (
        first("a, b, c = dict.fromkeys((a, b, c))"),
        TWICE,
        "the call (float64, a and b and c requiring grad, one tensor for a and b): should return, got ValueError",
    ),
    "clamps_infinities": (
        first("c.data.clamp_(min=torch.finfo(c.dtype).min)"),
        LEFT_ALONE,
        "c: should be left as it was, but is modified in place",
    ),
    "loses_the_sign_of_zero": (
        first("c.data.add_(0.0)"),
        LEFT_ALONE,
        "c: should be left as it was, but is modified in place",
    ),
    "writes_the_same_values": (
        first("a.detach().mul_(1)"),
        LEFT_ALONE,
        "a: should be left as it was, but is written to in place, even if with the same values",
    ),
    "leaves_a_hook": (
        first("a.requires_grad and a.register_hook(lambda g: None)"),
        LEFT_ALONE,
        "a: should be left as it was, but a hook is left on it",
    ),
    "leaves_a_hook_after_accumulation": (
        first("a.requires_grad and a.is_leaf and a.register_post_accumulate_grad_hook(lambda g: None)"),
        LEFT_ALONE,
        "a: should be left as it was, but a hook is left on it",
    ),
    "another_default_dtype": (
        first("torch.set_default_dtype(torch.float64)"),
        LEFT_ALONE,
        "torch's default dtype: should be the same after the call as before it, but is changed",
    ),
    "another_default_dtype_before_it_refuses": (
        RIGHT.replace(REFUSAL, f"    torch.set_default_dtype(torch.float64)\n{REFUSAL}"),
        LEFT_ALONE,
        "torch's default dtype: should be the same after the call as before it, but is changed",
    ),
    "another_default_dtype_where_it_refuses": (
        RIGHT.replace("        raise", "        torch.set_default_dtype(torch.float64)\n        raise"),
        LEFT_ALONE,
        "torch's default dtype: should be the same after the call as before it, but is changed",
    ),
    "gradients_on_for_good": (
        first("torch.set_grad_enabled(True)"),
        LEFT_ALONE,
        "torch's grad mode (float64, under no_grad): should be the same after the call as before it, but is changed",
    ),
    "gradients_on_where_it_refuses": (
        RIGHT.replace("        raise", "        torch.set_grad_enabled(True)\n        raise"),
        LEFT_ALONE,
        "torch's grad mode (float64, under no_grad): should be the same after the call as before it, but is changed",
    ),
    "deterministic_for_good": (
        first("torch.use_deterministic_algorithms(True)"),
        LEFT_ALONE,
        "torch's use of deterministic algorithms: should be the same after the call as before it, but is changed",
    ),
    "more_threads_for_good": (
        first("torch.set_num_threads(2)"),
        LEFT_ALONE,
        "torch's number of threads: should be the same after the call as before it, but is changed",
    ),
}
HONEST = {
    "plain": RIGHT,
    "own_backward": OWN,
    "compared_with_is": first("assert a is not None and (a is b or a is not b)"),
    "state_on_import": "import torch\n\ntorch.set_default_dtype(torch.float64)\ntorch.set_num_threads(2)\n" + RIGHT,
    "state_put_back": RIGHT.replace(
        "    return a * b - c",
        "    was = torch.get_default_dtype()\n    torch.set_default_dtype(torch.float64)\n"
        "    with torch.enable_grad():\n        made = a * b - c\n"
        "    torch.set_default_dtype(was)\n    return made if torch.is_grad_enabled() else made.detach()",
    ),
    "seeds": first("torch.manual_seed(0)"),
    "removes_its_hook": first("a.requires_grad and a.register_hook(lambda g: None).remove()"),
    "checkpoint": "import torch\nfrom torch.utils.checkpoint import checkpoint\n\n\ndef mix(a, b, c):\n"
    f"{REFUSAL}    return checkpoint(lambda a, b, c: a * b - c, a, b, c, use_reentrant=False)\n",
    "keeps_a_constant": first("one = kept.setdefault(a.dtype, torch.ones(1, dtype=a.dtype).clone())")
    + "\n\nkept = {}\n",
    "in_place_on_a_copy": result("a.clone().mul_(b).sub_(c)"),
    "copies_into_a_like_one": first("a = torch.empty_like(a).copy_(a.detach()) + a - a.detach()"),
}

MODULE = """
import torch
from torch import nn


class Affine(nn.Module):
    def __init__(self, width):
        super().__init__()
        assert width > 0
        self.linear = nn.Linear(width, width)
        self.calls, self.fused = 0, None

    def forward(self, x):
        return self.linear(x), x.sum(-1)
"""


def before(lines: str) -> str:
    return MODULE.replace("        return self", f"{lines}        return self")


KEEPS = """        if self.training and self.fused is not None:
            return nn.functional.linear(x, self.fused, self.linear.bias), x.sum(-1)
        self.fused = None if self.training else self.linear.weight.detach()
"""
COUNTS = "        self.calls += 1\n        x = x * 2 if self.calls > {} else x\n"
WRONG_MODULES = {
    "from_the_fifth_call_on": (before(COUNTS.format(4)), "values of output 1 (float64, in an eighth call): "),
    "from_the_eighth_call_on": (before(COUNTS.format(7)), "values of output 1 (float64, in an eighth call): "),
    "keeps_for_eval": (
        before(KEEPS),
        "linear.weight (float64, after a call in eval mode, no input requiring grad): should flow, got none",
    ),
    "other_after_training": (
        before("        self.calls += self.training\n        x = x * 2 if self.calls and not self.training else x\n"),
        "values of output 1 (float64, in eval mode, after a call in train mode): ",
    ),
    "half_in_eval": (
        before("        x = x * 2 if x.dtype == torch.float16 and not self.training else x\n"),
        "values of output 1 (float16, in eval mode): ",
    ),
}


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = make_repository(tmp_path_factory.mktemp("ways"))
    kata = root / "katas/toys/scale"
    (kata / "grader.py").write_text(GRADER)
    shutil.rmtree(root / "solutions/toys/scale")  # of another answer
    return grade(root, "scale", {name: source for name, (source, _, _) in WRONG.items()} | HONEST)


@pytest.fixture(scope="module", params=(1, 2, 11))
def modules(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> dict[str, Any]:
    root = make_repository(tmp_path_factory.mktemp("ways_of_modules"))
    sources = {name: source for name, (source, _) in WRONG_MODULES.items()}
    return grade(root, "affine", sources | {"plain": MODULE}, "--seed", str(request.param))


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_shows_in_its_way(name: str, functions: dict[str, Any]) -> None:
    _, check, message = WRONG[name]
    found = failures(functions[name])
    assert check in found, found
    assert message in found[check]


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_answer_passes(name: str, functions: dict[str, Any]) -> None:
    assert failures(functions[name]) == {}
    assert functions[name]["state"] == "solved"


@pytest.mark.parametrize("name", WRONG_MODULES)
def test_a_modules_mistake_shows_in_its_way(name: str, modules: dict[str, Any]) -> None:
    found = failures(modules[name])
    assert found.keys() == {TWICE}
    assert WRONG_MODULES[name][1] in found[TWICE]


def test_an_honest_module_passes(modules: dict[str, Any]) -> None:
    assert failures(modules["plain"]) == {}
