"""The figures that layer_norm's texts state."""

from __future__ import annotations

import math

import torch

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "layer_norm"
(FOUND,) = katas.find([KATA], ROOT)
layer_norm = load_module(FOUND.reference_file, "layer_norm_of_the_figures").layer_norm


def test_example_by_hand() -> None:
    x = torch.tensor([1.0, 3.0, 5.0, 7.0])
    assert [one.item() for one in (x.mean(), x.var(correction=0), x.square().mean())] == [4, 5, 21]
    assert [f"{(value - 4) / math.sqrt(5):.4f}" for value in (1, 3, 5)] == ["-1.3416", "-0.4472", "0.4472"]
    assert said(KATA, "(1 − 4) / √5 = −1.3416", "(3 − 4) / √5 = −0.4472", "−0.4472 + 1 = 0.5528", "2 · 0.4472 = 0.8944")
    assert (f"{math.sqrt(21):.2f}", f"{math.sqrt(5):.2f}") == ("4.58", "2.24")
    assert said(KATA, "it is 16 + 5 = 21, so RMS norm divides by 4.58 where layer norm divides by 2.24")
    assert (3 * 4 * 6 / 6, 3 * 4 * 6 / 24) == (12, 3)
    assert said(KATA, "`[6]` makes 12 blocks of 6 values, and `[4, 6]` makes 3 blocks of 24")
    size: object = torch.Size([4])
    assert size != [4]
    assert size == (4,)
    assert said(KATA, "`torch.Size([4]) == [4]` is False")


def test_std_of_torch() -> None:
    x = torch.tensor([1.0, 0.0, 0.0, 0.0])
    assert f"{((x - x.mean()) / x.std())[0]:.4f} {layer_norm(x, [4], eps=0.0)[0]:.4f}" == "1.5000 1.7321"
    assert f"{1.5 / math.sqrt(3):.9f} {math.sqrt(767 / 768):.5f}" == f"{math.sqrt(3 / 4):.9f} 0.99935"
    assert said(KATA, "becomes 1.5 instead of 1.7321, a factor of √(3/4). At n = 768 the factor is 0.99935")


def test_gradient_of_x() -> None:
    x, g = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64).unbind()
    y = layer_norm(x.requires_grad_(), [7], eps=0.0)
    torch.testing.assert_close(y.norm(dim=1), torch.full((3,), math.sqrt(7), dtype=torch.float64))
    (gradient,) = torch.autograd.grad(y, x, g)
    across = g - g.mean(1, keepdim=True) - y * (g * y).mean(1, keepdim=True)
    torch.testing.assert_close(gradient, across / x.std(1, correction=0, keepdim=True))
    assert max(gradient.sum(1).abs().max(), (gradient * y).sum(1).abs().max()) < 1e-12
    assert said(KATA, "dL/dx = (g − mean(g) − x̂ · mean(g · x̂)) / √(σ² + ε)", "on a sphere of radius √n")
    assert layer_norm(torch.tensor([5.0, 2.0]), [2], eps=0.0).tolist() == [1, -1]


def test_sizes_of_models() -> None:
    megabytes = 8 * 2048 * 4096 * 2 / 1e6
    assert (round(megabytes), round(2 * megabytes), f"{2 * megabytes / 3.35e6 * 1e3:.2f}") == (134, 268, "0.08")
    assert said(KATA, "x has 134 MB", "makes 268 MB, and takes at least 0.08 ms", "3.35 TB/s")
    assert ((2 * 12 + 1) * 2 * 768, f"{38_400 / 124e6:.2%}", math.sqrt(64)) == (38_400, "0.03%", 8)
    assert said(KATA, "25 · 2 · 768 = 38 400 of 124 million parameters, or 0.03 %", "8 for heads of 64")


def test_digits() -> None:
    assert f"{math.ulp(1e12):.5f} {2.0 ** (math.frexp(1e6)[1] - 24)}" == "0.00012 0.0625"
    assert said(KATA, "two numbers of about 10¹² from each other, which float64 stores in steps of 0.00012")
    assert said(KATA, "At mean 1000 and variance 1 both are about 10⁶, where float32 numbers are 0.0625 apart")
    half = torch.tensor([255.0, 256.0, 1e-12, 6e-8], dtype=torch.float16)
    assert half[:2].square().isinf().tolist() == [False, True]
    assert [value > 0 for value in half[2:]] == [False, True]
    assert said(KATA, "the square of 256 overflows, and bfloat16 has 8 bits of precision", "smallest number is 6e-8")


def test_folded_into_the_next_layer() -> None:
    W, gamma, beta, unit = (torch.tensor(pair) for pair in ([2.0, 3.0], [4.0, 5.0], [1.0, 2.0], [0.3, -0.7]))
    assert [*(W * gamma).tolist(), (W @ beta + 1).item()] == [8, 15, 9]
    torch.testing.assert_close(W @ (gamma * unit + beta) + 1, W * gamma @ unit + 9)
    assert said(KATA, "γ = (4, 5) and β = (1, 2) the weight becomes [8, 15] and the bias 2 + 6 + 1 = 9")
