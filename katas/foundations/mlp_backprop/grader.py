"""What is checked of mlp_forward and mlp_backward."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import HALF, Answer, Arguments, Budget, Case, Draw, Grader, Tolerance, bans, last_places


def forward(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    return torch.relu(x @ w1 + b1) @ w2 + b2, (x, w1, b1, w2, b2)


def backward(logits: Tensor, target: Tensor, cache: tuple[Tensor, ...]) -> dict[str, Tensor]:
    x, *parameters = (tensor.detach().requires_grad_() for tensor in cache)
    loss = F.cross_entropy(forward(x, *parameters)[0], target)
    return dict(zip(("w1", "b1", "w2", "b2"), torch.autograd.grad(loss, parameters), strict=True))


def logits(mlp_forward, x, w1, b1, w2, b2):
    logits, _ = mlp_forward(x, w1, b1, w2, b2)
    return logits


def gradients(mlp_forward, mlp_backward, x, w1, b1, w2, b2, target):
    logits, cache = mlp_forward(x, w1, b1, w2, b2)
    kept = logits.clone()
    found = mlp_backward(logits, target, cache)
    return {"logits": kept} | {name: found[name] for name in ("w1", "b1", "w2", "b2")}


def one_cache(mlp_forward, mlp_backward, x, w1, b1, w2, b2, target):
    logits, cache = mlp_forward(x, w1, b1, w2, b2)
    found = [mlp_backward(logits, target.roll(steps), cache) for steps in (0, 1, 2)]
    return [{name: one[name] for name in ("w1", "b1", "w2", "b2")} for one in found]


def three_caches(mlp_forward, mlp_backward, x, w1, b1, w2, b2, target):
    networks = [
        (x, w1, b1, w2, b2),
        (x, -w1, b1, w2, b2),
        (x.flip(0), w1, b1, -w2, b2),
        (x[:2], w1[:, :1], b1[:1], w2[:1], b2),
    ]
    made = [mlp_forward(*network) for network in networks]
    found = [mlp_backward(logits, target[: len(logits)], cache) for logits, cache in made]
    return [{name: one[name] for name in ("w1", "b1", "w2", "b2")} for one in found]


def nothing_written(mlp_forward, mlp_backward, x, w1, b1, w2, b2, target):
    inputs = [tensor.clone().requires_grad_() for tensor in (x, w1, b1, w2, b2)]
    logits, cache = mlp_forward(*inputs)
    copy = logits.detach().T.contiguous().T  # the same values, column by column in memory
    found = mlp_backward(copy, target, cache)
    result = {name: found[name] for name in ("w1", "b1", "w2", "b2")}
    result["the logits are left alone"] = torch.equal(copy, logits)
    result["every input requires grad"] = all(tensor.requires_grad for tensor in inputs)
    return result | {"every .grad is None": all(tensor.grad is None for tensor in inputs)}


def drawn(draw: Draw, N: int = 6, D: int = 4, H: int = 8, C: int = 5, far: float = 1, scale: float = 1) -> Arguments:
    """No pre-activation is so near 0, and no two far logits are so near each other, that rounding decides."""
    w1, b1 = draw.normal(D, H, std=D**-0.5), draw.normal(H, std=0.5)
    w2, b2 = draw.normal(H, C, std=far * H**-0.5), draw.normal(C, std=0.5)
    x = draw.normal(4 * N + 8, D)
    margin = (x @ w1 + b1).abs().amin(1)
    if far > 1:
        first, second = forward(x, w1, b1, w2, b2)[0].topk(2).values.T
        margin = torch.minimum(margin, (first - second) / far)
    given = {"x": x[margin.topk(N).indices] * scale, "w1": w1, "b1": b1 * scale, "w2": w2, "b2": b2}
    return given | {"target": draw.integers(N, high=C)}


def sizes_of_one(draw: Draw) -> list[Arguments]:
    return [drawn(draw, **{axis: 1}) for axis in "NDHC"]


def no_targets(draw: Draw) -> list[Arguments]:
    made = [drawn(draw, C=3), *sizes_of_one(draw), drawn(draw, *draw.shape(4))]
    return [{name: value for name, value in one.items() if name != "target"} for one in made]


def absent_classes(draw: Draw) -> list[Arguments]:
    last = drawn(draw, C=7) | {"target": draw.integers(6, high=5)}
    return [last, drawn(draw) | {"target": torch.full((6,), 2)}]


def hundreds_of_classes(draw: Draw) -> Arguments:
    """Some of them are odd and above 256, which bfloat16 does not know."""
    made = drawn(draw, N=9, C=300)
    made["target"][:4] = torch.tensor([257, 259, 283, 299])
    return made


def moderate_logits(draw: Draw) -> list[Arguments]:
    """Shares of every size from 1 down, of which none is rounded to 0; then two classes that no row is likely to have,
    with shares of 1e-6 and 1e-10, and gradients as small."""
    rare = drawn(draw, C=7, far=3) | {"target": draw.integers(6, high=5)}
    rare["b2"][5:] -= torch.tensor([14.0, 23.0])
    return [drawn(draw, far=12), rare]


def shifted_logits(draw: Draw) -> list[Arguments]:
    """All rows are shifted alike; then, by up to 3000, those in which the first unit is open: some, but not all."""
    alike, apart = drawn(draw), drawn(draw)
    alike["b2"] += 1e4
    before = apart["x"] @ apart["w1"][:, 0]
    scale = 3000 / (before.max() - before.mean())
    apart["w1"][:, 0] *= scale
    apart["b1"][0], apart["w2"][0] = -before.mean() * scale, 1
    return [alike, apart]


def units_always_closed_or_open(draw: Draw) -> Arguments:
    made = drawn(draw)
    made["b1"][:3] = torch.tensor([-100.0, -100, 100])
    return made


EACH_SHARE = {torch.float64: Tolerance(1e-5, 0, 1e-14)}
ask = partial(Case, scenario=gradients)
robust = partial(ask, category="robustness")
GRADER = Grader(
    answers=(
        Answer("mlp_forward(x, w1, b1, w2, b2)", oracle=forward, cases=(ask("logits", no_targets, scenario=logits),)),
        Answer(
            "mlp_backward(logits, target, cache)",
            oracle=backward,
            cases=(
                # Small gradients are sums of larger terms.
                ask("five_by_four", partial(drawn, N=5, H=6, C=3), tolerance=last_places(4, absolute=1)),
                ask("sizes_of_one", sizes_of_one),
                ask("square", partial(drawn, N=4, H=4, C=4)),
                ask("hundreds_of_samples", lambda draw: [drawn(draw, N=300), drawn(draw, *draw.shape(4))]),
                ask("hundreds_of_classes", hundreds_of_classes, half=True),
                ask("absent_classes", absent_classes),
                ask("cache_serves_several_calls", drawn, scenario=one_cache),
                ask("caches_of_several_calls", drawn, scenario=three_caches),
                robust("far_logits", partial(drawn, far=1e4)),
                robust("moderate_logits", moderate_logits, dtypes=(torch.float64,), tolerance=EACH_SHARE),
                robust("far_logits_in_half", partial(drawn, far=300), dtypes=HALF),
                # In float32 the rounding of such logits alone changes the probabilities.
                robust("shifted_logits", shifted_logits, dtypes=(torch.float64,)),
                robust("tiny_activations", partial(drawn, scale=1e-9)),
                robust("activations_below_float32", partial(drawn, scale=1e-60), dtypes=(torch.float64,)),
                robust("units_always_closed_or_open", units_always_closed_or_open),
                robust("nothing_is_written", drawn, scenario=nothing_written),
            ),
            budgets=(
                Budget(
                    "many_samples",
                    sizes={"samples": (64, 512), "features": (16, 64), "units": (16, 128), "classes": (8, 64)},
                    inputs=lambda draw, **sizes: drawn(draw, *sizes.values()),
                    scenario=gradients,
                    hints={
                        "samples": "a matrix product takes all rows at once, and adds them up",
                        "features": "a product with x transposed gives the gradients of all features at once",
                        "units": "the mask is multiplied entry by entry, and a matrix product takes all units at once",
                    },
                ),
                Budget(
                    "many_classes",
                    sizes={"samples": (4, 16), "classes": (256, 2048)},
                    inputs=lambda draw, samples, classes: drawn(draw, samples, 8, 64, classes),
                    scenario=gradients,
                    hints={"classes": "softmax minus one-hot is (N, C), and needs no C × C matrix"},
                ),
            ),
        ),
    ),
    banned=("autograd", *bans.CROSS_ENTROPY),
)
