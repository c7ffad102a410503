"""What a kata bans is found in every spelling, with its line; what it allows never is."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from graders.author.prove import grade
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from tests.spellings import SPELLINGS

F = "torch.nn.functional"
SAMPLE = os.environ["KATAS_SAMPLE"]  # as in tests/conftest.py; set it to repeat a failure
BANNED = "is not allowed in this kata, but is called (line "
ATTENTION = "query, key, value"
# kata: (module, function, arguments) of what it bans
FUNCTIONS = {
    "self_attention": [(F, "scaled_dot_product_attention", "x, x, x")],
    "multi_head_attention": [(F, "scaled_dot_product_attention", ATTENTION)],
    "cosine_similarity": [(F, "cosine_similarity", "x, y, -1"), (F, "normalize", "x")],
    "triplet_loss": [
        (F, "triplet_margin_loss", "anchor, positive, negative"),
        (F, "triplet_margin_with_distance_loss", "anchor, positive, negative"),
        (F, "pairwise_distance", "anchor, positive"),
        (F, "cosine_similarity", "anchor, positive"),
        ("torch", "cdist", "anchor, positive"),
    ],
    "binary_cross_entropy": [
        (F, "binary_cross_entropy", "probs.sigmoid(), probs.sigmoid()"),
        (F, "binary_cross_entropy_with_logits", "probs, probs.sigmoid()"),
    ],
    "cross_entropy": [
        (F, "cross_entropy", "logits, target"),
        (F, "nll_loss", "logits, target"),
        (F, "log_softmax", "logits, -1"),
        ("torch", "log_softmax", "logits, -1"),
    ],
}
SLOW = ("compile_eager", "checkpoint")  # they import a compiler first, and are tried with the first function alone
# kata: {name: statement} that is banned by itself, beside the spellings of a function
STATEMENTS = {
    "self_attention": {
        "module": "torch.nn.MultiheadAttention(x.shape[-1], 1, dtype=x.dtype)(x, x, x)",
        "module_that_says_its_weights": (
            "torch.nn.MultiheadAttention(x.shape[-1], 1, dtype=x.dtype)(x, x, x, need_weights=True)"
        ),
        "quantizable_module": "torch.ao.nn.quantizable.MultiheadAttention(x.shape[-1], 1).to(x)(x, x, x)",
        "flex_attention_in_plain_operators": (
            "from torch._higher_order_ops.flex_attention import math_attention as attend; "
            "from torch.nn.attention.flex_attention import _create_empty_block_mask as all_blocks; "
            "h = x[:, None]; attend(h, h, h, lambda score, *_: score, all_blocks(h, h).as_tuple(), 1.0, {})"
        ),
        "encoder_layer": "torch.nn.TransformerEncoderLayer(x.shape[-1], 1, dtype=x.dtype)(x)",
        "operator": "torch.ops.aten.scaled_dot_product_attention(x, x, x)",
        "overload": "torch.ops.aten.scaled_dot_product_attention.default(x, x, x)",
        "binding": "torch._C._nn.scaled_dot_product_attention(x, x, x)",
        "kernel": "torch.ops.aten._scaled_dot_product_attention_math(x, x, x)",
    },
    "cosine_similarity": {
        "module": "torch.nn.CosineSimilarity()(x, y)",
        "forward": "torch.nn.CosineSimilarity.forward(torch.nn.CosineSimilarity(), x, y)",
        "operator": "torch.ops.aten.cosine_similarity(x, y)",
        "overload": "torch.ops.aten.cosine_similarity.default(x, y)",
        "binding": "torch._C._VariableFunctions.cosine_similarity(x, y)",
        "functional_call": "torch.func.functional_call(torch.nn.CosineSimilarity(), {}, (x, y))",
        "scripted_module": "torch.jit.script(torch.nn.CosineSimilarity())(x, y)",
        "numpy": "x.detach().numpy()",
        "numpy_of_a_parameter": "torch.nn.Parameter(x.detach(), requires_grad=False).numpy()",
        "numpy_asarray": "__import__('numpy').asarray(x.detach())",
        "dlpack": "__import__('numpy').from_dlpack(x.detach())",
        "dlpack_by_torch": "torch.utils.dlpack.to_dlpack(x.detach())",
        "sklearn": (
            "__import__('importlib').import_module('sklearn.metrics.pairwise').cosine_similarity("
            "x.detach().reshape(1, -1).tolist())"
        ),
    },
    "cross_entropy": {
        "module": "torch.nn.CrossEntropyLoss()(logits, target)",
        "softmax_module": "torch.nn.LogSoftmax(-1)(logits)",
        "method": "logits.log_softmax(-1)",
        "method_of_the_class": "torch.Tensor.log_softmax(logits, -1)",
        "operator": "torch.ops.aten.cross_entropy_loss(logits, target)",
        "raw_operator": "torch.ops.aten._log_softmax(logits, -1, False)",
        "special": "torch.special.log_softmax(logits, -1)",
        "nll_module": "torch.nn.NLLLoss()(logits, target)",
    },
    "binary_cross_entropy": {
        "module": "torch.nn.BCELoss()(probs.sigmoid(), probs.sigmoid())",
        "logits_module": "torch.nn.BCEWithLogitsLoss()(probs, probs.sigmoid())",
        "operator": "torch.ops.aten.binary_cross_entropy(probs.sigmoid(), probs.sigmoid())",
        "binding": "torch._C._nn.binary_cross_entropy(probs.sigmoid(), probs.sigmoid())",
    },
    "triplet_loss": {
        "module": "torch.nn.TripletMarginLoss()(anchor, positive, negative)",
        "distance_module": "torch.nn.TripletMarginWithDistanceLoss()(anchor, positive, negative)",
        "pairwise_module": "torch.nn.PairwiseDistance()(anchor, positive)",
        "operator": "torch.ops.aten.triplet_margin_loss(anchor, positive, negative)",
        "raw_cdist": "torch.ops.aten._cdist_forward(anchor, positive, 2.0, None)",
    },
    "activations": {
        "a_layer_that_ends_in_a_sigmoid": (
            "torch.ops.mkldnn._linear_pointwise("
            "x.detach().float().reshape(-1, 1), torch.ones(1, 1), None, 'sigmoid', [], '')"
        ),
    },
    "layer_norm": {
        "nested": (
            "torch.nn.functional.layer_norm(torch.nested.nested_tensor([torch.ones(2, 3)], layout=torch.jagged), (3,), "
            "torch.ones(3), torch.zeros(3))"
        ),
        "an_operator_by_its_schema": "torch._C._jit_get_operation('prims::tanh')[0](x)",
        "operators_of_onnx": "import sys; sys.modules.pop('torch.onnx', None); import torch.onnx",
        "another_layout": (
            "c = x.shape[-1]; torch.ops.prim.MKLDNNLayerNorm("
            "x.detach().float().to_mkldnn(), [c], torch.ones(c), torch.zeros(c), eps, False).to_dense()"
        ),
        "a_quantized_operator": (
            "torch.ops.quantized.mul_scalar(torch.quantize_per_tensor(x.float(), 1.0, 0, torch.qint8), 2)"
        ),
    },
    "numerical_gradient": {
        "mpmath": "import mpmath; mpmath.diff(lambda t: t * t, 1.0)",
        "sympy": "from sympy import symbols, diff; diff(symbols('t') ** 2)",
    },
    "softmax": {
        "a_graph_that_is_loaded": (
            "import io; b = io.BytesIO(); torch.jit.save(torch.jit.trace(lambda t: t + 1, x.detach()), b); b.seek(0); "
            "torch.jit.load(b)"
        ),
        "a_shared_softmax_of_a_late_module": (
            "import torch.distributed as d; from torch.testing._internal.distributed.fake_pg import FakeStore; "
            "d.is_initialized() or d.init_process_group('fake', rank=0, world_size=1, store=FakeStore()); "
            "from torch.distributed.device_mesh import init_device_mesh as mesh; "
            "from torch.distributed.tensor.parallel.loss import _log_softmax as shared; "
            "shared(x.detach(), -1, False, mesh('cpu', (1,)), 0)"
        ),
    },
    "f1_score": {"sklearn": "__import__('sklearn.metrics').metrics.f1_score([0, 1], [1, 1])"},
    "roc_auc": {"sklearn": "__import__('sklearn.metrics').metrics.roc_auc_score([0, 1], [0.1, 0.9])"},
    "info_nce": {"scipy": "__import__('scipy.special').special.logsumexp([0.1, 0.9])"},
}
# kata: {name: statement} that would give it away by a neighbour of what is banned first
NEAR = {
    "cross_entropy": {"categorical": "torch.distributions.Categorical(logits=logits)"},
    "binary_cross_entropy": {
        "two_classes": "torch.nn.functional.cross_entropy(torch.stack([probs, probs]), torch.stack([probs, probs]))",
        "soft_margin": "torch.nn.functional.soft_margin_loss(probs, probs)",
        "binomial": "torch.distributions.Binomial(1, logits=probs).log_prob(probs.round())",
        "geometric": "torch.distributions.Geometric(logits=probs).log_prob(torch.zeros_like(probs))",
    },
    "softmax": {"ctc": f"torch.nn.functional.ctc_loss(torch.zeros(5, 1, 3), {', '.join(['torch.tensor([1])'] * 3)})"},
    "info_nce_by_hand": {
        "ctc": f"torch.nn.functional.ctc_loss(torch.zeros(5, 1, 3), {', '.join(['torch.tensor([1])'] * 3)})"
    },
    "regression_losses": {
        "gaussian": "torch.nn.functional.gaussian_nll_loss(pred, target, torch.ones_like(pred))",
        "laplace": "torch.distributions.Laplace(pred, 1.0)",
    },
    "entropy_kl": {"cross_entropy": "torch.nn.functional.cross_entropy(torch.zeros(2, 3), torch.ones(2, 3))"},
    "mutual_information": {"cross_entropy": "torch.nn.functional.cross_entropy(torch.zeros(2, 3), torch.ones(2, 3))"},
    "lr_schedule": {"swalr": "torch.optim.swa_utils.SWALR._cosine_anneal(0.5)"},
    "layer_norm": {"local_response": "torch.nn.functional.local_response_norm(torch.ones(2, 3, 4), 2)"},
    "instance_norm": {"local_response": "torch.nn.LocalResponseNorm(2)(torch.ones(2, 3, 4))"},
    "batch_norm": {"local_response": "torch.nn.functional.local_response_norm(torch.ones(2, 3, 4), 2)"},
    "cosine_similarity": {"local_response": "torch.nn.functional.local_response_norm(torch.ones(2, 3, 4), 2)"},
    "feature_scaling": {"batch_norm": "torch.nn.functional.batch_norm(x, None, None, training=True)"},
}


def with_statement(kata: Kata, statement: str, head: str = "") -> str:
    """The reference, right as it is, with one more statement in its first part that learners write."""
    reference = kata.reference_file.read_text(encoding="utf-8")
    at = reference.index("# --- solution")
    if kata.id.endswith("attention"):
        at = reference.index("# --- solution", reference.index("def forward"))
    indent = reference[reference.rindex("\n", 0, at) + 1 : at]
    text = f"{reference[:at]}{statement}\n{indent}{reference[at:]}"
    return f"import torch\n{head}\n{text}".replace("from __future__ import annotations\n", "")


def messages(kata: Kata, sources: dict[str, str], folder: Path) -> dict[str, str]:
    """What the check of the rules says of each source."""
    files = []
    for name, source in sources.items():
        files.append(folder / f"{name}.py")
        files[-1].write_text(source)
    results = grade(kata, files, "-k", "calls")
    return {
        name: " ".join(test["message"] or "" for test in result["tests"] if test["category"] == "rules")
        for name, result in zip(sources, results, strict=True)
    }


@pytest.mark.parametrize(
    ("kata_id", "module", "function", "arguments"),
    [(kata, *function) for kata, functions in FUNCTIONS.items() for function in functions],
    ids=lambda value: f"{value}-KATAS_SAMPLE={SAMPLE}" if value in FUNCTIONS else None,
)
def test_every_spelling_is_found(kata_id: str, module: str, function: str, arguments: str, tmp_path: Path) -> None:
    assert len(SPELLINGS) >= 30
    kata = katas.find([kata_id])[0]
    half = len(function) // 2
    parts = {"m": module, "n": function, "a": function[:half], "b": function[half:]}
    most = [name for name in SPELLINGS if name not in SLOW]  # all of them with one function, since all bans work alike
    tried = (
        SPELLINGS
        if kata_id == function == "cosine_similarity"
        else random.Random(f"{SAMPLE} {function}").sample(most, 8)
    )
    sources = {name: with_statement(kata, f"fn({arguments})", head=SPELLINGS[name].format(**parts)) for name in tried}
    for name, message in messages(kata, sources, tmp_path).items():
        refused = "sys.setprofile may not be called here" if name.startswith("profile_taken") else BANNED
        assert refused in message, (name, message)


@pytest.mark.parametrize("kata_id", STATEMENTS | NEAR)
def test_modules_operators_other_libraries_and_what_stands_near_are_found(kata_id: str, tmp_path: Path) -> None:
    kata = katas.find([kata_id])[0]
    banned, near = STATEMENTS.get(kata_id, {}), NEAR.get(kata_id, {})
    assert not banned.keys() & near.keys()
    sources = {name: with_statement(kata, statement) for name, statement in (banned | near).items()}
    for name, message in messages(kata, sources, tmp_path).items():
        assert "the rules: " in message, (name, message)


@pytest.mark.parametrize("kata_id", [*FUNCTIONS, *(kata for kata in STATEMENTS if kata not in FUNCTIONS)])
def test_mentioning_is_not_calling(kata_id: str, tmp_path: Path) -> None:
    """Comments, strings, names of one's own, unused imports and self-tests are no offence."""
    kata = katas.find([kata_id])[0]
    names = [function for _, function, _ in FUNCTIONS.get(kata_id, [])]
    head = "import numpy, torch.nn.functional\nfrom torch.nn import *\n\n\ndef normalize(x):\n    return x\n\n\n"
    head += "def unused(x):\n" + "".join(f"    torch.nn.functional.{name}(x)  # {name}\n" for name in ["relu", *names])
    sources = {"mentions": with_statement(kata, "normalize(0), numpy.sqrt(2.0), print('cross_entropy')", head)}
    assert messages(kata, sources, tmp_path)["mentions"].strip() == ""
