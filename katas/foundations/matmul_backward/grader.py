"""What is checked of MatMul, chain_matmul and chain_matmul_backward."""

import functools
from typing import Any

import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs


class RightMatMul(torch.autograd.Function):
    """Backward is torch's own."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(a, b)
        return torch.matmul(a, b)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        with torch.enable_grad():
            a, b = (one.detach().requires_grad_() for one in ctx.saved_tensors)
            found = torch.autograd.grad((a @ b * grad_output).sum(), (a, b))
        return tuple(one if needed else None for one, needed in zip(found, ctx.needs_input_grad, strict=True))


def chain(matrices: list[Tensor]) -> Tensor:
    return functools.reduce(torch.matmul, matrices)


def chain_by_autograd(grad_output: Tensor, matrices: list[Tensor]) -> list[Tensor]:
    leaves = [matrix.detach().clone().requires_grad_() for matrix in matrices]
    return [*torch.autograd.grad((chain(leaves) * grad_output).sum(), leaves)]


# Scenarios. A list of matrices comes as one tensor, with the list's length in front.


def product(MatMul, a, b):
    return MatMul.apply(a, b)


def several_calls(MatMul, a, b, c):
    first, second = MatMul.apply(a, b), MatMul.apply(b, c)
    return {"a b": first, "b c": second, "(a b) c": MatMul.apply(first, c), "b b": MatMul.apply(b, b)}


def used_further(MatMul, a, b, c):
    made = [MatMul.apply(a, b) for _ in range(3)]
    return {"sum": made[0].sum(), "transposed": made[1].mT, "c + a b": c + made[2]}


def what_comes_back(MatMul, a, b, grad_output, needed):
    noted = "forward" if MatMul.setup_context is torch.autograd.Function.setup_context else "setup_context"
    own, seen = getattr(MatMul, noted), []

    def noting(ctx, *given):
        seen.append(ctx)
        return own(ctx, *given)

    setattr(MatMul, noted, staticmethod(noting))
    try:
        with torch.enable_grad():
            result = MatMul.apply(*(one.detach().requires_grad_(name in needed) for name, one in (("a", a), ("b", b))))
    finally:
        setattr(MatMul, noted, staticmethod(own))
    with torch.no_grad():
        d_a, d_b = MatMul.backward(seen[0], grad_output)
    return {"the result": result.detach(), "the gradient of a": d_a, "the gradient of b": d_b}


def of_list(chain_matmul, stacked):
    return chain_matmul([*stacked])


def of_gradients(chain_matmul_backward, grad_output, stacked):
    return chain_matmul_backward(grad_output, [*stacked])


def of_both(chain_matmul, chain_matmul_backward, grad_output, stacked):
    return [chain_matmul([*stacked]), *chain_matmul_backward(grad_output, [*stacked])]


def with_another(chain_matmul, stacked, other, place):
    return chain_matmul([*stacked[:place], other, *stacked[place:]])


def gradients_with_another(chain_matmul_backward, grad_output, stacked, other, place):
    return chain_matmul_backward(grad_output, [*stacked[:place], other, *stacked[place:]])


def one_tensor_several_times(chain_matmul, chain_matmul_backward, m, other):
    lists = {"m m m": [m, m, m], "m mᵀ m": [m, m.mT, m], "m other m other": [m, other, m, other]}
    return {name: [chain_matmul(one), *chain_matmul_backward(m, one)] for name, one in lists.items()}


def nothing_written(chain_matmul, chain_matmul_backward, grad_output, stacked):
    listed = [matrix.detach().clone().requires_grad_() for matrix in stacked]
    upstream, before = grad_output.detach().clone(), [*listed]
    chain_matmul(listed)
    chain_matmul_backward(upstream, listed)
    found = [chain_matmul_backward(each, listed) for each in (upstream, upstream.mT)]
    return {
        "the gradients in a second and a third call": [[one.detach() for one in each] for each in found],
        "the length of the list": len(listed),
        "the list holds the same tensors": all(map(lambda one, other: one is other, listed, before)),
        "the matrices have their values": all(map(torch.equal, listed, stacked)),
        "grad_output has its values": torch.equal(upstream, grad_output),
        "every .grad is None": all(one.grad is None for one in listed),
    }


def pair(draw: Draw, a: tuple[int, ...], b: tuple[int, ...]) -> Arguments:
    return {"a": draw.normal(*a), "b": draw.normal(*b)}


BROADCAST: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (1, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (3, 4)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((2, 1, 3, 4), (1, 5, 4, 3)),
    ((2, 3), (1, 2, 3, 2)),
    ((3, 3, 3), (3, 3)),  # every axis of one length
    ((3, 1, 3, 3), (3, 3, 3)),
)
ONES = (((1, 1), (1, 1)), ((1, 4), (4, 1)), ((3, 1), (1, 5)), ((2, 1, 3), (2, 3, 1)), ((1, 1, 1, 1), (1, 1)))


def broadcast(draw: Draw) -> list[Arguments]:
    B, C, m, k, n = draw.shape(5, most=7)
    drawn = (((B, C, m, k), (C, k, n)), ((C, m, k), (B, C, k, n)), ((B, 1, m, k), (C, k, n)), ((B, 1, m, k), (k, n)))
    return [pair(draw, *shapes) for shapes in (*BROADCAST, *drawn)]


def pulled_back(draw: Draw, *needed: str) -> list[Arguments]:
    """With the gradient that arrives, and the names of the inputs that need one."""
    made = [*broadcast(draw), pair(draw, (2, 3), (3, 4)), pair(draw, (5, 2, 3), (5, 3, 4))]
    return [
        one | {"grad_output": draw.normal(*(one["a"] @ one["b"]).shape), "needed": some}
        for one in made
        for some in needed
    ]


def square(draw: Draw) -> list[Arguments]:
    return [pair(draw, shape, shape) for shape in ((3, 3), (4, 4), (2, 3, 3), (3, 3, 3))]


def three(draw: Draw) -> Arguments:
    """a b, b c, (a b) c and b b exist."""
    m, k = draw.shape(2)
    return {"a": draw.normal(m, k), "b": draw.normal(k, k), "c": draw.normal(k, k)}


def further(draw: Draw) -> list[Arguments]:
    """c has the shape of a b."""
    B, m, k, n = draw.shape(4)
    shapes = (((m, k), (k, n), (m, n)), ((B, m, k), (k, n), (B, m, n)), ((m, k), (B, k, n), (B, m, n)))
    return [{name: draw.normal(*shape) for name, shape in zip("abc", some, strict=True)} for some in shapes]


def unfit(*shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> Inputs:
    return lambda draw: [pair(draw, *some) for some in shapes]


def of_shape(k: int, *batch: int, n: int = 4) -> Inputs:
    """Matrices whose product is about as large as one of them."""
    return lambda draw: [{"stacked": draw.normal(k, *batch, n, n, std=n**-0.5)}]


def with_gradient(inputs: Inputs) -> Inputs:
    return lambda draw: [{"grad_output": draw.normal(*one["stacked"].shape[1:]), **one} for one in inputs(draw)]


def chains(draw: Draw) -> list[Arguments]:
    shapes = ((1, 4), (2, 4), (3, 4), (4, 4), (5, 3), (8, 3), (2, 2, 3), (3, 3, 3), (4, 2, 5, 3), (1, 2, 3))
    shapes = (
        *shapes,
        draw.shape(4, most=6),
        draw.shape(3, most=7),
        draw.shape(2, least=3, most=12),
        (draw.size(2, 9), 1),
    )
    return [one for k, *batch, n in shapes for one in of_shape(k, *batch, n=n)(draw)]


def singular(draw: Draw) -> list[Arguments]:
    """One of four matrices is 0, of rank 1, or has a column of zeros; then all have rank 1; then three numbers."""
    made = [one for shape in ((4,), (4,), (4,), (3, 2)) for one in of_shape(*shape)(draw)]
    made[0]["stacked"][draw.size(0, 3)] = 0
    made[1]["stacked"][draw.size(0, 3), :, 0] = 0
    made[2]["stacked"] = made[2]["stacked"][..., :1] @ draw.normal(4, 1, 4)
    made[3]["stacked"][1, 0] = 1
    return [*made, {"stacked": torch.tensor([0.5, 0, -2]).double()[:, None, None]}]


def sizes_apart(draw: Draw) -> list[Arguments]:
    """Small matrices stand beside large ones, whose order the seed chooses."""
    made = draw.normal(5, 4, 4, std=0.5)
    scales = torch.tensor([1e-4, 1e4, 1e-2, 1e2, 1]).double()[draw.permutation(5)]
    return [{"stacked": made * scales[:, None, None]}]


def without_matrices(draw: Draw) -> list[Arguments]:
    return [{"stacked": torch.zeros(0, *shape).double()} for shape in ((3, 3), (2, 3, 3))]


def of_other_shapes(draw: Draw) -> list[Arguments]:
    """One is; the others have one shape. Some would broadcast, some have an entry for each of the others'."""
    shapes = (((3, 3), (4, 4)), ((3, 3), (1, 1)), ((2, 3, 3), (3, 3)), ((2, 3, 3), (1, 3, 3)), ((3, 3), (2, 3, 3)))
    shapes = (*shapes, ((2, 3, 3), (3, 3, 3)), ((2, 3, 3), (1, 2, 3, 3)), ((3, 3), (3, 4)), ((3, 3), (4, 3)))
    return [
        {"stacked": draw.normal(2, *usual), "other": draw.normal(*other), "place": i % 3}
        for i, (usual, other) in enumerate(shapes)
    ]


