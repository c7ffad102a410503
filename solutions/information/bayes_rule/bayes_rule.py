"""Bayes' rule by hand. Statement: katas/information/bayes_rule/README.md."""

import torch
from torch import Tensor


def check_prior(prior: Tensor) -> None:
    """Raises: ValueError if an entry is negative, or the sum is not 1 up to rounding."""
    # --- solution
    # TODO: then make it robust: refuse what is no distribution.
    if (prior < 0).any():
        raise ValueError(f"prior should not be negative, got {prior.min():.3g}")
    if (prior.sum() - 1).abs() > 0.02:  # rounded to half precision it may be off by 0.01
        raise ValueError(f"prior should sum to 1, got {prior.sum():.3g}")
    # --- end


def posterior(prior: Tensor, likelihood: Tensor) -> Tensor:
    """p(h_k | x) = p(h_k) p(x | h_k) / p(x)

    Args:
        prior: (K,) p(h_k), one for each hypothesis.
        likelihood: (..., K) p(x | h_k), a row for each observation x.
    Returns: (..., K), in the dtype of prior.
    Raises: ValueError if prior is no distribution, or p(x) is 0 for a row.
    Source: Bishop, Pattern Recognition and Machine Learning (2006), eq. 1.12.
    """
    # --- solution
    # TODO: multiply prior and likelihood, and divide by their sum over the hypotheses.
    # TODO: then make it robust: check the prior; refuse rows whose evidence is 0.
    check_prior(prior)
    joint = prior * likelihood  # (..., K) p(h_k, x)
    evidence = joint.sum(-1, keepdim=True)  # (..., 1) p(x)
    if (evidence == 0).any():
        raise ValueError("p(x) should be above 0 in every row, got 0")
    return joint / evidence
    # --- end


def total_probability(prior: Tensor, likelihood: Tensor) -> Tensor:
    """p(x) = Σ_k p(h_k) p(x | h_k), (...), also called the evidence; arguments and source as above, eq. 1.13.

    Raises: ValueError if prior is no distribution.
    """
    # --- solution
    # TODO: multiply prior and likelihood, and sum over the hypotheses. Then check the prior.
    check_prior(prior)
    return (prior * likelihood).sum(-1)
    # --- end


def log_posterior(log_prior: Tensor, log_likelihood: Tensor) -> Tensor:
    """log p(h_k | x), (..., K), from the logs of prior and likelihood, which are −∞ where these are 0.

    Raises: ValueError as posterior does.
    """
    # --- solution
    # TODO: write the formula of posterior in logs: what becomes of its product, its sum and its quotient?
    check_prior(log_prior.exp())
    log_joint = log_prior + log_likelihood
    log_evidence = torch.logsumexp(log_joint, -1, keepdim=True)
    if (log_evidence == -torch.inf).any():
        raise ValueError("log p(x) should be above −∞ in every row, got −∞")
    return log_joint - log_evidence
    # --- end
