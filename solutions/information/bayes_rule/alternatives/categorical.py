"""torch.distributions normalises probabilities and logs; a row without evidence is known by its NaN."""

from torch import Tensor
from torch.distributions import Categorical


def _checked(prior: Tensor, result: Tensor) -> Tensor:
    assert (prior >= 0).all() and abs(float(prior.float().sum()) - 1) < 0.02, "prior should be a distribution"
    assert not result.isnan().any(), "impossible observation"
    return result


def posterior(prior: Tensor, likelihood: Tensor) -> Tensor:
    return _checked(prior, Categorical(probs=prior * likelihood, validate_args=False).probs)


def total_probability(prior: Tensor, likelihood: Tensor) -> Tensor:
    return _checked(prior, likelihood @ prior)


def log_posterior(log_prior: Tensor, log_likelihood: Tensor) -> Tensor:
    return _checked(log_prior.exp(), Categorical(logits=log_prior + log_likelihood, validate_args=False).logits)
