"""What is checked of attention_forward and attention_backward."""

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import Answer, Arguments, Case, Draw, Grader, Tolerance, attention, bans, last_places


def forward(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, tuple[Tensor | None, ...]]:
    seen = None if mask is None else mask.expand(*q.shape[:3], k.shape[2])
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen), (q, k, v, mask)


def backward(grad_output: Tensor, cache: tuple[Tensor, Tensor, Tensor, Tensor | None]) -> tuple[Tensor, ...]:
    leaves = [tensor.detach().clone().requires_grad_() for tensor in cache[:3]]
    return torch.autograd.grad((forward(*leaves, cache[3])[0] * grad_output).sum(), leaves)


# Scenarios.


def result(attention_forward, q, k, v, mask=None):
    out, _ = attention_forward(q, k, v) if mask is None else attention_forward(q, k, v, mask=mask)
    return out


def gradients(attention_forward, attention_backward, q, k, v, grad_output, mask=None):
    out, cache = attention_forward(q, k, v, mask)
    kept = out.clone()
    dq, dk, dv = attention_backward(grad_output, cache)
    return {"out": kept, "dq": dq, "dk": dk, "dv": dv}


def one_cache(attention_forward, attention_backward, q, k, v, grad_output, mask):
    _, cache = attention_forward(q, k, v, mask)
    found = [attention_backward(grad_output.roll(steps, 2), cache) for steps in (0, 1, 0)]
    return [{"dq": dq, "dk": dk, "dv": dv} for dq, dk, dv in found]


def several_caches(attention_forward, attention_backward, q, k, v, grad_output, mask):
    calls = [(q, k, v, mask), (q, -k, v, None), (q[:1], k[:1], v[:1], None), (q.flip(2), k.flip(2), v, mask)]
    caches = [attention_forward(*call)[1] for call in calls]
    upstream = [grad_output, grad_output, grad_output[:1], grad_output]
    found = [attention_backward(one, cache) for one, cache in zip(upstream, caches, strict=True)]
    return [{"dq": dq, "dk": dk, "dv": dv} for dq, dk, dv in found]


def one_tensor_for_all(attention_forward, attention_backward, x):
    out, cache = attention_forward(x, x, x)
    dq, dk, dv = attention_backward(x, cache)
    return {"out": out, "dq": dq, "dk": dk, "dv": dv}


def nothing_written(attention_forward, attention_backward, q, k, v, grad_output, mask):
    inputs, hidden = [tensor.clone().requires_grad_() for tensor in (q, k, v)], mask.clone()
    out, cache = attention_forward(*inputs, hidden)
    upstream = grad_output.transpose(-1, -2).contiguous().transpose(-1, -2)  # the same values, in another order
    dq, dk, dv = attention_backward(upstream, cache)
    return {
        "out": out.detach(),
        "dq": dq.detach(),
        "dk": dk.detach(),
        "dv": dv.detach(),
        "the mask is left alone": torch.equal(hidden, mask),
        "grad_output is left alone": torch.equal(upstream, grad_output),
        "every .grad is None": all(tensor.grad is None for tensor in inputs),
        "every input requires grad": all(tensor.requires_grad for tensor in inputs),
    }


def summed(attention_forward, attention_backward, q, k, v, mask):
    out, cache = attention_forward(q, k, v, mask)
    dq, dk, dv = attention_backward(torch.ones((), dtype=q.dtype).expand(out.shape), cache)
    return {"dq": dq, "dk": dk, "dv": dv}


def heads(draw: Draw, B: int, H: int, S: int, T: int, d: int = 4, e: int = 3, std: float = 1.0) -> Arguments:
    q, k = draw.normal(B, H, S, d, std=std), draw.normal(B, H, T, d, std=std)
    return {"q": q, "k": k, "v": draw.normal(B, H, T, e), "grad_output": draw.normal(B, H, S, e)}


def masked(draw: Draw, shape: tuple[int, ...], *sizes: int, std: float = 1.0) -> Arguments:
    """Of each row of the mask, one key is seen at least, and with two or more keys, one is hidden."""
    mask = draw.uniform(*shape) < 0.6
    first = int(draw.integers(1, high=shape[-1]))
    if shape[-1] > 1:
        mask[..., first - 1] = False
    mask[..., first] = True
    return heads(draw, *sizes, std=std) | {"mask": mask}


