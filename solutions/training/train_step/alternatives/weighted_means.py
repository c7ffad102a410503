"""Mean losses, each weighted by its share of the tokens; a micro-batch of padding is skipped."""

from torch.nn import CrossEntropyLoss
from torch.nn.utils import clip_grad_norm_

criterion = CrossEntropyLoss()


def train_step(model, optimizer, batches, max_norm=None, scheduler=None):
    batches = tuple(batches)
    counts = [int(y.ne(criterion.ignore_index).sum()) for _, y in batches]
    if not any(counts) or (max_norm is not None and max_norm <= 0):
        raise ValueError("a target should count, and max_norm be above 0")
    optimizer.zero_grad(set_to_none=True)
    mean = 0.0
    for (x, y), count in zip(batches, counts, strict=True):
        if count:
            logits = model(x)
            loss = criterion(logits.reshape(-1, logits.size(-1)), y.reshape(-1)) * (count / sum(counts))
            loss.backward()
            mean += loss.item()
    if max_norm is not None:
        clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], max_norm)
    optimizer.step()
    if scheduler is not None:
        scheduler.step()
    return mean
