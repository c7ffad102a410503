import torch

def posterior(prior, likelihood):
    joint = prior * likelihood
    return joint / joint.sum(-1, keepdim=True)
def total_probability(prior, likelihood):
    return (prior * likelihood).sum(-1)
def log_posterior(log_prior, log_likelihood):
    joint = log_prior + log_likelihood
    return joint - torch.logsumexp(joint, -1, keepdim=True)
