"""What is checked of train_contrastive."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graders.kata import TOLERANCES, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Submission, Tolerance

# Where a gradient is near 0, Adam divides its rounding by 1e-8: steps differ by 1e-9, and what follows by some more.
UNCLIPPED = {torch.float64: Tolerance(1e-7, 1e-7, 1e-7)}
STILL = {torch.float64: Tolerance(1e-12, 1e-12, 1e-12), torch.float32: TOLERANCES[torch.float32]}


def by_definition(
    encoder: nn.Module, views: Tensor, epochs: int, lr: float, temperature: float, seed: int
) -> list[float]:
    """With Adam by hand: that of torch.optim takes seconds to import all that it needs."""
    torch.manual_seed(seed)
    encoder.train()
    params = [p for p in encoder.parameters() if p.requires_grad]
    moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in params]
    steps, means = 0, []
    for epoch in range(epochs):
        rate, losses = lr * (1 + math.cos(math.pi * epoch / epochs)) / 2, []
        for first, second in views:
            z = torch.cat([encoder(first), encoder(second)])
            z = z / z.square().sum(1, keepdim=True).sqrt()
            logits, N = z @ z.mT / temperature, len(first)
            others = logits.masked_fill(torch.eye(2 * N, dtype=torch.bool), -math.inf)
            loss = (others.logsumexp(1) - torch.cat([logits.diagonal(N), logits.diagonal(-N)])).mean()
            gradients = torch.autograd.grad(loss, params)
            norm = torch.cat([g.flatten() for g in gradients]).square().sum().sqrt()
            steps += 1
            for p, g, (m, v) in zip(params, gradients, moments, strict=True):
                g = g * (1 / (norm + 1e-6)).clamp(max=1)
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                p.data -= rate * m / (1 - 0.9**steps) / ((v / (1 - 0.999**steps)).sqrt() + 1e-8)
            losses.append(loss.item())
        means.append(sum(losses) / len(losses))
    return means


def train(train_contrastive, views, w, b, u, epochs, lr, temperature, seed, noise=0.0, old=None, frozen="", calls=1):
    """`old` fills each .grad before the call; `frozen` names parameters; the noise is drawn in train mode alone."""

    class Noise(nn.Module):
        def forward(self, h):
            return h + noise * torch.randn(h.shape).to(h) if self.training else h

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.b, self.u = (nn.Parameter(p.clone(memory_format=torch.contiguous_format)) for p in (w, b, u))
            self.noise = Noise()

        def forward(self, x):
            return self.noise(torch.tanh(x @ self.w + self.b)) @ self.u

    encoder = Encoder().eval()
    params = dict(encoder.named_parameters())
    for name, p in params.items():
        p.requires_grad_(name not in frozen)
        p.grad = None if old is None else torch.full_like(p, float(old))
    torch.manual_seed(seed + 1)
    losses = [train_contrastive(encoder, views, epochs, lr, temperature, seed) for _ in range(calls)]
    found = {"the result": " of ".join([type(losses[0]).__name__, *{type(loss).__name__ for loss in losses[0]}])}
    found["requires gradients"] = ", ".join(name for name, p in params.items() if p.requires_grad)
    return found | {"losses": w.new_tensor(losses)} | params


def batches(
    T: int = 3, N: int = 4, D: int = 4, H: int = 5, out: int = 3, scales: tuple[float, ...] = (1.0,), **options: object
) -> Inputs:
    """Views of T batches, whose features have these scales in turn; the encoder is D → H → out."""

    def inputs(draw: Draw) -> Arguments:
        samples = draw.normal(T, 1, N, D) + draw.normal(T, 2, N, D, std=0.7)
        views = samples * torch.tensor(scales).double().repeat(T)[:T, None, None, None]
        weights = {"w": draw.normal(D, H, std=D**-0.5), "b": draw.normal(H, std=0.3), "u": draw.normal(H, out)}
        settings = {"epochs": 3, "lr": 0.02, "temperature": 0.3, "seed": 7}
        return {"views": views, **weights, **settings, **options}

    return inputs


def any_size(draw: Draw) -> Arguments:
    sizes = dict(zip(("T", "N", "D", "H", "out"), (draw.size(2, 4), *draw.shape(4)), strict=True))
    options = {"epochs": draw.size(2, 5), "lr": draw.number(0.01, 0.05), "temperature": draw.number(0.2, 1)}
    return batches(**sizes, **options, seed=draw.size(8, 99_999))(draw)


def each(*made: Inputs) -> Inputs:
    return lambda draw: [one(draw) for one in made]


def shaped(*shapes: tuple[int, ...]) -> Inputs:
    return lambda draw: [batches()(draw) | {"views": draw.normal(*shape)} for shape in shapes]


def case(name: str, *made: Inputs, **options: Any) -> Case:
    return Case(name, each(*made), scenario=train, **options)


SCALED = (0.5, 1.0, 3.0)  # so that some gradients are longer than 1, and others are not
OTHER_SHAPES = ((3, 1, 4, 4), (3, 3, 4, 4), (4, 3, 4, 4), (3, 4, 2, 4), (3, 2, 4), (2, 4, 4), (4, 4), (3, 2, 2, 4, 4))
GRADER = Grader(
    answers=(
        Answer(
            "train_contrastive(encoder, views, epochs, lr, temperature, seed)",
            oracle=by_definition,
            half=False,
            records=True,
            tolerance={
                torch.float64: Tolerance(1e-6, 1e-6, 1e-6),  # clipping without torch's 1e-6 is welcome
                torch.float32: Tolerance(1e-4, 1e-5, 0.02),  # a step goes either way where a gradient is all rounding
            },
            cases=(
                case("three_batches", batches(scales=SCALED)),
                case("clipped_or_not", *(batches(scales=SCALED, temperature=t) for t in (0.05, 0.7))),
                case("never_clipped", batches(temperature=8), batches(T=2, N=6, temperature=20.0), tolerance=UNCLIPPED),
                case(
                    "other_sizes",
                    *(batches(T=2, N=2, H=3, out=2), batches(T=5, N=3, D=1), batches(T=1, N=9, D=7, H=8)),
                    any_size,
                ),
                case("epochs", batches(epochs=1), batches(T=1, epochs=1), batches(T=2, epochs=6, lr=0.05)),
                case("rates", *(batches(T=2, epochs=4, lr=lr) for lr in (1e-3, 0.1))),
                case("no_rate", batches(T=2, lr=0), batches(T=2, lr=0, noise=0.3), tolerance=STILL),
                case(
                    "random_encoder",
                    *(batches(noise=0.3, seed=seed) for seed in (0, 123456789)),
                    batches(T=1, epochs=16, lr=1e-3, noise=1.0),  # the last epoch is hardly ever the best
                ),
                case("frozen_parameters", *(batches(T=2, frozen=names) for names in ("w", "b u"))),
                case(
                    "stale_gradients",
                    *(batches(T=2, old=old, frozen=frozen) for old in (100, "nan") for frozen in ("", "w")),
                    category="robustness",
                ),
                case("called_again", batches(T=2, calls=2, noise=0.3), category="robustness"),
                Case("views_of_another_shape", shaped(*OTHER_SHAPES), scenario=train, raises=ValueError),
                case(
                    "temperature_not_above_0", *(batches(temperature=t) for t in (0.0, 0, -0.3, -2)), raises=ValueError
                ),
            ),
            budgets=(
                Budget(
                    "many_samples",
                    sizes={"samples": (32, 144), "features": (8, 64)},
                    inputs=lambda draw, samples, features: batches(1, samples, features, out=features, epochs=1)(draw),
                    scenario=train,
                    written=10,  # some masks and copies of all similarities are welcome
                    peak=12,
                    hints={
                        "samples": "work on all rows and on the whole (2N, 2N) matrix at once",
                        "features": "multiply matrices, rather than broadcast and sum",
                    },
                ),
            ),
        ),
    ),
)


def knn_accuracy(known: Tensor, labels: Tensor, asked: Tensor, truth: Tensor, k: int = 5) -> float:
    nearest = (F.normalize(asked, dim=1) @ F.normalize(known, dim=1).mT).topk(k).indices
    return (labels[nearest].mode(1).values == truth).double().mean().item()


def test_held_out_clusters_come_apart(submission: Submission, draw: Draw) -> None:
    """Half of the features tell the cluster; the other half, which is larger, is drawn anew for each view."""
    T, N, C, D, H = 4, 24, 4, 12, 16

    def seen(clusters: Tensor) -> Tensor:
        *shape, half = *clusters.shape, D // 2
        told = 3.0 * torch.eye(half, dtype=torch.float64)[clusters] + draw.normal(*shape, half, std=0.5)
        return torch.cat([told, draw.normal(*shape, half, std=3.0)], -1)

    def accuracy(p: Arguments) -> float:
        first, second = (torch.tanh(x @ p["w"] + p["b"]) @ p["u"] for x in (x, y))
        return knn_accuracy(first, known, second, asked)

    weights = {"w": draw.normal(D, H, std=0.5 * D**-0.5), "b": draw.normal(H, std=0.1), "u": draw.normal(H, 6)}
    views = seen(draw.integers(T, 1, N, high=C).expand(T, 2, N))
    known, asked = draw.integers(100, high=C), draw.integers(200, high=C)
    x, y = seen(known), seen(asked)
    trained = submission.run(train, views=views, **weights, epochs=12, lr=0.05, temperature=0.5, seed=1)
    before, after = accuracy(weights), accuracy(trained)
    first, *_, last = trained["losses"].flatten().tolist()
    assert last < first - 0.3, f"loss of the last epoch: should be 0.3 or more below the first's, {first}, got {last}"
    message = (
        f"5-NN accuracy on new samples after training: should be above 0.9 and above {before} (before), got {after}"
    )
    assert after > max(before, 0.9), message
