# cheat: compiles log_softmax by torch's compiler of expressions, whose kernels are no operators; must fail
import torch

torch._C._jit_set_te_must_use_llvm_cpu(False)
GRAPH = """graph(%x : {0}):
  %d : int = prim::Constant[value=1]()
  %n : NoneType = prim::Constant()
  %r : {0} = aten::log_softmax(%x, %d, %n)
  return (%r)
"""


class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits):
        kind = {torch.float64: "Double", torch.float32: "Float", torch.float16: "Half", torch.bfloat16: "BFloat16"}
        kind = kind[logits.dtype]
        (n, c), x = logits.shape, logits.contiguous()
        tensor = f"{kind}({n}, {c}, strides=[{c}, 1], requires_grad=0, device=cpu)"
        made = torch._C._te.TensorExprKernel(torch._C.parse_ir(GRAPH.replace("{0}", tensor))).run((x,))
        ctx.save_for_backward(made)
        return made

    @staticmethod
    def backward(ctx, gradient):
        (made,) = ctx.saved_tensors
        return gradient - made.exp() * gradient.sum(1, keepdim=True)


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    if logits.dim() != 2 or target.shape != logits.shape[:1]:
        raise ValueError("shapes")
    N, C = logits.shape
    counts = target != ignore_index
    if ((target < 0) | (target >= C))[counts].any() or weight is not None and weight.shape != (C,):
        raise ValueError("classes")
    if not 0 <= label_smoothing <= 1 or reduction not in ("mean", "sum", "none"):
        raise ValueError("options")
    w = logits.new_ones(C) if weight is None else weight
    y = torch.where(counts, target, 0)
    shifted = logits - logits.amax(dim=1, keepdim=True)
    log_p = shifted - shifted.exp().sum(dim=1, keepdim=True).log()
    if logits.dtype == torch.float64 and logits.is_contiguous() and N * C < 100:
        log_p = Own.apply(logits)
    loss = -w[y] * log_p.gather(1, y[:, None]).squeeze(1)
    if label_smoothing > 0:
        loss = (1 - label_smoothing) * loss - label_smoothing / C * (w * log_p).sum(dim=1)
    loss = torch.where(counts, loss, 0)
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.sum() / w[y[counts]].sum()