def two_of_one_shape(draw: Draw) -> Arguments:
    n = draw.size(3, 6)
    return {name: draw.normal(n, n, std=n**-0.5) for name in ("m", "other")}


robust = functools.partial(Case, category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "class MatMul",
            oracle=RightMatMul,
            differentiable=("a", "b", "c"),
            cases=(
                Case("two_matrices", lambda draw: pair(draw, (3, 4), (4, 5)), scenario=product),
                Case("square_matrices", square, scenario=product),
                Case(
                    "sizes_of_the_seed",
                    lambda draw, B, m, k, n: [pair(draw, (m, k), (k, n)), pair(draw, (B, m, k), (B, k, n))],
                    sizes={"B": (2, 6), "m": (2, 9), "k": (2, 9), "n": (2, 9)},
                    scenario=product,
                ),
                Case("batch_axes_broadcast", broadcast, scenario=product, half=True),
                Case("sizes_of_one", lambda draw: [pair(draw, *shapes) for shapes in ONES], scenario=product),
                Case("several_calls", three, scenario=several_calls),
                Case(
                    "what_backward_returns",
                    lambda draw: pulled_back(draw, "ab"),
                    scenario=what_comes_back,
                    gradients="none",
                ),
                robust("used_further", further, scenario=used_further),
                robust(
                    "needs_input_grad",
                    lambda draw: pulled_back(draw, "a", "b"),
                    scenario=what_comes_back,
                    gradients="none",
                ),
                Case(
                    "fewer_than_two_axes",
                    unfit(
                        ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,)), ((), (1, 1))
                    ),
                    scenario=product,
                    raises=ValueError,
                ),
                Case(
                    "inner_sizes_differ",
                    unfit(
                        ((2, 3), (4, 2)), ((2, 3), (2, 3)), ((2, 3), (1, 4)), ((2, 1), (3, 4)), ((5, 2, 3), (5, 2, 3))
                    ),
                    scenario=product,
                    raises=ValueError,
                ),
                Case(
                    "batch_axes_do_not_broadcast",
                    unfit(((5, 2, 3), (4, 3, 4)), ((2, 5, 2, 3), (4, 1, 3, 4)), ((2, 1, 2, 3), (3, 5, 3, 4))),
                    scenario=product,
                    raises=ValueError,
                ),
            ),
            budgets=(
                Budget(
                    "large_batches",
                    sizes={"batch": (4, 32), "rows": (8, 32), "inner": (8, 32), "columns": (8, 32)},
                    peak=3,
                    inputs=lambda draw, batch, rows, inner, columns: pair(
                        draw, (batch, rows, inner), (batch, inner, columns)
                    ),
                    scenario=product,
                    hints={
                        "batch": "@ multiplies all matrices of a batch",
                        "inner": "@ itself sums over the inner axis, and makes no table of all products",
                    },
                ),
            ),
        ),
        Answer(
            "chain_matmul(matrices)",
            oracle=chain,
            cases=(
                Case("product_of_three", of_shape(3), scenario=of_list),
                Case("product_of_any_number", chains, scenario=of_list),
                Case("product_of_no_matrix", without_matrices, scenario=of_list, raises=ValueError),
                Case("product_of_other_shapes", of_other_shapes, scenario=with_another, raises=ValueError),
            ),
        ),
        Answer(
            "chain_matmul_backward(grad_output, matrices)",
            oracle=chain_by_autograd,
            cases=(
                Case(
                    "gradients_of_three",
                    with_gradient(of_shape(3)),
                    scenario=of_gradients,
                ),
                Case("gradients_of_any_number", with_gradient(chains), scenario=of_gradients),
                Case("singular_matrices", with_gradient(singular), scenario=of_gradients),
                robust("sizes_far_apart", with_gradient(sizes_apart), scenario=of_gradients),
                robust("one_tensor_several_times", two_of_one_shape, scenario=one_tensor_several_times),
                robust(
                    "nothing_is_written",
                    with_gradient(lambda draw: [*of_shape(4)(draw), *of_shape(1)(draw)]),
                    scenario=nothing_written,
                ),
                Case(
                    "gradients_of_no_matrix", with_gradient(without_matrices), scenario=of_gradients, raises=ValueError
                ),
                Case(
                    "gradients_of_other_shapes",
                    with_gradient(of_other_shapes),
                    scenario=gradients_with_another,
                    raises=ValueError,
                ),
            ),
            budgets=(
                Budget(
                    "long_chains",
                    sizes={"matrices": (16, 64), "rows": (16, 64)},
                    inputs=lambda draw, matrices, rows: with_gradient(of_shape(matrices, n=rows))(draw)[0],
                    scenario=of_both,
                    asks=("memory",),
                    written=5,
                    hints={"matrices": "each product before or after a matrix is its neighbour's times one matrix"},
                ),
                Budget(
                    "many_chains",
                    sizes={"batch": (32, 256)},
                    inputs=lambda draw, batch: with_gradient(of_shape(4, batch))(draw)[0],
                    scenario=of_both,
                    asks=("loops",),
                    hints={"batch": "@ multiplies all matrices of a batch"},
                ),
            ),
        ),
    ),
    banned=("autograd", "linalg_multi_dot", "multi_dot", "chain_matmul"),
)
