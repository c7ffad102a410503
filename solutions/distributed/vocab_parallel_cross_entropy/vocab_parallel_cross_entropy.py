"""Cross-entropy of sharded logits. Statement: katas/distributed/vocab_parallel_cross_entropy/README.md."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


class ParallelCrossEntropy(torch.autograd.Function):
    """The loss of each row forward; backward, softmax − one-hot in this rank's columns."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, columns: Tensor, labels: Tensor, comm: Any) -> Tensor:
        """(N, V_r) logits, the (V_r,) ids of their columns and (N,) labels give (N,) losses."""
        # --- solution
        # TODO: each row's largest logit on any rank; a rank without columns has −∞.
        # TODO: the sum of the exponentials over all ranks.
        # TODO: the label's logit, which one rank has; what do the others add?
        # TODO: keep in ctx what backward needs.
        hit = labels[:, None] == columns  # (N, V_r)
        largest = comm.all_reduce(F.pad(logits, (0, 1), value=-torch.inf).amax(1), op="max")
        shifted = logits - largest[:, None]
        exps = shifted.exp()
        sums = torch.stack([exps.sum(1), torch.where(hit, shifted, 0).sum(1)])
        total, target = comm.all_reduce(sums)
        ctx.save_for_backward(exps / total[:, None], hit)
        loss: Tensor = total.log() - target
        return loss
        # --- end

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        """A gradient for each argument of forward; `grad` is (N,), the same on all ranks."""
        # --- solution
        # TODO: softmax − one-hot, times the gradient of the row. Is anything lacking that another rank has?
        softmax, hit = ctx.saved_tensors
        return (softmax - hit.to(softmax.dtype)) * grad[:, None], None, None, None
        # --- end


def vocab_parallel_cross_entropy(comm: Any, logits: Tensor, labels: Tensor, vocab_size: int) -> Tensor:
    """loss_n = log Σ_v exp z_nv − z_n,label(n), where v runs over the columns of all ranks

    Args:
        comm: has rank, world_size, all_reduce(tensor, op="sum" or "max").
        logits: (N, V_r), columns arange(V).tensor_split(W)[r] of z; V_r may be 0.
        labels: (N,) int64, the same on all ranks.
        vocab_size: V.
    Returns: (N,), on every rank.
    Raises: ValueError if a label is outside [0, V), on every rank.
    Source: Megatron-LM (arXiv:1909.08053), section 3: the parallel cross-entropy.
    """
    # --- solution
    # TODO: refuse labels outside [0, V) before anything is sent.
    # TODO: which columns does this rank have?
    outside = (labels < 0) | (labels >= vocab_size)
    if outside.any():
        raise ValueError(f"labels should be from 0 to {vocab_size - 1}, got {labels[outside].tolist()}")
    columns = torch.arange(vocab_size, device=logits.device).tensor_split(comm.world_size)[comm.rank]
    loss: Tensor = ParallelCrossEntropy.apply(logits, columns, labels, comm)
    return loss
    # --- end
