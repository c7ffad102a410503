"""The figures that mlp_backprop's texts state."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.figures import normal, reference_of, said

KATA = "mlp_backprop"
REFERENCE = reference_of(KATA)


def loss(inputs: list[Tensor], target: Tensor) -> Tensor:
    return F.cross_entropy(REFERENCE.mlp_forward(*inputs)[0], target)


def gradients(inputs: list[Tensor], target: Tensor) -> dict[str, Tensor]:
    logits, cache = REFERENCE.mlp_forward(*inputs)
    found: dict[str, Tensor] = REFERENCE.mlp_backward(logits, target, cache)
    return found


def test_reference_agrees_with_autograd() -> None:
    inputs, target = network()
    parameters = [parameter.requires_grad_() for parameter in inputs[1:]]
    expected = torch.autograd.grad(loss(inputs, target), parameters)
    torch.testing.assert_close(tuple(gradients(inputs, target).values()), expected)
    assert said(KATA, "the gradient is (p − y) / N")


def test_with_one_class_all_gradients_are_0() -> None:
    inputs, target = network()
    one_class = [*inputs[:3], inputs[3][:, :1], inputs[4][:1]]
    assert all((gradient == 0).all() for gradient in gradients(one_class, torch.zeros_like(target)).values())
    assert said(KATA, "With one class all gradients are 0")


def test_backward_of_a_vector_wants_a_vector_to_pull_back() -> None:
    x = normal(4).requires_grad_()
    losses = x**2
    with pytest.raises(RuntimeError, match="scalar outputs"):
        torch.autograd.grad(losses, x, retain_graph=True)
    (pulled,) = torch.autograd.grad(losses, x, torch.ones_like(x), retain_graph=True)
    torch.testing.assert_close(pulled, torch.autograd.grad(losses.sum(), x)[0])
    assert said(KATA, "a vector of ones gives the gradient of the sum of the losses")


def test_norm_of_the_gradient_of_each_sample() -> None:
    inputs, target = network()
    for n in range(5):
        x = inputs[0][n : n + 1]
        found = gradients([x, *inputs[1:]], target[n : n + 1])
        torch.testing.assert_close(found["w1"].norm(), x.norm() * found["b1"].norm())
        both = torch.cat([found["w1"], found["b1"][None]]).norm()
        torch.testing.assert_close(both, found["b1"].norm() * (x.norm() ** 2 + 1).sqrt())
    assert said(KATA, "‖x_n‖ · ‖δ_n‖", "‖δ_n‖ · √(‖x_n‖² + 1)")


def test_autograd_refuses_what_was_modified() -> None:
    x = normal(4).requires_grad_()
    p = torch.softmax(x, dim=0)
    p[0] -= 1
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        torch.autograd.grad(p.sum(), x)
    assert said(
        KATA, '"one of the variables needed for gradient computation has been modified by an inplace operation"'
    )


def network() -> tuple[list[Tensor], Tensor]:
    """x and the four parameters at N, D, H, C = 5, 4, 6, 3, and the targets."""
    shapes = ((5, 4), (4, 6), (6,), (6, 3), (3,))
    return [normal(*shape) for shape in shapes], torch.tensor([0, 2, 1, 1, 0])


def test_example_by_hand() -> None:
    x, w1, w2 = torch.tensor([[[1.0, 2], [3, -1]], [[1, -1], [0, 1]], [[1, 0], [2, 0]]])
    logits, cache = REFERENCE.mlp_forward(x, w1, torch.zeros(2), w2, torch.tensor([0.0, 3]))
    assert (logits == 3).all()
    found = REFERENCE.mlp_backward(logits, torch.tensor([0, 0]), cache)
    d_z, d_a = torch.tensor([-0.25, 0.25]), torch.tensor([[-0.25, -0.5], [-0.25, 0]])
    assert torch.equal(found["b2"], 2 * d_z)
    assert torch.equal(found["w2"], torch.stack([(1 + 3) * d_z, (1 + 0) * d_z]))
    assert torch.equal(found["b1"], d_a.sum(0))
    assert found["w1"].tolist() == [[-1, -0.5], [-0.25, -1]]
    assert said(KATA, "∂L/∂z is (−0.25, 0.25)", "∂L/∂a is (−0.25, −0.5) and (−0.25, 0)")
    assert said(KATA, "(1 + 3) · (−0.25, 0.25), its second (1 + 0) · (−0.25, 0.25)")


def test_two_inputs_of_a_gelu_have_one_output() -> None:
    outputs = F.gelu(torch.linspace(-4, 0, 401, dtype=torch.float64))
    assert 0 < (lowest := int(outputs.argmin())) < 400
    assert (outputs[: lowest + 1].diff() < 0).all()
    assert (outputs[lowest:].diff() > 0).all()
    x = normal(9).requires_grad_()
    h = torch.stack([x.relu(), x.sigmoid(), x.tanh()])
    slopes = torch.stack([torch.autograd.grad(row.sum(), x, retain_graph=True)[0] for row in h])
    torch.testing.assert_close(slopes, torch.stack([(h[0] > 0).double(), h[1] * (1 - h[1]), 1 - h[2] ** 2]))
    assert said(KATA, "their slopes are [h > 0], h (1 − h) and 1 − h²", "it falls before it rises")


def test_error_of_central_differences() -> None:
    h, (inputs, target) = 1e-5, network()
    w1 = gradients(inputs, target)["w1"]
    moved = h * F.one_hot(torch.tensor([8]), 24).view(4, 6)
    up, down = (loss([inputs[0], inputs[1] + sign * moved, *inputs[2:]], target) for sign in (1, -1))
    assert abs((up - down) / (2 * h) - w1[1, 2]) < 1e-9
    assert said(KATA, "with h about 1e-5")


def test_zeros_teach_only_b2_and_equal_weights_make_copies() -> None:
    inputs, target = network()
    found = gradients([inputs[0], *(torch.zeros_like(parameter) for parameter in inputs[1:])], target)
    assert [name for name, gradient in found.items() if gradient.any()] == ["b2"]
    parameters = [torch.full_like(parameter, 0.1) for parameter in inputs[1:]]
    for _ in range(3):
        found = gradients([inputs[0], *parameters], target)
        parameters = [parameter - gradient for parameter, gradient in zip(parameters, found.values(), strict=True)]
    assert parameters[2].std(dim=1).min() > 0.01
    assert max(parameters[0].std(dim=1).max(), parameters[2].std(dim=0).max()) < 1e-12
    assert said(KATA, "Only b2.", "remain copies of each other")


def test_dead_unit_has_no_gradient() -> None:
    inputs, target = network()
    inputs[2][3] = -100
    found = gradients(inputs, target)
    assert not any(one.any() for one in (found["w1"][:, 3], found["b1"][3], found["w2"][3]))
    assert said(KATA, "its column of w1, its b1 and its row of w2 have a gradient of exactly 0")


def test_micro_batches_are_weighted_by_their_size() -> None:
    inputs, target = network()
    small, large = (gradients([inputs[0][rows], *inputs[1:]], target[rows]) for rows in (slice(1), slice(1, 5)))
    for name, whole in gradients(inputs, target).items():
        torch.testing.assert_close(1 / 5 * small[name] + 4 / 5 * large[name], whole)
    assert torch.tensor(1024 * 1e-4 / 4096, dtype=torch.float16) > 0
    assert said(KATA, "10/100 of the first mean plus 90/100 of the second")