def plain(draw: Draw) -> list[Arguments]:
    made = [heads(draw, 2, 3, 5, 5), heads(draw, 2, 3, 4, 6, d=2, e=5), heads(draw, 1, 2, 5, 3), *sizes_of_one(draw)]
    return [without_upstream(one) for one in (*made, heads(draw, *draw.shape(6, most=8)))]


def without_upstream(given: Arguments) -> Arguments:
    return {name: value for name, value in given.items() if name != "grad_output"}


def sizes_of_one(draw: Draw) -> list[Arguments]:
    """Each of the six, then the tokens, then all."""
    usual = (2, 3, 4, 5, 4, 3)
    made = [heads(draw, *(1 if j == i else size for j, size in enumerate(usual))) for i in range(6)]
    return [*made, heads(draw, 2, 3, 1, 1), heads(draw, 1, 1, 1, 1, 1, 1)]


def equal_sizes(draw: Draw) -> list[Arguments]:
    n = draw.size(3, 5)
    return [heads(draw, n, n, n, n, n, n), heads(draw, 2, 2, 4, 4, 4, 4)]


def masks(draw: Draw) -> list[Arguments]:
    """All that broadcast to (B, H, S, T), with sizes that differ, then with equal ones; and a causal one."""
    B, H, S, T = draw.shape(4, most=6)
    shapes = [(T,), (1, T), (S, T), (H, 1, T), (H, S, T), (B, 1, 1, T), (B, 1, S, T), (1, H, 1, T), (B, H, S, T)]
    made = [masked(draw, shape, B, H, S, T) for shape in shapes]
    made += [masked(draw, shape, 3, 3, 3, 3) for shape in ((3, 3), (3, 1, 3), (3, 1, 1, 3), (3, 3, 3, 3))]
    return [*made, heads(draw, 2, 2, 5, 5) | {"mask": torch.ones(5, 5).tril().bool()}]


def results_under_masks(draw: Draw) -> list[Arguments]:
    return [without_upstream(one) for one in masks(draw)]


def zero_scores(draw: Draw) -> Arguments:
    """Query 1 scores 0 with every key, query 3 with key 2."""
    made = masked(draw, (2, 1, 5, 6), 2, 3, 5, 6)
    made["q"][:, :, 1], made["q"][:, :, 3, :2], made["k"][:, :, 2, 2:] = 0, 0, 0
    made["mask"][..., 2] = True
    return made


def rows_without_keys(draw: Draw) -> list[Arguments]:
    """Some queries of a mask see no key; then by a mask with one entry for each query or sample; then all of them."""
    some = [masked(draw, shape, 2, 3, 4, 5) for shape in ((4, 5), (2, 1, 4, 5), (2, 3, 4, 5))]
    for one in some:
        one["mask"][..., draw.size(0, 3), :] = False
    by_query = torch.tensor([True, False, True, False])[:, None]
    by_sample = torch.tensor([False, True])[:, None, None, None]
    made = [heads(draw, 2, 3, 4, 5) | {"mask": mask} for mask in (by_query, by_sample, torch.zeros(5).bool())]
    return [*some, *made, heads(draw, 1, 1, 1, 1) | {"mask": torch.zeros(1, 1).bool()}]


def some_hidden(draw: Draw) -> Arguments:
    return masked(draw, (2, 1, 4, 5), 2, 3, 4, 5)


def large_scores(draw: Draw) -> list[Arguments]:
    """Of both signs, a query's near each other or far apart; hidden keys score higher than a query's seen ones."""
    near = masked(draw, (2, 1, 4, 5), 2, 3, 4, 5)
    sides = torch.tensor([1, -1, 1, -1]).double()[draw.permutation(4)]
    near["q"][..., 0], near["k"][..., 0] = draw.number(145, 160) * sides, draw.number(145, 160)
    apart = [heads(draw, 2, 3, 4, 5, std=100), masked(draw, (4, 5), 2, 3, 4, 5, std=100)]
    unmasked = {name: value for name, value in near.items() if name != "mask"}
    return [near, unmasked, *apart]


