"""Every check has a wrong submission on which it fires, and says so in these words."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from graders.catalogue.katas import Kata
from graders.judge.given import given_in_words, numbers
from graders.sandbox.messages import Reply, Request
from tests.toys import GRADER, REFERENCE, failures, grade, make_repository

HEAD = "import torch\n\n\ndef scale(x, factor=2.0):\n"
REFUSE = "    if factor == 0:\n        raise ValueError\n"
RIGHT = HEAD + REFUSE + "    return x / (1 / factor)\n"
IN_PLACE = "    made = x / (1 / factor)\n    if {}:\n        x.data.zero_()\n    return made"
LYING = RIGHT.replace("x, factor=2.0", "SIGNATURE") + (
    "\n\nimport inspect\n\nscale.__signature__ = inspect.signature(lambda x, factor=2.0: x)\n"
)

THIRD = RIGHT.replace("x /", "x / KEPT.setdefault({key}, x.detach().new_tensor(1 / 3)).to(x.dtype) / 3 /")
THIRD += "\n\nKEPT = {{}}\n"
OWN_BACKWARD = HEAD.replace(
    "def scale",
    """class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x / (1 / factor)

    @staticmethod
    def backward(ctx, g):
        return g / (1 / ctx.factor), None


def scale""",
) + (REFUSE + "    return Scale.apply(x, factor)\n")

# name: (source, the check that should fire, its message)
WRONG = {
    "undefined": (
        "def scales(x, factor=2.0): ...",
        "contract/signature",
        "scale: should be defined in {path}, got no such name; rename scales?",
    ),
    "a_class": ("class scale: ...", "contract/signature", "scale: should be a function, got something else"),
    "other_parameters": (
        RIGHT.replace("factor=2.0", "by=2.0").replace("factor", "by"),
        "contract/signature",
        "parameters of scale: should be (x, factor), got (x, by)",
    ),
    "one_more_required": (
        RIGHT.replace("x, factor=2.0", "x, factor=2.0, *, more"),
        "contract/signature",
        "parameters of scale: should be (x, factor), got (x, factor, more by name alone)",
    ),
    "other_default": (
        RIGHT.replace("factor=2.0", "factor=3.0"),
        "contract/signature",
        "default of factor in scale: should be 2.0, got 3.0",
    ),
    "no_error": (
        RIGHT.replace(REFUSE, "    if factor == 0:\n        return x\n"),
        "contract/no_factor",
        "the call: should raise ValueError, got a result",
    ),
    "error_until_a_call_returns": (
        RIGHT.replace("factor == 0:", "factor == 0 and not SEEN:").replace(
            "    return", "    SEEN.append(1)\n    return"
        )
        + "\n\nSEEN = []\n",
        "contract/no_factor",
        None,
    ),
    "other_error": (
        RIGHT.replace("raise ValueError", 'raise KeyError("factor")'),
        "contract/no_factor",
        "the call: should raise ValueError, got KeyError: 'factor' (line 6: `raise KeyError(\"factor\")`)",
    ),
    "other_shape": (
        RIGHT + "\n\nright = scale\n\n\ndef scale(x, factor=2.0):\n    return right(x, factor)[None]\n",
        "shapes/three_by_five",
        "shape of the output: should be (3, 5), got (1, 3, 5)",
    ),
    "other_shape_without_a_gradient": (
        RIGHT + "\n\nright = scale\n\n\ndef scale(x, factor=2.0):\n    return right(x, factor)[None]\n",
        "gradients/three_by_five/float64",
        "shape of the output: should be (3, 5), got (1, 3, 5)",
    ),
    "other_dtype": (
        RIGHT.replace("(1 / factor)", "(1 / factor) + torch.zeros(1, dtype=torch.float64)"),
        "shapes/three_by_five",
        "dtype of the output: should be float32, got float64",
    ),
    "returns_none": (
        RIGHT.replace("return x / (1 / factor)", "x / (1 / factor)"),
        "numerics/three_by_five/float64",
        "the result: should be a tensor, got None",
    ),
    "returns_numpy": (
        RIGHT.replace("x / (1 / factor)", "(x / (1 / factor)).detach().numpy()"),
        "numerics/three_by_five/float64",
        "the rules: Tensor.numpy is not allowed in this kata, but is called "
        "(line 7: `return (x / (1 / factor)).detach().numpy()`)",
    ),
    "returns_list": (
        RIGHT.replace("x / (1 / factor)", "[x / (1 / factor)]"),
        "numerics/three_by_five/float64",
        "the result: should be a tensor, got a list of 1 tensor",
    ),
    "returns_tuple": (
        RIGHT.replace("x / (1 / factor)", "(x / (1 / factor),)"),
        "numerics/three_by_five/float64",
        "the result: should be a tensor, got a tuple of 1 tensor",
    ),
    "returns_nan": (
        RIGHT.replace("x / (1 / factor)", "x / (1 / factor) + torch.tensor(float('nan'), dtype=x.dtype)"),
        "numerics/three_by_five/float32",
        None,
    ),
    "third_of_the_first_dtype": (THIRD.format(key="0"), "numerics/three_by_five/float64", None),
    "third_by_factor": (THIRD.format(key="factor"), "numerics/factors/float64", None),
    "constant": (
        RIGHT.replace("x / (1 / factor)", "torch.ones_like(x) / (1 / factor)"),
        "numerics/three_by_five/float64",
        None,
    ),
    "detached": (
        RIGHT.replace("x / (1 / factor)", "x.detach() / (1 / factor)"),
        "gradients/three_by_five/float64",
        "gradient of x: should flow, got none",
    ),
    "half_the_gradient": (
        RIGHT.replace("x / (1 / factor)", "x / (2 / factor) + x.detach() / (2 / factor)"),
        "gradients/three_by_five/float32",
        None,
    ),
    "nan_gradient": (
        RIGHT.replace(
            "x / (1 / factor)", "(x.requires_grad and x.register_hook(lambda g: g / 0 - g / 0), x / (1 / factor))[1]"
        ),
        "gradients/three_by_five/float64",
        None,
    ),
    "float32_inside": (
        RIGHT.replace("x / (1 / factor)", "(x.float() / (1 / factor)).to(x.dtype)"),
        "numerics/three_by_five/float64",
        None,
    ),
    "float16_refused": (
        RIGHT.replace(REFUSE, REFUSE + "    assert x.dtype != torch.float16\n"),
        "robustness/half_precision/float16",
        "the call (float16): should return, got AssertionError (line 7: `assert x.dtype != torch.float16`)",
    ),
    "views": (
        RIGHT.replace("x / (1 / factor)", "x.view(-1).view(x.shape) / (1 / factor)"),
        "robustness/non_contiguous",
        None,
    ),
    "in_place": (
        RIGHT.replace("    return", "    x.data[0] = 1\n    return"),
        "robustness/inputs_left_alone",
        "x: should be left as it was, but is modified in place",
    ),
    "asks_for_gradients": (
        RIGHT.replace("    return", "    x.requires_grad_()\n    return"),
        "robustness/inputs_left_alone",
        "x: should be left as it was, but its requires_grad or .grad is changed",
    ),
    "goes_backward_itself": (
        RIGHT.replace("    return", "    if x.requires_grad:\n        x.sum().backward()\n    return"),
        "robustness/inputs_left_alone",
        "x: should be left as it was, but its requires_grad or .grad is changed",
    ),
    "counts": (
        RIGHT.replace("def scale", "calls = []\n\n\ndef scale").replace(
            "    return x / (1 / factor)", "    calls.append(0)\n    return x / (1 / factor) + (len(calls) > 25)"
        ),
        "robustness/same_answer_twice",
        None,
    ),
    "in_place_in_float32": (
        RIGHT.replace("    return x / (1 / factor)", IN_PLACE.format("x.dtype == torch.float32")),
        "robustness/inputs_left_alone",
        "x (float32): should be left as it was, but is modified in place",
    ),
    "in_place_where_gradients_flow": (
        RIGHT.replace("    return x / (1 / factor)", IN_PLACE.format("x.requires_grad")),
        "robustness/inputs_left_alone",
        "x: should be left as it was, but is modified in place",
    ),
    "float64_where_gradients_flow": (
        RIGHT.replace("return x", "return (x.double() if x.requires_grad else x)"),
        "shapes/three_by_five",
        "dtype of the output: should be float32, got float64",
    ),
    "float64_where_none_flow": (
        RIGHT.replace("return x", "return (x if x.requires_grad else x.double())"),
        "robustness/same_answer_twice",
        "dtype of the output (float32): should be float32, got float64",
    ),
    "garbage_in_float32_without_gradients": (
        RIGHT.replace("return x", "return x + x if x.dtype == torch.float32 and not torch.is_grad_enabled() else x"),
        "robustness/same_answer_twice",
        "values (float32, under no_grad): 4 of 4 differ; worst at [2]: should be -3.07509, got 2.05006",
    ),
    "garbage_in_strided_float32": (
        RIGHT.replace("return x", "return x + x if x.dtype == torch.float32 and not x.is_contiguous() else x"),
        "robustness/non_contiguous",
        "values (float32, strided): 4 of 4 differ; worst at [2]: should be -3.0751, got 2.05006",
    ),
    "cached_in_float32": (
        RIGHT.replace(
            "return x / (1 / factor)",
            "made = x / (1 / factor)\n"
            "    key = x.shape, factor, x.requires_grad\n"
            "    return kept.setdefault(key, made) if x.dtype == torch.float32 else made\n\n\nkept = {}",
        ),
        "robustness/same_answer_twice",
        None,
    ),
    "kept_by_object": (
        RIGHT.replace(
            "return x / (1 / factor)",
            "return kept.setdefault(x, {}).setdefault(factor, x / (1 / factor)) if not x.requires_grad "
            "else x / (1 / factor)\n\n\nfrom torch.utils.weak import WeakTensorKeyDictionary\n\n"
            "kept = WeakTensorKeyDictionary()",
        ),
        "robustness/same_answer_twice",
        None,
    ),
    "not_by_position": (
        LYING.replace("SIGNATURE", "x, *, factor=2.0"),
        "robustness/same_answer_twice",
        "the call (float64, arguments by position): should return, got TypeError: "
        "scale() takes 1 positional argument but 2 were given",
    ),
    "not_by_name": (
        LYING.replace("SIGNATURE", "x, /, factor=2.0"),
        "robustness/same_answer_twice",
        "the call (float64, arguments by name): should return, got TypeError: "
        "scale() got some positional-only arguments passed as keyword arguments: 'x'",
    ),
    "by_name_alone": (
        RIGHT.replace("x, factor=2.0", "x, *, factor=2.0"),
        "contract/signature",
        "parameters of scale: should be (x, factor), got (x, factor by name alone)",
    ),
    "keeps_for_backward_on_the_class": (
        OWN_BACKWARD.replace("ctx.factor =", "ctx.x = Scale.x = x\n        ctx.factor =").replace(
            "ctx.factor),", "ctx.factor) + (Scale.x - ctx.x),"
        ),
        "robustness/same_answer_twice",
        None,
    ),
    "writes_into_its_gradient": (
        OWN_BACKWARD.replace("g / (1 / ctx.factor)", "g.div_(1 / ctx.factor)"),
        "gradients/three_by_five/float64",
        "the call: should return, got a backward that writes into the gradient that it is given; write into a copy",
    ),
    "views_its_gradient": (
        OWN_BACKWARD.replace("g / (1", "g.view(-1).view(g.shape) / (1"),
        "robustness/non_contiguous",
        None,
    ),
    "takes_leaves_alone": (
        RIGHT.replace(
            "    return", "    if x.requires_grad:\n        x.requires_grad_(False).requires_grad_()\n    return"
        ),
        "robustness/same_answer_twice",
        None,
    ),
    "clears_what_grad_held": (
        RIGHT.replace("    return", "    x.grad = None\n    return"),
        "robustness/inputs_left_alone",
        None,
    ),
    "overwrites_what_it_refuses": (
        RIGHT.replace("        raise", "        x.data.zero_()\n        raise"),
        "robustness/inputs_left_alone",
        "x: should be left as it was, but is modified in place",
    ),
    "takes_rows_for_neighbours": (
        RIGHT.replace(
            "return x /",
            "rows = x if x.stride(-1) == 1 else x.contiguous()\n"
            "    return rows.as_strided(x.shape, torch.empty(x.shape).stride()) /",
        ),
        "robustness/non_contiguous",
        None,
    ),
    "an_error_of_that_name": (
        "class ValueError(Exception): ...\n\n\n" + RIGHT,
        "contract/no_factor",
        "the call: should raise ValueError, got another class named ValueError (line 9: `raise ValueError`)",
    ),
    "an_error_that_claims_its_class": (
        "class Wrong(Exception):\n    __class__ = ValueError\n\n\n" + RIGHT.replace("raise ValueError", "raise Wrong"),
        "contract/no_factor",
        "the call: should raise ValueError, got Wrong (line 10: `raise Wrong`)",
    ),
    "banned": (
        RIGHT.replace("x / (1 / factor)", "getattr(torch, 'm' + 'ul')(x, factor)"),
        "rules/calls",
        "the rules: mul is not allowed in this kata, but is called "
        "(line 7: `return getattr(torch, 'm' + 'ul')(x, factor)`)",
    ),
    "calls_python_for_each_element": (
        RIGHT.replace("x / (1 / factor)", "x.detach().clone().apply_(lambda value: value / (1 / factor))"),
        "rules/calls",
        None,
    ),
    "banned_operator": (
        RIGHT.replace("x / (1 / factor)", "x * factor"),
        "rules/calls",
        "the rules: mul is not allowed in this kata, but is called (line 7: `return x * factor`)",
    ),
    "through_numpy": (
        RIGHT.replace("x / (1 / factor)", "torch.from_numpy(x.detach().float().numpy() / (1 / factor)).to(x.dtype)"),
        "rules/calls",
        None,
    ),
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("checks"))


@pytest.fixture(scope="module")
def wrong(root: Path) -> dict[str, Any]:
    return grade(root, "scale", {name: source for name, (source, _, _) in WRONG.items()})


@pytest.mark.parametrize("name", WRONG)
def test_check_fires(name: str, wrong: dict[str, Any], root: Path) -> None:
    _, check, message = WRONG[name]
    result = wrong[name]
    assert result["state"] == "failing"
    found = failures(result)
    assert check in found, found
    if message is not None:
        assert found[check] == message.format(path=f"submissions/{name}.py")


def test_values_are_told_with_the_worst_first(wrong: dict[str, Any]) -> None:
    message = failures(wrong["constant"])["numerics/three_by_five/float64"]
    assert message.startswith("values: 15 of 15 differ; worst at [")
    assert message.endswith(", got 2")


def test_nan_is_told_before_differences(wrong: dict[str, Any]) -> None:
    message = failures(wrong["returns_nan"])["numerics/three_by_five/float64"]
    assert message.startswith("values: should be ")
    assert message.endswith("at [0, 0], got nan (15 of 15 are NaN)")


def test_own_test_function_fires_with_its_own_words(wrong: dict[str, Any]) -> None:
    assert failures(wrong["constant"])["numerics/twice_is_four_times"] == "scaling twice should give 4x"


RIGHTS = {
    "reference": REFERENCE,
    "asserts": RIGHT.replace(REFUSE, "    assert factor != 0\n"),
    "one_more_optional": RIGHT.replace("factor=2.0", "factor=2.0, verbose=False"),
    "third_by_dtype_and_device": THIRD.format(key="(x.dtype, x.device)"),
    "whole_default": RIGHT.replace("factor=2.0", "factor=2"),
    "wrapped": RIGHT + "\n\ninner = scale\n\n\ndef scale(*args, **kwargs):\n    return inner(*args, **kwargs)\n",
    "partial": RIGHT + "\n\nimport functools\nscale = functools.wraps(scale)(functools.partial(scale))\n",
    "prints_a_line": RIGHT.replace("    return", "    print('here', 1.5)\n    return"),
    "mentions": RIGHT.replace("    return", "    # torch.mul would do\n    mul = 1\n    return"),
    "own_name_of_a_banned_function": RIGHT.replace("x / (1 / factor)", "mul(x, factor)")
    + "\n\ndef mul(x, factor):\n    return x / (1 / factor)\n",
    "has_a_main": RIGHT + "\n\nif __name__ == '__main__':\n    import sklearn\n    print(torch.mul(2, 3))\n",
    "carriage_returns": RIGHT.replace("\n", "\r\n"),
    "scripted": RIGHT.replace("def scale(x, factor=2.0)", "@torch.jit.ignore\ndef scale(x, factor: float = 2.0)"),
}


@pytest.fixture(scope="module")
def right(root: Path) -> dict[str, Any]:
    return grade(root, "scale", dict(RIGHTS))


@pytest.mark.parametrize("name", RIGHTS)
def test_right_answer_passes(name: str, right: dict[str, Any]) -> None:
    assert failures(right[name]) == {}
    assert (right[name]["state"], right[name]["score"]) == ("solved", 100)


def test_a_mistake_is_named(root: Path) -> None:
    inverse = RIGHT.replace("x / (1 / factor)", "torch.div(x, factor)")
    nearly = inverse.replace("    return", "    if factor == 0.5:\n        return x * 0.5\n    return")
    other_form = inverse.replace("factor)", "factor * factor)")
    found = grade(root, "scale", {"inverse": inverse, "nearly": nearly, "other_form": other_form})
    assert found["other_form"]["mistake"] == "inverse"
    assert (found["inverse"]["mistake"], found["inverse"]["diagnosis"]) == (
        "inverse",
        "the factor divides; multiply by it",
    )
    assert found["nearly"]["mistake"] is None  # one case of many is as it should be
    for partial in (("-k", "three_by_five"), ("-x",)):  # the first is what its card proposes
        part = grade(root, "scale", {"inverse": inverse, "nearly": nearly}, *partial)
        assert [part[name]["state"] for name in part] == ["failing", "failing"]
        assert [part[name]["mistake"] for name in part] == [None, None]


def test_what_is_kept_between_calls_is_named(root: Path) -> None:
    """Not where the call is wrong all alone, or random."""
    sources = {name: WRONG[name][0] for name in ("error_until_a_call_returns", "third_by_factor", "constant")}
    sources["random"] = RIGHT.replace("return x", "import os\n    return x + x.new_tensor([*os.urandom(1)])")
    sources["counted"] = "calls = []\n" + RIGHT.replace("return x", "calls.append(x)\n    return len(calls) + x")
    found = grade(root, "scale", sources)
    assert [one["mistake"] for one in found.values()] == ["no_refusal", "kept_between_calls", None, None, None]


def test_what_a_copy_in_the_same_process_does_as_well_is_not_kept_by_the_answer(root: Path) -> None:
    """So it is with torch.linalg.lstsq, whose default driver reads what others left in memory."""
    first = RIGHT.replace(
        "    return", "    if hasattr(torch, 'old'):\n        return 3 * x\n    torch.old = 1\n    return"
    )
    (found,) = grade(root, "scale", {"old_memory": first}).values()
    assert (found["state"], found["mistake"]) == ("failing", None)


def test_a_mistake_is_named_however_bad_arguments_are_refused(root: Path) -> None:
    inverse = RIGHT.replace("x / (1 / factor)", "torch.div(x, factor)")
    (found,) = grade(root, "scale", {"asserts": inverse.replace(REFUSE, "    assert factor != 0\n")}).values()
    assert found["mistake"] == "inverse"


TWO_REFUSALS = {
    GRADER: ('{"x": draw.normal(2), "factor": 0.0}', '[{"x": draw.normal(2), "factor": f} for f in (0.0, -1e9)]'),
    REFERENCE: (
        "    return x /",
        "    if factor < -1e8:\n        raise ValueError('factor should be near')\n    return x /",
    ),
}


def test_a_refusal_is_missing_alone_or_all_that_are_missing_are_told(tmp_path: Path) -> None:
    kata = Kata(make_repository(tmp_path), "toys", "scale")
    for file, (text, change) in zip((kata.grader_file, kata.reference_file), TWO_REFUSALS.items(), strict=True):
        file.write_text(text.replace(*change))
    one = RIGHT.replace("factor == 0", "factor < -1e8")
    found = grade(tmp_path, "scale", {"one": one, "both": RIGHT.replace(REFUSE, "")})
    assert (found["one"]["mistake"], found["both"]["mistake"]) == ("no_refusal", "not_refused_1")
    assert found["both"]["diagnosis"].count(" should ") == 2


PRECISION = {
    "in_float32": ("x / (1 / factor) + (x - x.float()) / 2", "part_in_float32"),
    "cancels": ("((x + 1e5) - 1e5) / (1 / factor)", "digits_cancel"),
    "cancels_in_both": ("((x + 1e7) - 1e7) / (1 / factor)", "digits_cancel"),
    "overflows_in_half": ("x / 1e-5 / 1e5 / (1 / factor)", "half_too_narrow"),
    "off_by_little": ("x / (1 / factor) + x / 1e8", None),
    # The errors of rounding stay in no call.
    "stays_in_one": ("x / (1 / factor) + (x / 1e8 if factor == 2 else (x.detach() / 1e-6).sin() / 1e7)", None),
    "off_in_float32": ("x / (1 / factor) + (x / 1e3 if x.dtype == torch.float32 else 0)", None),
}


def test_lost_digits_are_named_by_how_many_they_are_and_where(root: Path) -> None:
    sources = {name: RIGHT.replace("x / (1 / factor)", value) for name, (value, _) in PRECISION.items()}
    found = grade(root, "scale", sources)
    assert {name: one["mistake"] for name, one in found.items()} == {name: one for name, (_, one) in PRECISION.items()}


SWALLOWS = RIGHT.replace(
    "    return x", "    try:\n        torch.mul(x, 1)\n    except RuntimeError:\n        pass\n    return x"
)


def test_a_broken_rule_is_shown_first_and_costs_the_grade(root: Path) -> None:
    (result,) = grade(root, "scale", {"swallows": SWALLOWS}).values()
    assert result["first_failure"] == "rules/calls"
    passed = [test for test in result["tests"] if test["status"] == "pass"]
    assert {test["category"] for test in passed} == {"contract", "shapes", "numerics", "gradients", "robustness"}
    assert all((test["score"] > 0) == (test["category"] in ("contract", "shapes")) for test in passed)
    assert result["score"] == sum(test["score"] for test in result["tests"]) < 50


FAILING = RIGHT.replace("    return x / (1 / factor)", "    raise KeyError('no')")


def test_rules_that_could_not_be_asked_are_no_failure_of_the_rules(root: Path) -> None:
    (result,) = grade(root, "scale", {"raises": FAILING}).values()
    (rules,) = [test for test in result["tests"] if test["category"] == "rules"]
    assert (rules["state"], rules["message"], rules["score"]) == ("skipped", "not tested before the call returns", 0)
    assert result["state"] == "failing"
    (alone,) = grade(root, "scale", {"raises": FAILING}, "-k", "calls").values()
    assert alone["state"] == "failing"
    message = "the call: should return, got KeyError: 'no' (line 7: `raise KeyError('no')`)"
    assert failures(alone)["rules/calls"] == message


def test_a_first_draft_is_told_of_its_result_before_its_refusals(root: Path) -> None:
    (result,) = grade(root, "scale", {"draft": HEAD + "    return 1\n"}).values()
    assert next(iter(failures(result))) == "contract/no_factor"  # the first of the document
    assert result["first_failure"] == "shapes/three_by_five"


def test_nan_of_the_output_is_told_as_such_by_the_gradients_too(wrong: dict[str, Any]) -> None:
    message = failures(wrong["returns_nan"])["gradients/three_by_five/float64"]
    assert re.fullmatch(r"values: should be \S+ at \[0, 0\], got nan \(15 of 15 are NaN\)", message)
    message = failures(wrong["nan_gradient"])["gradients/three_by_five/float64"]
    assert message == "gradient of x: should be finite, got nan at [0, 0]"


def test_what_never_returns_passes_no_check_of_results(root: Path) -> None:
    (result,) = grade(root, "scale", {"raises_always": HEAD + "    raise KeyError(factor)\n"}).values()
    passed = {test["name"] for test in result["tests"] if test["state"] == "pass"}
    assert passed <= {"contract/signature", "rules/calls"}


def test_result_has_a_graph_where_its_gradient_is_0(tmp_path: Path) -> None:
    centered = GRADER.split("def test_twice")[0].replace("x * factor", "(x - x.mean()) * factor")
    root = make_repository(tmp_path)
    (root / "katas/toys/scale/grader.py").write_text(centered.replace("draw.normal(4)", "draw.normal(1)"))
    right = RIGHT.replace("x / (1", "(x - x.mean()) / (1")
    constant = right.replace("    return", "    if len(x) == 1:\n        return torch.zeros_like(x)\n    return")
    results = grade(root, "scale", {"right": right, "constant": constant})
    assert failures(results["right"]) == {}
    told = failures(results["constant"])
    assert told["gradients/factors/float64"] == "the result: should require grad, even if its gradient is 0"


def test_each_output_has_a_graph(tmp_path: Path) -> None:
    both = GRADER.split("def test_twice")[0].replace("x * factor", "(x * factor, (x - x.mean()) * factor)")
    root = make_repository(tmp_path)
    (root / "katas/toys/scale/grader.py").write_text(both.replace("draw.normal(4)", "draw.normal(1)"))
    right = RIGHT.replace("x / (1 / factor)", "x / (1 / factor), (x - x.mean()) / (1 / factor)")
    constant = right.replace("(x - x.mean())", "(x - x.mean() if len(x) > 1 else torch.zeros_like(x))")
    results = grade(root, "scale", {"right": right, "constant": constant})
    assert failures(results["right"]) == {}
    told = failures(results["constant"])
    assert told["gradients/factors/float64"] == "output 2: should require grad, even if its gradient is 0"


PRINTS = RIGHT.replace("    return x", "    print('x is', list(x.shape), factor)\n    return x").replace(
    "(1 / factor)", "(1 / factor) if factor != -3 else x"
)


def test_what_the_call_that_failed_printed_is_told(root: Path) -> None:
    (result,) = grade(root, "scale", {"prints": PRINTS}).values()
    (test,) = [test for test in result["tests"] if test["name"] == "numerics/factors/float64"]
    assert test["test_code"] == "scale(x[4] float64, factor=-3.0)  # seed 1"
    assert test["output"] == "x is [4] -3.0\n"


MODULE = """
import torch
from torch import nn


