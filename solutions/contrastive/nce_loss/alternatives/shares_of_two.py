"""A log-softmax over two weights, of the data and of the noise; the noise is detached."""

import torch


def posterior(scores, log_noise):
    return torch.stack([scores, log_noise.detach()], dim=-1).log_softmax(dim=-1)


def nce_loss(pos_scores, neg_scores, log_noise_pos, log_noise_neg):
    for name, given, wanted in (
        ("pos_scores", pos_scores, neg_scores.shape[:-1]),
        ("log_noise_pos", log_noise_pos, pos_scores.shape),
        ("log_noise_neg", log_noise_neg, neg_scores.shape),
    ):
        if given.shape != wanted or neg_scores.dim() != 2:
            raise ValueError(f"{name} should be {tuple(wanted)}, got {tuple(given.shape)}")
    log_k = torch.tensor(neg_scores.shape[1], dtype=neg_scores.dtype, device=neg_scores.device).log()
    is_data = posterior(pos_scores, log_noise_pos + log_k)[..., 0]
    is_noise = posterior(neg_scores, log_noise_neg + log_k)[..., 1]
    return -(is_data.sum() + is_noise.sum()) / pos_scores.numel()
