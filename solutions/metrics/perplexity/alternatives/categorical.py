"""A distribution for each token that counts; torch's own check of its values raises ValueError."""

from torch.distributions import Categorical


def perplexity(logits, target, ignore_index=-100):
    if logits.ndim != 3 or target.ndim != 2 or target.size() != logits.size()[:-1]:
        raise ValueError("logits should be (B, S, V), and target (B, S)")
    tokens = target.ne(ignore_index)
    surprise = -Categorical(logits=logits[tokens], validate_args=True).log_prob(target[tokens])
    return surprise.mean().exp()
