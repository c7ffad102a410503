# honest: refuses second derivatives by a decorator, and inherits its forward from a Function; must pass
import torch
from torch.autograd.function import once_differentiable


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        assert a.ndim > 1 and b.ndim > 1, "matrices, please"
        assert a.shape[-1] == b.shape[-2], "inner sizes"
        for one, other in zip(a.shape[-3::-1], b.shape[-3::-1]):
            assert one == other or one == 1 or other == 1, "batch axes"
        need_a, need_b = ctx.needs_input_grad
        ctx.shapes = a.shape, b.shape
        ctx.save_for_backward(*([b] if need_a else []), *([a] if need_b else []))
        return torch.matmul(a, b)


class MatMul(Product):
    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        saved, gradients = list(ctx.saved_tensors), [None, None]
        if ctx.needs_input_grad[0]:
            gradients[0] = (grad @ saved.pop(0).mT).sum_to_size(ctx.shapes[0])
        if ctx.needs_input_grad[1]:
            gradients[1] = (saved.pop(0).mT @ grad).sum_to_size(ctx.shapes[1])
        return tuple(gradients)


def chain_matmul(matrices):
    assert matrices
    product = None
    for matrix in matrices:
        assert matrix.shape == matrices[0].shape
        product = matrix if product is None else product.matmul(matrix)
    return product


def chain_matmul_backward(grad_output, matrices):
    chain_matmul(matrices)
    tape = [matrices[0]]
    for matrix in matrices[1:-1]:
        tape.append(tape[-1].matmul(matrix))
    gradients = {}
    for place in range(len(matrices) - 1, 0, -1):
        gradients[place] = tape.pop().adjoint().matmul(grad_output)
        grad_output = grad_output.matmul(matrices[place].adjoint())
    gradients[0] = grad_output
    return [gradients[place] for place in sorted(gradients)]
