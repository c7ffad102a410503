"""A running sum and count, as for a data set that comes in batches; F.cross_entropy with the tokens on axis 1."""

import torch
import torch.nn.functional as F


class Meter:
    total, tokens = 0, 0

    def update(self, logits, target, ignore_index):
        losses = F.cross_entropy(logits.permute(0, 2, 1), target, ignore_index=ignore_index, reduction="none")
        self.total, self.tokens = self.total + losses.sum(), self.tokens + target.ne(ignore_index).sum()
        return self

    def compute(self):
        return torch.exp(self.total / self.tokens)


def perplexity(logits, target, ignore_index=-100):
    assert logits.dim() == 3 and tuple(target.shape) == tuple(logits.shape[:-1])
    assert (target.eq(ignore_index) | target.ge(0) & target.lt(logits.size(-1))).all(), "no such token"
    return Meter().update(logits, target, ignore_index).compute()