def rare_keys(draw: Draw) -> list[Arguments]:
    """Two keys have shares of about 1e-6 and 1e-10 in every query, and gradients as small."""
    made = [heads(draw, 2, 3, 4, 6), masked(draw, (2, 1, 4, 6), 2, 3, 4, 6)]
    for one in made:
        one["q"][..., 0], one["k"][..., 0] = 4, 0
        one["k"][:, :, draw.permutation(6)[:2], 0] = torch.tensor([-7.0, -11.5]).double()
    return made


def disagreeing(draw: Draw) -> list[Arguments]:
    return attention.disagreeing(draw, without_upstream(heads(draw, 2, 3, 4, 5)))


def masks_of_other_shapes(draw: Draw) -> list[Arguments]:
    """Too short or too long; then masks that would widen the scores."""
    shapes = [(4,), (6,), (5, 4), (3, 5), (2, 4, 5), (3, 1, 1, 5), (2, 2, 4, 5), (2, 3, 5, 5), (1, 2, 3, 4, 5)]
    shapes = [*shapes, (1, 1, 1, 1, 5)]
    made = [without_upstream(heads(draw, 2, 3, 4, 5)) | {"mask": torch.ones(shape).bool()} for shape in shapes]
    one = without_upstream(heads(draw, 1, 1, 1, 1))
    wider = [(3,), (3, 1), (3, 1, 1), (3, 1, 1, 1)]
    return [*made, *(one | {"mask": torch.ones(shape).bool()} for shape in wider)]


def many(draw: Draw, B: int, H: int, S: int, d: int) -> Arguments:
    """Every query sees the first key: what an empty row gives is no matter of cost."""
    mask = draw.uniform(S, S) < 0.9
    mask[:, 0] = True
    return heads(draw, B, H, S, S, d, d) | {"mask": mask}


EACH_SHARE = {torch.float64: Tolerance(1e-6, 0, 1e-14)}
ask = partial(Case, scenario=gradients)
robust = partial(ask, category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "attention_forward(q, k, v, mask=None)",
            oracle=forward,
            tolerance=last_places(8, absolute=8),
            cases=(
                Case("results", plain, scenario=result),
                Case("results_under_masks", results_under_masks, scenario=result),
                Case("shapes_disagree", disagreeing, scenario=result, raises=ValueError),
                Case("mask_of_another_shape", masks_of_other_shapes, scenario=result, raises=ValueError),
            ),
        ),
        Answer(
            "attention_backward(grad_output, cache)",
            oracle=backward,
            tolerance=last_places(8, absolute=16),  # if a query sees one key, terms of dk cancel
            cases=(
                ask("four_queries", lambda draw: heads(draw, 2, 3, 4, 5)),
                ask(
                    "sizes_of_the_seed",
                    lambda draw, B, H, S, T, d, e: heads(draw, B, H, S, T, d, e),
                    sizes={"B": (2, 5), "H": (2, 6), "S": (2, 7), "T": (2, 8), "d": (2, 9), "e": (2, 10)},
                ),
                ask("sizes_of_one", sizes_of_one),
                ask("equal_sizes", equal_sizes),
                ask("masks", masks, half=True),
                ask("zero_scores", zero_scores),
                Case("cache_serves_several_calls", some_hidden, scenario=one_cache),
                Case("caches_of_several_calls", some_hidden, scenario=several_caches),
                robust("rows_without_keys", rows_without_keys, half=True),
                robust(
                    "large_scores",
                    large_scores,
                    # In float32 the rounding of such scores alone changes the weights: they are only finite.
                    tolerance={torch.float32: Tolerance(0, 0, math.inf)},
                ),
                robust("rare_keys", rare_keys, dtypes=(torch.float64,), tolerance=EACH_SHARE),
                robust(
                    "one_tensor_for_all",
                    lambda draw: {"x": draw.normal(*draw.shape(4, most=6))},
                    scenario=one_tensor_for_all,
                ),
                robust("gradient_of_a_sum", lambda draw: without_upstream(some_hidden(draw)), scenario=summed),
                robust("nothing_is_written", some_hidden, scenario=nothing_written),
            ),
            budgets=(
                attention.small_heads(many, init=None, scenario=gradients),
                attention.long_sequences(many, init=None, scenario=gradients),
            ),
        ),
    ),
    banned=("autograd", *bans.ATTENTION),
)
