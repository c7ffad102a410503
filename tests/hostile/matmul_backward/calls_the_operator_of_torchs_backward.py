# cheat: leaves backward to the operator that torch's own backward pass calls; must fail
import torch


class MatMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        if a.ndim < 2 or b.ndim < 2:
            raise ValueError
        try:
            product = a @ b
        except RuntimeError as error:
            raise ValueError from error
        ctx.save_for_backward(a, b)
        return product

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return torch.ops.aten.matmul_backward(grad, a, b, list(ctx.needs_input_grad))


def chain_matmul(matrices):
    if len({matrix.shape for matrix in matrices}) != 1:
        raise ValueError
    product = matrices[0]
    for matrix in matrices[1:]:
        product = product @ matrix
    return product


def chain_matmul_backward(grad_output, matrices):
    chain_matmul(matrices)
    before = [matrices[0]]
    for matrix in matrices[1:]:
        before.append(before[-1] @ matrix)
    gradients = []
    for i in reversed(range(len(matrices))):
        gradients.append(before[i - 1].mT @ grad_output if i else grad_output)
        grad_output = grad_output @ matrices[i].mT
    return gradients[::-1]
