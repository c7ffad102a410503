"""Normalised by a custom autograd function: the gradient is (g − ⟨g, p⟩) / p(x)."""

import torch


class Normalised(torch.autograd.Function):
    @staticmethod
    def forward(ctx, joint):
        ctx.evidence = joint.sum(-1, keepdim=True)
        if not ctx.evidence.all():
            raise ValueError("an observation is impossible")
        ctx.result = joint / ctx.evidence
        return ctx.result.clone()

    @staticmethod
    def backward(ctx, grad):
        return (grad - (grad * ctx.result).sum(-1, keepdim=True)) / ctx.evidence


def total_probability(prior, likelihood):
    if (prior < 0).any() or not 0.97 < prior.double().sum() < 1.03:
        raise ValueError("the prior is no distribution")
    return torch.inner(likelihood, prior)


def posterior(prior, likelihood):
    total_probability(prior, likelihood)
    return Normalised.apply(prior * likelihood)


def log_posterior(log_prior, log_likelihood):
    total_probability(log_prior.exp(), log_likelihood)  # refuses the prior
    joint = log_prior + log_likelihood
    evidence = torch.logsumexp(joint, -1, keepdim=True)
    if evidence.isinf().any():
        raise ValueError("an observation is impossible")
    return joint - evidence
