"""Contractions in float64; a row without evidence is known by its NaN."""

import math

import torch


def _accepted(result, of):
    if result.isnan().any():
        raise ValueError("evidence should be positive")
    return result.to(of.dtype)


def posterior(prior, likelihood):
    evidence = total_probability(prior.double(), likelihood.double())
    return _accepted(torch.einsum("k,...k->...k", prior.double(), likelihood.double()) / evidence[..., None], prior)


def total_probability(prior, likelihood):
    if prior.min() < 0 or not math.isclose(prior.sum().item(), 1, abs_tol=0.02):
        raise ValueError("prior should be a distribution")
    return torch.einsum("k,...k->...", prior, likelihood)


def log_posterior(log_prior, log_likelihood):
    total_probability(log_prior.exp(), log_likelihood)  # refuses the prior
    return _accepted(torch.log_softmax(log_prior.double() + log_likelihood, -1), log_prior)
