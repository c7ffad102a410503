"""What everybody asks is answered from the contract, for every kata, and only where it is sure."""

from __future__ import annotations

import re

import pytest

from graders.catalogue import katas, texts
from graders.catalogue.katas import Kata
from graders.catalogue.signature import Fact, facts_in
from graders.faults import ROOT
from graders.interview.contract import Contract

EVERY = katas.all_katas(ROOT)
ALWAYS = {
    "can the input be empty?": "empty",
    "what if there are NaNs?": "infinities",
    "is there a gradient?": "gradients",
    "may I use torch.nn.functional.silu?": "calls",
    "are there limits on memory?": "cost",
    "should it run on a GPU?": "device",
    "is in-place okay?": "inputs",
    "double backward?": "second derivatives",
}


def contract_of(kata: Kata) -> Contract:
    return Contract(kata, [*texts.clarifying(kata), *texts.general(kata)])


def answered(name: str, text: str) -> str | None:
    """The question that it is taken for, and the answer."""
    found = contract_of(katas.find_one(name)).answer(text)
    return f"{found.question} {found.answer}" if found else None


def facts_of(kata: Kata) -> list[Fact]:
    return facts_in(texts.signature_block(kata))


@pytest.mark.parametrize("kata", EVERY, ids=lambda kata: kata.id)
def test_everyday_questions_are_answered_of_every_kata(kata: Kata) -> None:
    contract = contract_of(kata)
    for text, kind in ALWAYS.items():
        found = contract.answer(text)
        assert found is not None, text
        assert kind in found.kinds, text


@pytest.mark.parametrize("kata", EVERY, ids=lambda kata: kata.id)
def test_each_default_and_each_shape_that_a_signature_has_is_told(kata: Kata) -> None:
    contract, facts = contract_of(kata), facts_of(kata)
    assert facts
    once = [
        one for one in facts if one.name and [other.name for other in facts].count(one.name) == 1 and one.name != "a"
    ]
    for one in once:
        found = contract.answer(f"what is the default of {one.name}?")
        assert found, one
        assert one.default is None or one.default in found.answer or found in texts.clarifying(kata), one
    for one in (one for one in once if one.is_tensor and re.match(r"\(|any shape", one.said)):
        found = contract.answer(f"what is the shape of {one.name}?")
        assert found, one
        assert one.said in found.answer or found in texts.clarifying(kata), one


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("causal_attention", "What is the shape of q?", "(B, H, Sq, d)"),
        ("layer_norm", "what's eps by default?", "`1e-5` if you leave it out"),
        ("conv2d", "what is the default stride of max_pool2d?", "The kernel's size"),  # as a prepared question has it
        ("conv2d", "can stride be a tuple?", "int | tuple[int, int] | list[int]"),
        ("ranking_metrics", "is it averaged over queries?", "No: one value for each query"),
        ("softmax", "can dim be negative?", "from -rank to rank - 1"),
        ("cross_entropy", "does weight need a gradient?", "The gradient of `weight` is not tested."),
        ("cross_entropy", "which dtype are the labels?", "Which dtypes come in"),
        ("self_attention", "is there an output projection?", "None of them."),
        ("layer_norm", "are there running statistics?", "These are not: running statistics"),
        ("softmax", "can x have -inf entries?", "May an entry be −∞? Yes"),
        ("triplet_loss", "can N be 0?", "That is open: no test has an empty input."),
        ("rms_norm", "can the batch be empty?", "Yes: the result is empty"),
        ("clip_loss", "sum or mean?", "A mean over the images"),
        ("matmul_backward", "can I use @ in the forward?", "`@`, `bmm` and `einsum` are fine"),
        ("moco", "does momentum_update_ return anything?", "returns `None`"),
        ("linear_scan", "what shapes do a and b have?", "`a: Tensor`: (B, T, D)"),
        ("kmeans", "should I modify the centroids in place?", "No, unless the task is to change them."),
        ("triplet_loss", "what does reduction none return?", 'a scalar, or (N,) for "none"'),
        ("mini_gpt_cache", "forward gives back what exactly?", "logits (B, T, V) of the new tokens, and a cache"),
        ("sharded_optimizer", "should step hand anything back?", "returns `None`"),
        ("clip_loss", "any chance of an empty batch", "no test has an empty input"),
        (
            "train_step",
            "am I allowed to use clip_grad_norm_?",
            "including `F.cross_entropy` and `torch.nn.utils.clip_grad",
        ),
        ("bayes_rule", "can the likelihoods come with no batch axis?", "there may be no leading axes"),
        ("clip_loss", "does logit scale come in as a python number or a tensor?", "`logit_scale: Tensor`: 0-d"),
        ("sharded_optimizer", "the params argument, is it a list? could it be a generator?", "Iterable[Tensor]"),
    ],
)
def test_it_is_answered_from_the_signature_or_by_what_the_page_says(name: str, text: str, words: str) -> None:
    assert words in (answered(name, text) or "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("numerical_gradient", "may f mutate its argument?"),
        ("triplet_loss", "what is the gradient when anchor equals positive?"),
        ("cosine_similarity", "what's the gradient at zero?"),
        ("softmax", "should half inputs be upcast?"),
        ("kmeans", "what do I do with an empty cluster?"),
        ("matmul_backward", "what if only one input needs a gradient?"),
        ("rotary_embedding", "which channels form a pair by default?"),
        ("cross_entropy", "when weight is given, do I divide by N or by the sum of the weights?"),
        ("streaming_entropy", "what does entropy return before anything was seen?"),
        ("kmeans", "can max_iters be 0?"),  # the signature does not tell
        ("moco", "does the key encoder get a gradient from the queue?"),
        ("causal_attention", "is it causal?"),
        ("self_attention", "is there a cache?"),
        ("linear_models", "is there a penalty?"),  # there is one, and another one is not part of it
        ("mini_gpt", "is there dropout?"),  # a question of its own asks it
        ("sliding_window_attention", "what should happen with a negative window?"),
        ("box_nms", "in which order are indices returned?"),  # the signature does not tell
        ("clip_loss", "when is logit_scale a python number?"),
    ],
)
def test_what_a_word_asks_beyond_that_is_left_to_the_prepared_questions(name: str, text: str) -> None:
    assert answered(name, text) is None


def test_a_signature_that_says_as_above_says_what_was_said_above() -> None:
    by_name = {(one.owner, one.name): one for one in facts_of(katas.find_one("roc_auc"))}
    assert by_name["roc_auc", "y_true"].said == by_name["roc_curve", "y_true"].said != ""
    assert facts_in("def broken(") == []
