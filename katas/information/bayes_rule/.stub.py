"""Bayes' rule by hand. Statement: katas/information/bayes_rule/README.md."""

import torch
from torch import Tensor


def check_prior(prior: Tensor) -> None:
    """Raises: ValueError if an entry is negative, or the sum is not 1 up to rounding."""
    # TODO: then make it robust: refuse what is no distribution.
    raise NotImplementedError


def posterior(prior: Tensor, likelihood: Tensor) -> Tensor:
    """p(h_k | x) = p(h_k) p(x | h_k) / p(x)

    Args:
        prior: (K,) p(h_k), one for each hypothesis.
        likelihood: (..., K) p(x | h_k), a row for each observation x.
    Returns: (..., K), in the dtype of prior.
    Raises: ValueError if prior is no distribution, or p(x) is 0 for a row.
    Source: Bishop, Pattern Recognition and Machine Learning (2006), eq. 1.12.
    """
    # TODO: multiply prior and likelihood, and divide by their sum over the hypotheses.
    # TODO: then make it robust: check the prior; refuse rows whose evidence is 0.
    raise NotImplementedError


def total_probability(prior: Tensor, likelihood: Tensor) -> Tensor:
    """p(x) = Σ_k p(h_k) p(x | h_k), (...), also called the evidence; arguments and source as above, eq. 1.13.

    Raises: ValueError if prior is no distribution.
    """
    # TODO: multiply prior and likelihood, and sum over the hypotheses. Then check the prior.
    raise NotImplementedError


def log_posterior(log_prior: Tensor, log_likelihood: Tensor) -> Tensor:
    """log p(h_k | x), (..., K), from the logs of prior and likelihood, which are −∞ where these are 0.

    Raises: ValueError as posterior does.
    """
    # TODO: write the formula of posterior in logs: what becomes of its product, its sum and its quotient?
    raise NotImplementedError
