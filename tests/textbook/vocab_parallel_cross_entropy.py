import torch


class VocabUtility:
    @staticmethod
    def range_of(vocab_size, rank, world):
        base, rest = divmod(vocab_size, world)
        start = rank * base + min(rank, rest)
        return start, start + base + (1 if rank < rest else 0)


class _VocabParallelCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, vocab_parallel_logits, target, comm, vocab_size):
        logits_max = torch.max(vocab_parallel_logits, dim=-1)[0]
        logits_max = comm.all_reduce(logits_max, op="max")
        vocab_parallel_logits = vocab_parallel_logits - logits_max.unsqueeze(dim=-1)
        start, end = VocabUtility.range_of(vocab_size, comm.rank, comm.world_size)
        target_mask = (target < start) | (target >= end)
        masked_target = target.clone() - start
        masked_target[target_mask] = 0
        logits_2d = vocab_parallel_logits.view(-1, end - start)
        arange_1d = torch.arange(start=0, end=logits_2d.size()[0], device=logits_2d.device)
        predicted_logits = logits_2d[arange_1d, masked_target.view(-1)].clone().contiguous().view_as(target)
        predicted_logits[target_mask] = 0.0
        predicted_logits = comm.all_reduce(predicted_logits)
        exp_logits = torch.exp(vocab_parallel_logits)
        sum_exp_logits = comm.all_reduce(exp_logits.sum(dim=-1))
        loss = torch.log(sum_exp_logits) - predicted_logits
        exp_logits.div_(sum_exp_logits.unsqueeze(dim=-1))
        ctx.save_for_backward(exp_logits, target_mask, masked_target.view(-1))
        return loss

    @staticmethod
    def backward(ctx, grad_output):
        softmax, target_mask, masked_target_1d = ctx.saved_tensors
        grad_input = softmax
        grad_2d = grad_input.view(-1, softmax.size()[-1])
        arange_1d = torch.arange(start=0, end=grad_2d.size()[0], device=grad_2d.device)
        grad_2d[arange_1d, masked_target_1d] -= 1.0 - target_mask.view(-1).to(softmax.dtype)
        grad_input.mul_(grad_output.unsqueeze(dim=-1))
        return grad_input, None, None, None


def vocab_parallel_cross_entropy(comm, logits, labels, vocab_size):
    if labels.numel() and (labels.min() < 0 or labels.max() >= vocab_size):
        raise ValueError("label out of range")
    return _VocabParallelCrossEntropy.apply(logits, labels, comm, vocab_size)
