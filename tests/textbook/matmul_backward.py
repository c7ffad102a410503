import torch


def unbroadcast(grad, shape):
    while grad.dim() > len(shape):
        grad = grad.sum(dim=0)
    for i, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(dim=i, keepdim=True)
    return grad


class MatMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        grad_a = grad_output @ b.transpose(-2, -1)
        grad_b = a.transpose(-2, -1) @ grad_output
        return unbroadcast(grad_a, a.shape), unbroadcast(grad_b, b.shape)


def chain_matmul(matrices):
    result = matrices[0]
    for m in matrices[1:]:
        result = result @ m
    return result


def chain_matmul_backward(grad_output, matrices):
    n = len(matrices)
    eye = torch.eye(matrices[0].shape[-1], dtype=grad_output.dtype)
    prefix, suffix = [eye] * n, [eye] * n
    for i in range(1, n):
        prefix[i] = prefix[i - 1] @ matrices[i - 1]
    for i in range(n - 2, -1, -1):
        suffix[i] = matrices[i + 1] @ suffix[i + 1]
    return [prefix[i].transpose(-2, -1) @ grad_output @ suffix[i].transpose(-2, -1) for i in range(n)]