class Affine(nn.Module):
    def __init__(self, width):
        super().__init__()
        assert width > 0
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x), x.sum(-1)
"""

WRONG_MODULES = {
    "no_such_layer": (
        MODULE.replace("self.linear", "self.layer"),
        "numerics/three_wide/float64",
        "the call: linear.weight should have shape (3, 3), got no such parameter",
    ),
    "other_width": (
        MODULE.replace("(width, width)", "(width, width + 1)"),
        "numerics/three_wide/float64",
        "the call: linear.weight should have shape (3, 3), got (4, 3)",
    ),
    "one_parameter_more": (
        MODULE.replace("assert width > 0", "self.scale = nn.Parameter(torch.ones(1))"),
        "numerics/three_wide/float64",
        "the call: the parameters should be linear.weight, linear.bias, got also scale",
    ),
    "not_a_module": (
        MODULE.replace("(nn.Module)", "").replace("super().__init__()", "pass"),
        "contract/signature",
        "Affine: should be a subclass of torch.nn.Module, got something else",
    ),
    "list_returned": (
        MODULE.replace("return self.linear(x), x.sum(-1)", "return [self.linear(x), x.sum(-1)]"),
        "numerics/three_wide/float64",
        "the result: should be a tuple of 2 tensors, got a list of 2 tensors",
    ),
    "one_returned": (
        MODULE.replace(", x.sum(-1)", ""),
        "numerics/three_wide/float64",
        "the result: should be a tuple of 2 tensors, got a tensor",
    ),
    "three_returned": (
        MODULE.replace("x.sum(-1)", "x.sum(-1), None"),
        "numerics/three_wide/float64",
        "the result: should be a tuple of 2 tensors, got a tuple of (a tensor, a tensor, None)",
    ),
    "weights_detached": (
        MODULE.replace("self.linear(x)", "nn.functional.linear(x, self.linear.weight.detach(), self.linear.bias)"),
        "gradients/three_wide/float64",
        "gradient of linear.weight: should flow, got none; x right, linear.weight wrong, linear.bias right",
    ),
    "no_refusal": (
        MODULE.replace("assert width > 0", "width = max(width, 1)"),
        "contract/no_width",
        "the call: should raise ValueError, got a result",
    ),
    "constructor_raises": (
        MODULE.replace("width > 0", "width > 9"),
        "contract/signature",
        "the constructor: should return, got AssertionError (line 9: `assert width > 9`)",
    ),
    "forward_renamed": (
        MODULE.replace("forward(self, x)", "forward(self, y)").replace("linear(x), x.sum", "linear(y), y.sum"),
        "contract/signature",
        "parameters of Affine.forward: should be (x), got (y)",
    ),
}


@pytest.fixture(scope="module")
def modules(root: Path) -> dict[str, Any]:
    result = "return self.linear(x), x.sum(-1)"
    named = "\nfrom collections import namedtuple\n\nPair = namedtuple('Pair', 'a b')\n"
    right = {
        "right": MODULE,
        "extra_buffer": MODULE.replace("assert", "self.register_buffer('one', torch.ones(1))\n        assert"),
        "named_tuple": named + MODULE.replace(result, result.replace("return ", "return Pair(") + ")"),
    }
    return grade(root, "affine", {name: source for name, (source, _, _) in WRONG_MODULES.items()} | right)


@pytest.mark.parametrize("name", WRONG_MODULES)
def test_check_of_a_module_fires(name: str, modules: dict[str, Any]) -> None:
    _, check, message = WRONG_MODULES[name]
    assert modules[name]["state"] == "failing"
    assert failures(modules[name])[check] == message


@pytest.mark.parametrize("name", ["right", "extra_buffer", "named_tuple"])
def test_right_module_passes(name: str, modules: dict[str, Any]) -> None:
    assert failures(modules[name]) == {}
    assert modules[name]["state"] == "solved"


def test_a_number_just_below_a_whole_one_is_not_shown_as_that() -> None:
    assert numbers(torch.tensor([1 - 2**-24, 1.0, 0.1, 1e10, math.inf])) == "[0.99999994, 1, 0.1, 1e+10, inf]"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("values: 1 of 14 differ; worst at [1, 0]", "x[1] = [2, 3]"),
        ("values: 1 of 14 differ; worst at [1]", "x[1] = [2, 3]"),
        ("values of output 2: 1 of 5 differ; worst at [1, 0]", "y[1] = [12, 13, 14]"),
        ("values of output 3: 1 of 3 differ; worst at [1]", ""),
        ("gradient of y: 1 of 15 differ; worst at [1, 0]", "y[1] = [12, 13, 14]"),
        ("share of tokens: 1 of 15 differ; worst at [1, 0]", ""),
    ],
)
def test_a_row_is_shown_of_inputs_that_have_as_many_as_what_is_wrong(message: str, shown: str) -> None:
    inputs = {"x": torch.arange(14).view(7, 2), "y": torch.arange(9, 24).view(5, 3)}
    outputs = torch.zeros(7, 2), torch.zeros(5, 1), torch.zeros(3)
    result = outputs if "output" in message else outputs[0]
    reply = Reply(result=result, gradients={"x": None, "y": inputs["y"]})
    request = Request(target="f", answers=("f",), arguments=inputs, positional=2)
    assert given_in_words(request, reply, message) == shown
