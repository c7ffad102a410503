"""An observation to each column, and an assert for what is refused."""

import torch


def _columns(prior, likelihood):
    assert (prior >= 0).all() and 0.96 < prior.sum() < 1.04, f"not a prior: {prior}"
    return likelihood.reshape(-1, len(prior)).T


def posterior(prior, likelihood):
    joint = prior[:, None] * _columns(prior, likelihood)
    assert joint.any(0).all(), "zero evidence"
    return (joint / joint.sum(0)).T.reshape(likelihood.shape)


def total_probability(prior, likelihood):
    return torch.matmul(prior, _columns(prior, likelihood)).reshape(likelihood.shape[:-1])


def log_posterior(log_prior, log_likelihood):
    joint = log_prior[:, None] + _columns(log_prior.exp(), log_likelihood)
    assert joint.isfinite().any(0).all(), "zero evidence"
    return torch.log_softmax(joint, 0).T.reshape(log_likelihood.shape)
