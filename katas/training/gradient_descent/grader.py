"""What is checked of gradient_descent and linear_regression_gd."""

from collections.abc import Callable

import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs, bans


def by_definition(loss_fn: Callable[..., Tensor], params: list[Tensor], lr: float, steps: int) -> list[float]:
    """As torch.optim.SGD does, which takes seconds to import all that it needs."""
    losses = []
    for _ in range(steps):
        loss = loss_fn(*params)
        for p, gradient in zip(params, torch.autograd.grad(loss, params), strict=True):
            p.data -= lr * gradient
        losses.append(loss.item())
    return losses


def regression_by_definition(x: Tensor, y: Tensor, lr: float, steps: int) -> tuple[Tensor, Tensor]:
    """With the gradients by hand: thousands of steps of autograd take tenths of a second."""
    w, b = x.new_zeros(x.shape[1]), x.new_zeros(())
    for _ in range(steps):
        slope = 2 * (x @ w + b - y) * (1 / len(x))
        w, b = w - lr * (x.mT @ slope), b - lr * slope.sum()
    return w, b


ONES = torch.ones(3)


# Scenarios. Most make a tensor of the losses: what is wrong with a tensor is told best.


def on_two(gradient_descent, a, b, target, lr, steps):
    a, b = (p.detach().clone().requires_grad_() for p in (a, b))
    losses = []
    for of_one_call in steps:
        losses += gradient_descent(lambda a, b: (a + b - target).square().sum(), [a, b], lr, of_one_call)
    return {"losses": a.new_tensor(losses), "a": a, "b": b}


def on_one(gradient_descent, w, steepness, target, lr, steps):
    w = w.detach().clone().requires_grad_()
    losses = gradient_descent(lambda w: (steepness * (w - target) ** 2).sum(), [w], lr, steps)
    return {"losses": w.new_tensor(losses), "w": w}


def on_a_column(gradient_descent, w, steepness, target, lr, steps):
    tables = [torch.stack([w.detach(), w.detach()], dim=1) for _ in range(2)]
    for part in (tables[0][:, 0], tables[1].mT):
        gradient_descent(lambda w: (steepness * (w - target) ** 2).sum(), [part.requires_grad_()], lr, steps)
    return {"table of a column": tables[0], "table that is transposed": tables[1]}


def on_a_network(gradient_descent, w1, b1, w2, s, x, y, old, lr, steps):
    w1, b1, w2, s = params = [p.detach().clone().requires_grad_() for p in (w1, b1, w2, s)]
    for p, number in zip(params, old, strict=True):
        p.grad = None if number is None else torch.full_like(p, float(number))
    losses = gradient_descent(lambda w, b, u, s: (torch.tanh(x @ w + b) @ u * s - y).square().mean(), params, lr, steps)
    ready = all(p.requires_grad for p in params)
    return {"losses": x.new_tensor(losses), "w1": w1, "b1": b1, "w2": w2, "s": s, "all require gradients": ready}


def what_is_left(gradient_descent, w, steepness, target, lr, steps):
    w = w.detach().clone().requires_grad_()
    params = [w]
    losses = gradient_descent(lambda w: (steepness * (w - target) ** 2).sum(), params, lr, steps)
    return {
        "losses are a": " of ".join([type(losses).__name__, *{type(loss).__name__ for loss in losses}]),
        "number of losses": len(losses),
        "params holds the same tensor": len(params) == 1 and params[0] is w,
        "params[0] is a leaf": w.is_leaf,
        "params[0] requires gradients": w.requires_grad,
        "gradients are recorded": torch.is_grad_enabled(),
    }


def requires_gradients(linear_regression_gd, x, y, lr, steps):
    w, b = linear_regression_gd(x, y, lr, steps)
    return {
        "w requires gradients": w.requires_grad,
        "b requires gradients": b.requires_grad,
        "gradients are recorded": torch.is_grad_enabled(),
    }


def network(steps: int, *old: float | str | None, N: int = 6, D: int = 4, H: int = 3) -> Inputs:
    """`old` is what each parameter's .grad holds before."""
    return lambda draw: (
        {"w1": draw.normal(D, H, std=D**-0.5), "b1": draw.normal(H), "w2": draw.normal(H, std=H**-0.5)}
        | {"s": torch.tensor(1.2), "x": draw.normal(N, D), "y": draw.normal(N)}
        | {"old": [*old] or [None] * 4, "lr": 0.02, "steps": steps}
    )


def bowl(entries: int = 3, lr: float = 0.1, steps: int = 4, steep: float = 1.0) -> Inputs:
    """With `steep` and three entries, steep along one axis and flat along another."""
    steepness = steep ** torch.linspace(1, -1, entries)
    return lambda draw: (
        {"w": draw.uniform(entries, low=2, high=4), "steepness": steepness, "target": draw.uniform(entries)}
        | {"lr": lr, "steps": steps}
    )


def swinging(draw: Draw) -> Arguments:
    """From one side of the minimum to the other and back, while the loss never changes."""
    return bowl(lr=1.0, steps=4)(draw) | {"w": 3 * ONES, "target": ONES}


def two(*steps: int) -> Inputs:
    return lambda draw: {name: draw.normal(3) for name in ("a", "b", "target")} | {"lr": 0.05, "steps": [*steps]}


