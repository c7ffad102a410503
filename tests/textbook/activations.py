import torch

class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y * (1 - y)

class Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = (torch.exp(x) - torch.exp(-x)) / (torch.exp(x) + torch.exp(-x))
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * (1 - y**2)

class ReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x > 0)

class LeakyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, negative_slope):
        ctx.save_for_backward(x)
        ctx.s = negative_slope
        return torch.where(x > 0, x, negative_slope * x)
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return torch.where(x > 0, grad, ctx.s * grad), None

class ELU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(x)
        ctx.a = alpha
        return torch.where(x > 0, x, alpha * (torch.exp(x) - 1))
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return torch.where(x > 0, grad, grad * ctx.a * torch.exp(x)), None

def sigmoid(x): return Sigmoid.apply(x)
def tanh(x): return Tanh.apply(x)
def relu(x): return ReLU.apply(x)
def leaky_relu(x, negative_slope=0.01): return LeakyReLU.apply(x, negative_slope)
def elu(x, alpha=1.0): return ELU.apply(x, alpha)
