"""The oracle of triplet_loss is a formula: held here against torch's own losses, which differ by their eps."""

import pytest
import torch
import torch.nn.functional as F

from graders.catalogue import katas
from graders.kata.draw import Draw

KATA = katas.find(["triplet_loss"])[0].module
EUCLIDEAN_WITHOUT_EPS = torch.nn.PairwiseDistance(eps=0.0)


def cosine_distance(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return 1 - F.cosine_similarity(x, y)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("margin", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_the_oracle_is_the_triplet_margin_loss(distance: str, margin: float, reduction: str) -> None:
    draw = Draw("oracle", distance, margin)
    names = ("anchor", "positive", "negative")
    ours = {name: draw.normal(9, 5).requires_grad_() for name in names}
    got = KATA.oracle(**ours, margin=margin, distance=distance, reduction=reduction)
    wanted = F.triplet_margin_with_distance_loss(
        *ours.values(),
        distance_function=EUCLIDEAN_WITHOUT_EPS if distance == "euclidean" else cosine_distance,
        margin=margin,
        reduction=reduction,
    )
    torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-12)
    pull = draw.normal(*got.shape)
    for one, other in zip(
        torch.autograd.grad(got, list(ours.values()), pull),
        torch.autograd.grad(wanted, list(ours.values()), pull),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-12)


def test_an_eps_on_the_differences_is_within_the_tolerance() -> None:
    made = KATA.triplets(Draw("eps"), 4, 2)
    close_to = F.triplet_margin_loss(made["anchor"], made["positive"], made["negative"])
    tolerance = KATA.WITH_EPS
    torch.testing.assert_close(KATA.oracle(**made), close_to, rtol=tolerance.relative, atol=tolerance.absolute)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
@pytest.mark.parametrize("margin", [0, 0.3, 1.0])
def test_no_hinge_is_near_its_kink(distance: str, margin: float, seed: int) -> None:
    made = KATA.triplets(Draw(seed), 4, 3, distance=distance, margin=margin, reduction="none")
    losses = KATA.oracle(**made)
    assert int((losses > 0).sum()) == 4
    raised = KATA.oracle(**(made | {"margin": margin + 0.14}))
    assert torch.equal(raised > 0, losses > 0)
    assert float(losses[losses > 0].min()) > 0.14


def test_where_anchor_equals_positive_any_gradient_is_right() -> None:
    anchor, negative = (Draw("equal", name).normal(3, 4).requires_grad_() for name in ("anchor", "negative"))
    positive = anchor.detach().clone().requires_grad_()
    loss = KATA.oracle(anchor, positive, negative, margin=10.0)
    of_anchor, of_positive, of_negative = torch.autograd.grad(loss, [anchor, positive, negative])
    assert of_anchor.isnan().all()
    assert of_positive.isnan().all()
    assert of_negative.isfinite().all()