def samples(N: int, D: int, lr: float = 0.1, steps: int = 4, std: float = 1.0) -> Inputs:
    def inputs(draw: Draw) -> Arguments:
        x = draw.normal(N, D, std=std, mean=0.5)
        return {"x": x, "y": x @ draw.normal(D) + 2 + draw.normal(N, std=0.3), "lr": lr, "steps": steps}

    return inputs


def any_bowl(draw: Draw) -> Arguments:
    return bowl(draw.size(4, 12), lr=draw.number(0.02, 0.2), steps=draw.size(5, 9))(draw)


def any_network(draw: Draw) -> Arguments:
    N, D, H = draw.shape(3)
    return network(draw.size(2, 9), N=N, D=D, H=H)(draw)


def any_samples(draw: Draw) -> Arguments:
    return samples(draw.size(8, 20), draw.size(2, 6), lr=draw.number(0.02, 0.1), steps=draw.size(2, 9))(draw)


def each(*made: Inputs) -> Inputs:
    return lambda draw: [one(draw) for one in made]


FLAT = bowl(1, lr=1e8, steep=1e-9)  # the gradient is tiny, the step is not
STALE = each(network(3, 100, 100, 100, 100), network(3, None, 100, None, None), network(3, 100, None, None, None))
TINY = each(samples(7, 3, lr=1e-6, steps=6), samples(7, 3, lr=1e-4, steps=1001))
GRADER = Grader(
    answers=(
        Answer(
            "gradient_descent(loss_fn, params, lr, steps)",
            oracle=by_definition,
            records=True,
            cases=(
                Case("two_coupled", two(3), scenario=on_two),
                Case(
                    "losses_and_parameters", each(bowl(), bowl(steps=0), bowl(lr=1e4, steps=90)), scenario=what_is_left
                ),
                Case("one_parameter", each(bowl(), any_bowl), scenario=on_one),
                Case("several_shapes", each(network(5), any_network), scenario=on_a_network),
                Case("no_steps", each(network(0), network(0, 2, 2, 2, 2)), scenario=on_a_network),
                Case("steep", each(bowl(lr=0.004, steep=100.0), bowl(lr=4e-5, steep=1e4), FLAT), scenario=on_one),
                Case("overshooting", bowl(lr=0.011, steep=100.0), scenario=on_one),
                # From step 36 on, the loss is infinite, and w is not.
                Case("to_infinity", bowl(lr=1e4, steps=40), scenario=on_one, dtypes=(torch.float64,)),
                Case("at_the_minimum", lambda draw: bowl()(draw) | {"w": ONES, "target": ONES}, scenario=on_one),
                Case("swinging", swinging, scenario=on_one),
                Case("no_rate", bowl(lr=0.0), scenario=on_one),
                Case("column_of_a_table", bowl(), scenario=on_a_column, category="robustness"),
                Case("two_calls_continue_one_another", two(3, 2), scenario=on_two, category="robustness"),
                Case("stale_gradients", STALE, scenario=on_a_network, category="robustness"),
                Case("stale_nan", network(3, *["nan"] * 4), scenario=on_a_network, category="robustness"),
            ),
            budgets=(
                Budget(
                    "many_steps",
                    {"steps": (4, 16)},
                    lambda draw, steps: network(steps, N=2048, D=8, H=32)(draw),
                    scenario=on_a_network,
                    asks=("memory",),
                    peak=2,  # what is large is made by the loss function
                    hints={"steps": "keep no graph of an earlier step"},
                ),
                Budget(
                    "many_entries",
                    {"entries": (256, 4096)},
                    lambda draw, entries: bowl(entries)(draw),
                    scenario=on_one,
                    asks=("loops",),
                    hints={"entries": "move all entries of a parameter at once"},
                ),
            ),
        ),
        Answer(
            "linear_regression_gd(x, y, lr, steps)",
            oracle=regression_by_definition,
            records=True,
            cases=(
                Case("seven_rows", samples(7, 3)),
                Case("result_has_no_graph", each(samples(7, 3), samples(7, 3, steps=0)), scenario=requires_gradients),
                Case("one_update", samples(7, 3, steps=1)),
                Case("no_updates", samples(7, 3, steps=0)),
                Case("as_many_rows_as_features", samples(4, 4, lr=0.05)),
                Case("more_features_than_rows", samples(3, 8, lr=0.02)),
                Case("one_feature", each(samples(6, 1), any_samples)),
                Case("one_row", each(samples(1, 3), samples(1, 1))),
                Case("ends_at_least_squares", samples(40, 3, lr=0.15, steps=200)),
                Case("far_features", samples(7, 3, lr=0.01, steps=5, std=5.0), category="robustness"),
                Case("too_large_a_rate", samples(7, 3, lr=1.5), category="robustness"),
                Case("tiny_rate", TINY, category="robustness"),
            ),
            budgets=(
                Budget(
                    "many_rows",
                    {"rows": (256, 2048), "features": (8, 32)},
                    lambda draw, rows, features: samples(rows, features, lr=0.01, steps=5)(draw),
                    written=30,  # float64 inside is welcome, and so is a column of ones behind x
                    peak=30,
                    hints={"rows": "take the residuals of all rows at once", "features": "multiply x with w at once"},
                ),
                Budget(
                    "many_updates",
                    {"steps": (8, 36)},
                    lambda draw, steps: samples(30_000, 2, lr=0.01, steps=steps)(draw),
                    asks=("memory",),
                    peak=4,
                    hints={"steps": "keep nothing of an earlier step"},
                ),
            ),
        ),
    ),
    banned=bans.OPTIMIZERS,
)
