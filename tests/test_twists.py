"""The twists of all katas: there are many, their chains can be held, and what they say of torch is so."""

from __future__ import annotations

import itertools
import math

import torch
import torch.distributed.nn.functional as gathering
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from graders.catalogue import katas, texts
from graders.catalogue.stub import at_hand, bare, is_untouched, signatures, stub_for
from graders.interview import draw
from graders.interview.session import twists_of

LEAST, LEAST_CHAINS = 30, 20


def test_many_katas_have_a_twist_and_most_chains_fit_into_an_hour() -> None:
    every = {kata.id: kata for kata in katas.all_katas()}
    found = [kata for kata in every.values() if texts.interview_file(kata).exists() and texts.twist(kata)]
    chains = {before: after for before, after in twists_of(found).items() if after}
    assert len(found) >= LEAST
    assert len(chains) >= LEAST_CHAINS
    made = draw.Draw([*every.values()], 60, chains, None)
    assert sum(made.starts_a_chain(every[name]) for name in chains) >= LEAST_CHAINS


def test_own_code_stands_above_the_stub_of_what_it_turns_into() -> None:
    every = {kata.id: kata for kata in katas.all_katas()}
    for before, after in twists_of([*every.values()]).items():
        if after:
            code, stub = every[before].reference_file.read_text(), bare(stub_for(every[after]))
            text = at_hand(code, stub)
            assert text.startswith(code.rstrip())
            assert is_untouched(every[after], text)
            compile(text, after, "exec")
            assert every[after].grader.names[0] in signatures(stub)


def test_an_interview_of_45_minutes_has_a_chain_more_often_than_not() -> None:
    every = katas.all_katas()
    drawn = [draw.draw(every, 45, seed, twists_of(every)) for seed in range(100)]
    assert 55 <= sum(any(part.after for part in parts) for parts in drawn) <= 95


def test_probabilities_that_underflow_and_rows_that_see_nothing_have_no_gradient() -> None:
    """softmax, self_attention"""
    logits = torch.tensor([[-2000.0, 0.0]], requires_grad=True)
    (found,) = torch.autograd.grad(torch.softmax(logits, -1).log()[0, 0], logits)
    assert found.isnan().all()
    scores = torch.full((1, 3), -math.inf, requires_grad=True)
    zeroed = torch.where(torch.tensor(False), torch.softmax(scores, -1), 0.0)
    (found,) = torch.autograd.grad(zeroed.sum(), scores)
    assert found.isnan().all()


def test_bfloat16_loses_small_updates_and_a_slow_decay() -> None:
    """optimizers"""
    assert torch.tensor(1.0).bfloat16() * 0.999 == 1
    for value in torch.linspace(1, 2, 50).bfloat16():
        assert value + value / 520 == value


def test_the_first_step_of_momentum_is_the_gradient() -> None:
    """gradient_descent"""
    weight = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
    weight.grad = torch.tensor([2.0])
    optimizer.step()
    assert optimizer.state[weight]["momentum_buffer"] == 2


def test_gradients_that_the_answers_write_out() -> None:
    """layer_norm, info_nce_by_hand, contrastive_loss"""
    x, weight = torch.randn(4, 6, dtype=torch.float64, requires_grad=True), torch.randn(6, dtype=torch.float64)
    root = (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()
    arrived = torch.randn(4, 6, dtype=torch.float64)
    (found,) = torch.autograd.grad(x / root * weight, x, arrived)
    unit, g = x / root, arrived * weight
    torch.testing.assert_close(found, (g - unit * (g * unit).mean(-1, keepdim=True)) / root)

    n, rows = 3, torch.randn(6, 5, dtype=torch.float64, requires_grad=True)
    u, target = F.normalize(rows, dim=-1), (torch.arange(2 * n) + n) % (2 * n)
    logits = (u @ u.mT / 0.3).masked_fill(torch.eye(2 * n, dtype=torch.bool), -math.inf)
    (found,) = torch.autograd.grad(F.cross_entropy(logits, target), rows)
    of_logits = (logits.softmax(-1) - F.one_hot(target, 2 * n)) / (2 * n)
    g = (of_logits + of_logits.mT) @ u / 0.3
    torch.testing.assert_close(found, (g - (g * u).sum(-1, keepdim=True) * u) / rows.norm(dim=-1, keepdim=True))

    equal = torch.zeros(3, requires_grad=True)
    (found,) = torch.autograd.grad(equal.square().sum().sqrt(), equal)
    assert found.isnan().all()


def test_limits_of_group_norm_and_a_focal_loss_without_focus() -> None:
    """instance_norm, binary_cross_entropy"""
    x = torch.randn(2, 6, 5, dtype=torch.float64)
    torch.testing.assert_close(F.group_norm(x, 6), F.instance_norm(x))
    torch.testing.assert_close(F.group_norm(x, 1), F.layer_norm(x, (6, 5)))
    grouped = x.view(2, 3, -1)
    by_hand = (grouped - grouped.mean(-1, keepdim=True)) / (grouped.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(F.group_norm(x, 3), by_hand.view_as(x))
    logits, target = torch.randn(7, dtype=torch.float64), torch.arange(7.0, dtype=torch.float64) % 2
    right = torch.where(target > 0, logits.sigmoid(), (-logits).sigmoid())
    cross_entropy = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    torch.testing.assert_close(-0.5 * right.log(), cross_entropy / 2)


def test_heads_that_share_a_key_head_and_a_last_layer_of_zeros() -> None:
    """causal_attention, weight_init"""
    q, k = torch.randn(2, 6, 4, 3, dtype=torch.float64), torch.randn(2, 2, 4, 3, dtype=torch.float64)
    grouped = (q.view(2, 2, 3, 4, 3) @ k[:, :, None].mT).reshape(2, 6, 4, 4)
    torch.testing.assert_close(grouped, q @ k.repeat_interleave(3, 1).mT)
    assert not torch.allclose(grouped, q @ k.repeat(1, 3, 1, 1).mT)
    first, last = nn.Linear(3, 3), nn.Linear(3, 3)
    nn.init.zeros_(last.weight)
    (found,) = torch.autograd.grad(last(first(torch.randn(2, 3)).relu()).sum(), first.weight)
    assert not found.any()


def test_there_is_a_gathering_that_carries_gradients_back() -> None:
    """info_nce_chunked"""
    assert issubclass(gathering._AllGather, torch.autograd.Function)


def test_experts_one_after_the_other_and_tokens_one_by_one_give_the_same() -> None:
    """swiglu_mlp"""
    x, chosen = torch.randn(9, 4, dtype=torch.float64), torch.randn(9, 8, dtype=torch.float64)
    chosen[:, 3] = -100  # nothing goes to this expert
    experts = [nn.Linear(4, 4, dtype=torch.float64) for _ in range(8)]
    best = chosen.topk(2)
    weights, out = best.values.softmax(-1), torch.zeros_like(x)
    for e, expert in enumerate(experts):
        token, place = (best.indices == e).nonzero(as_tuple=True)
        out = out.index_add(0, token, weights[token, place, None] * expert(x[token]))
    by_tokens = [sum(w * experts[e](x[t]) for w, e in zip(weights[t], best.indices[t], strict=True)) for t in range(9)]
    torch.testing.assert_close(out, torch.stack([row for row in by_tokens if isinstance(row, torch.Tensor)]))


def test_a_baseline_with_the_own_reward_shrinks_the_expected_gradient() -> None:
    """grpo_loss"""
    batch, logits = 3, torch.randn(4, dtype=torch.float64, requires_grad=True)
    reward, logp = torch.randn(4, dtype=torch.float64), logits.log_softmax(-1)
    (plain,) = torch.autograd.grad((logp.detach().exp() * reward * logp).sum(), logits, retain_graph=True)
    found = {"others": torch.zeros(4, dtype=torch.float64), "all": torch.zeros(4, dtype=torch.float64)}
    for answers in itertools.product(range(4), repeat=batch):
        chosen = torch.tensor(answers)
        drawn, chance = reward[chosen], logp.detach()[chosen].sum().exp()
        for name, mean in (("others", (drawn.sum() - drawn) / (batch - 1)), ("all", drawn.mean())):
            objective = ((drawn - mean) * logp[chosen]).mean()
            found[name] += chance * torch.autograd.grad(objective, logits, retain_graph=True)[0]
    torch.testing.assert_close(found["others"], plain)
    torch.testing.assert_close(found["all"], (1 - 1 / batch) * plain)


def test_logistic_regression_of_several_classes() -> None:
    """linear_models"""
    torch.manual_seed(0)
    x, y = torch.randn(30, 3, dtype=torch.float64), torch.arange(30) % 4
    w, b = torch.randn(3, 4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)

    def loss(w: torch.Tensor, b: torch.Tensor, y: torch.Tensor, penalty: float) -> torch.Tensor:
        return F.cross_entropy(x @ w + b, y, reduction="sum") + 0.5 * penalty * w.square().sum()

    of_w, of_b = torch.func.grad(loss, (0, 1))(w, b, y, 0.7)
    rest = (x @ w + b).softmax(-1) - F.one_hot(y, 4)
    torch.testing.assert_close(of_w, x.mT @ rest + 0.7 * w)
    torch.testing.assert_close(of_b, rest.sum(0))

    torch.testing.assert_close(of_w.sum(1), 0.7 * w.sum(1))  # 0 at the minimum, so the rows of W sum to 0 there
    torch.testing.assert_close(loss(w, b + 5, y, 0.7), loss(w, b, y, 0.7))
    one, bias = w[:, 0], b[0]
    two = loss(torch.stack((-one, one), 1) / 2, torch.stack((-bias, bias)) / 2, y % 2, 0.7)
    binary = F.binary_cross_entropy_with_logits(x @ one + bias, (y % 2).double(), reduction="sum")
    torch.testing.assert_close(two, binary + 0.5 * 0.35 * one.square().sum())


def test_a_loss_in_chunks_has_the_gradients_of_the_loss_at_once() -> None:
    """mini_gpt"""
    table = torch.randn(11, 4, dtype=torch.float64, requires_grad=True)
    hidden, ids = torch.randn(2, 6, 4, dtype=torch.float64, requires_grad=True), torch.arange(12).view(2, 6) % 11
    rows, labels = hidden[:, :-1].reshape(-1, 4), ids[:, 1:].flatten()

    def part(rows: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(rows @ table.mT, labels, reduction="sum")

    once = torch.autograd.grad(F.cross_entropy(rows @ table.mT, labels), (hidden, table), retain_graph=True)
    cut = [slice(start, start + 3) for start in range(0, len(labels), 3)]
    parts = [checkpoint(part, rows[chunk], labels[chunk], use_reentrant=False) for chunk in cut]
    chunked = torch.autograd.grad(torch.stack(parts).sum() / len(labels), (hidden, table))
    torch.testing.assert_close(chunked, once)


def test_what_clipping_makes_of_gradients_that_are_not_finite() -> None:
    """train_step"""
    for entry, spoilt in ((math.inf, 1), (math.nan, 4)):
        weights = [nn.Parameter(torch.ones(2)) for _ in range(2)]
        for weight in weights:
            weight.grad = torch.ones(2)
        weights[0].grad = torch.tensor([entry, 1.0])
        assert not nn.utils.clip_grad_norm_(weights, 1.0).isfinite()
        assert sum(int(weight.grad.isnan().sum()) for weight in weights if weight.grad is not None) == spoilt
